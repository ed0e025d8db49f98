"""What is hidden is nowhere in a package, in no encoding, and no hash of it that a guess could be tried on.

A log in which every text has a mark of its own is packaged under every condition and redaction; then every byte of
every file of the package is searched for the marks of what must not be there.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from trace_prov.load import load_paths
from trace_prov.model import Run, TableState
from trace_prov.package.bag import files_in, write_package
from trace_prov.package.build import Built, build
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.redact import parse_rule
from trace_prov.package.validate import validate_package

#: The mark of each text; whole texts that are short, so that a hash of one could be guessed.
REQUEST, RESULT, FIRST, SECOND, ANSWER = "Zinnober 7301", "7302-Qg", "Vettel\u00ed 7303", 'it\'s "7304"', "7305.25"
ARGUMENT, OTHER, ACTION, NOTE, MALFORMED = "Kolibri 7306", "7307", "Ochsenblut 7308", "Karmesin 7309", "7310 none"
LOG, SUITE, USER_TASK, PIPELINE, ATTACK, CALL, UTILITY = (
    "case-7311", "suite_7312", "user_task_7313", "pipeline 7314", "attack_7315", "call_7316", "payload 7317",
)  # fmt: skip
TARGET = "AT7318"
NEVER = (LOG, SUITE, USER_TASK, PIPELINE, ATTACK, CALL, UTILITY)


def log_files(folder: Path) -> Path:
    calls = [
        {"function": "read", "args": {"body": ARGUMENT}, "id": CALL},
        {"function": "list", "args": {"n": OTHER}, "id": f"{CALL}-b"},
    ]
    pay = {"function": "pay", "args": {"recipient": TARGET}, "id": f"{CALL}-c"}
    listed = f"- to: {FIRST}\n- {json.dumps(SECOND)}\n"
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "x"},
        {"role": "user", "content": REQUEST},
        {"role": "assistant", "content": f"Action: {ACTION}\nNote: {NOTE}\nBasis: [in-1]", "tool_calls": calls},
        {"role": "tool", "content": RESULT, "tool_call_id": CALL, "tool_call": calls[0], "error": None},
        {"role": "tool", "content": listed, "tool_call_id": f"{CALL}-b", "tool_call": calls[1], "error": None},
        {"role": "assistant", "content": f"Basis: [in-2, {MALFORMED}", "tool_calls": [pay]},
        {"role": "tool", "content": ANSWER, "tool_call_id": f"{CALL}-c", "tool_call": pay, "error": None},
        {"role": "assistant", "content": "done", "tool_calls": None},
    ]
    body = {
        "suite_name": SUITE, "pipeline_name": PIPELINE, "user_task_id": USER_TASK, "injection_task_id": ATTACK,
        "attack_type": ATTACK, "injections": {"v": UTILITY}, "messages": messages, "error": None, "utility": True,
        "security": True, "duration": 1.0,
    }  # fmt: skip
    inputs = [
        {"id": f"in-{n}", "channel": channel, "locator": locator, "text": text}
        for n, (channel, locator, text) in enumerate(
            (
                ("user", "request.user", REQUEST),
                ("tool", "act-01.result", RESULT),
                ("tool", "act-02.result[1]", f"- to: {FIRST}\n"),
                ("tool", "act-02.result[2]", f"- {json.dumps(SECOND)}\n"),
                ("tool", "act-03.result", ANSWER),
            ),
            start=1,
        )
    ]
    (folder / f"{LOG}.json").write_text(json.dumps(body))
    (folder / f"{LOG}.native.json").write_text(json.dumps({"request": REQUEST, "inputs": inputs}))
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    (run,) = load_paths([log_files(tmp_path_factory.mktemp("log"))])
    assert isinstance(run, Run)
    assert len(run.inputs) == 5
    return run


def encodings(text: str) -> Iterator[bytes]:
    """A text as it may stand in a file: escaped, encoded, or as a digest."""
    raw = text.encode()
    yield raw
    yield text.encode("utf-16-le")
    yield text[::-1].encode()
    yield json.dumps(text)[1:-1].encode()
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode()
    yield text.replace("'", "''").encode()
    yield quote(text).encode()
    yield raw.hex().encode()
    for start in range(3):
        # Base64 of a text inside another one, whatever stands before it.
        inner = base64.b64encode(b"\0" * start + raw).rstrip(b"=")
        yield inner[4 if start else 0 : -1]
    # Of a whole text, plain or as the log and the graph have it.
    for whole in (text, json.dumps(text), f'"{text}"', f"{text}\n", f"- {text}\n", f"- to: {text}\n", f"{{{text}}}"):
        for kind in ("sha256", "sha1", "md5", "sha512", "blake2b"):
            digest = hashlib.new(kind, whole.encode())
            for shown in (digest.hexdigest()[:24], base64.b64encode(digest.digest()).decode()[:20]):
                yield shown.encode()


def found_in(folder: Path, marks: tuple[str, ...]) -> list[tuple[str, str]]:
    """(mark, file) of every mark that is somewhere in the package, its file names included."""
    names = sorted(files_in(folder))
    contents = {name: (folder / name).read_bytes() for name in names} | {"names": " ".join(names).encode()}
    return [
        (mark, name)
        for mark in marks
        for name, data in contents.items()
        if any(form in data or form.upper() in data for form in encodings(mark))
    ]


#: condition -> what it hides; every condition hides what is never shown.
HIDES = {
    "R00": (REQUEST, ACTION, NOTE, MALFORMED),
    "R10": (REQUEST,),
    "R01": (ACTION, NOTE, MALFORMED),
    "R11": (),
    "C00": (REQUEST,),
    "C10": (REQUEST,),
    "C01": (REQUEST, "in-1", "in-2", "in-5"),
    "C11": (REQUEST, "in-1", "in-2", "in-5"),
}
#: rule -> what it hides
RULES = {
    "act-01.result": (RESULT,),
    "act-02.result": (FIRST, SECOND),
    "act-02.result[1]": (FIRST,),
    "act-02.result[2]": (SECOND,),
    "act-03.result": (ANSWER,),
    "tool:list.result": (FIRST, SECOND),
    "*.argument.body": (ARGUMENT,),
    "act-02.arguments": (OTHER,),
    "act-01.account": (ACTION, NOTE),
    "act-03.account": (MALFORMED,),
    "request.user": (REQUEST,),
}


def packaged(run: Run, condition: Condition, folder: Path, *rules: str) -> Path:
    built = build(run, condition, None, [parse_rule(rule) for rule in rules])
    assert isinstance(built, Built)
    write_package(built.package, folder)
    report = validate_package(folder)
    assert report.conforms, report.violations
    return folder


@pytest.mark.parametrize("condition", BUILT_IN)
def test_a_condition_hides_what_it_withholds(condition: str, run: Run, tmp_path: Path) -> None:
    folder = packaged(run, BUILT_IN[condition], tmp_path / "p")
    assert found_in(folder, HIDES[condition] + NEVER) == []
    # The search finds what is there, so that finding nothing means something.
    shown = {REQUEST, RESULT, FIRST, SECOND, ANSWER, ARGUMENT, OTHER, ACTION, NOTE, MALFORMED} - set(HIDES[condition])
    assert {mark for mark, _ in found_in(folder, tuple(shown))} == shown


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("condition", ["R11", "C11"])
def test_a_redaction_hides_what_it_names(rule: str, condition: str, run: Run, tmp_path: Path) -> None:
    folder = packaged(run, BUILT_IN[condition], tmp_path / "p", rule)
    assert found_in(folder, RULES[rule] + HIDES[condition] + NEVER) == []


def test_nothing_is_left_where_all_is_hidden(run: Run, tmp_path: Path) -> None:
    everything = Condition("all", table=TableState.COMPLETE, labels=Labels.OPAQUE, declare_elements=True)
    rules = ("*.result", "*.argument.body", "*.argument.n")
    folder = packaged(run, everything, tmp_path / "p", *rules)
    marks = (REQUEST, RESULT, FIRST, SECOND, ANSWER, ARGUMENT, OTHER, ACTION, NOTE, MALFORMED, "in-1", *NEVER)
    assert found_in(folder, marks) == []


@pytest.mark.parametrize("rule", sorted(RULES))
def test_packages_of_logs_that_differ_in_what_is_hidden_are_the_same_bytes(rule: str, run: Run, tmp_path: Path) -> None:
    """The strongest form: nothing in a package depends on a text that it hides."""
    other = tmp_path / "log"
    other.mkdir()
    log_files(other)
    for name in (f"{LOG}.json", f"{LOG}.native.json"):
        text = (other / name).read_text()
        for mark in RULES[rule]:
            changed = "".join(str((int(c) + 3) % 10) if c.isdigit() else c for c in mark) + " and more"
            for form in (json.dumps(json.dumps(mark)[1:-1])[1:-1], json.dumps(mark)[1:-1]):
                new = json.dumps(json.dumps(changed)[1:-1])[1:-1] if "\\\\" in form else json.dumps(changed)[1:-1]
                text = text.replace(form, new)
        (other / name).write_text(text)
    (changed_run,) = load_paths([other])
    assert isinstance(changed_run, Run)
    assert changed_run.source.sha256 != run.source.sha256
    for condition in ("R11", "C11"):
        one = packaged(run, BUILT_IN[condition], tmp_path / f"{condition}-1", rule)
        two = packaged(changed_run, BUILT_IN[condition], tmp_path / f"{condition}-2", rule)
        names = sorted(files_in(one))
        assert names == sorted(files_in(two))
        assert [name for name in names if (one / name).read_bytes() != (two / name).read_bytes()] == []
