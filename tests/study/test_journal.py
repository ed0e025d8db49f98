"""Journals: nothing is lost but the response under way, nothing is asked again by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trace_prov.errors import FormatError, UsageError
from trace_prov.study.journal import Entry, Event, Journal, journal_path, read_journal, reader_of


def entry(number: int, event: Event = Event.RESPONSE, response: str | None = "{}") -> Entry:
    return Entry(event, f"case {number}", "C00", "0" * 64, response=response if event is Event.RESPONSE else None)


def test_what_is_added_is_read(tmp_path: Path) -> None:
    path = tmp_path / "responses" / "reader.jsonl"
    entries = [entry(1, Event.ASKED), entry(1, response="\ud800 ünï\u2028\n"), entry(2, Event.FAILED)]
    journal = Journal(path)
    for item in entries:
        journal.add(item)
    journal.close()
    assert list(read_journal(path)) == entries
    assert list(read_journal(tmp_path / "none.jsonl")) == []


@settings(deadline=None)
@given(cut=st.integers(0, 400))
def test_a_crash_at_any_byte_loses_at_most_the_last_line(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("journal") / "reader.jsonl"
    journal = Journal(path)
    for number in range(3):
        journal.add(entry(number))
    journal.close()
    data = path.read_bytes()[:cut]
    path.write_bytes(data)
    whole = data.count(b"\n")
    assert len(list(read_journal(path))) in (whole, whole + 1)
    journal = Journal(path)
    journal.add(entry(9))
    journal.close()
    assert list(read_journal(path)) == [*(entry(number) for number in range(whole)), entry(9)]


def test_a_line_broken_otherwise_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "reader.jsonl"
    path.write_text(
        '{"event": "response"}\n{"event": "asked", "case": "a", "condition": "C00", "package_sha256": "0"}\n'
    )
    with pytest.raises(FormatError, match="line 1"):
        list(read_journal(path))


def test_two_runs_never_write_one_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "reader.jsonl")
    with pytest.raises(UsageError, match="another run"):
        Journal(tmp_path / "reader.jsonl")
    journal.close()
    Journal(tmp_path / "reader.jsonl").close()


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_a_reader_has_one_file_inside_the_folder(name: str) -> None:
    path = journal_path(Path("responses"), name)
    assert path.parent == Path("responses")
    assert reader_of(path) == name
