"""Where an export goes: whole or not at all, and over no evidence."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trace_prov.cli import main

from .material import EXAMPLES

NAMES = ("bill-payment.json", "bill-payment.native.json")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in NAMES:
        shutil.copy(EXAMPLES / name, folder / name)
    return folder


def _export(*arguments: str | Path, form: str = "case") -> Result:
    return CliRunner().invoke(main, ["export", *map(str, arguments), "--to", form])


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_a_log_and_its_sidecar_are_never_written_over(name: str, logs: Path) -> None:
    before = _files(logs)
    link = logs.parent / "link.json"
    os.link(logs / name, link)
    for out in (logs / name, logs / ".." / "logs" / name, link):
        done = _export(logs / "bill-payment.json", "--out", out)
        assert done.exit_code == 2
        assert "what is exported" in done.output
    assert _files(logs) == before


@pytest.mark.parametrize("kind", ["package", "store"])
def test_nothing_is_written_into_a_package_or_a_store(kind: str, logs: Path, tmp_path: Path) -> None:
    runner, folder = CliRunner(), tmp_path / kind
    if kind == "package":
        assert runner.invoke(main, ["package", str(logs), "--condition", "R11", "--out", str(folder)]).exit_code == 0
        folder = folder / "bill-payment"
        done = _export(folder, "--out", folder / "data" / "bundle.jsonld")
    else:
        assert runner.invoke(main, ["load", str(logs), "--store", str(folder)]).exit_code == 0
        done = _export("--store", folder, "--out", folder / "bundle.jsonld")
    assert done.exit_code == 2
    assert "name another place" in done.output
    assert not list(folder.rglob("bundle.jsonld"))


def test_a_file_that_is_there_is_replaced_whole(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "bundle.jsonld"
    out.write_text("before")
    assert _export(logs, "--out", out).exit_code == 0
    after = out.read_bytes()
    assert after.startswith(b"{")

    def full(part: Path, data: bytes) -> int:
        with part.open("wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    done = _export(logs, "--out", out, form="nquads")
    assert done.exit_code == 2
    assert "No space left on device" in done.output
    assert out.read_bytes() == after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle.jsonld", "logs"]


def test_a_link_is_followed_and_stays_one(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert _export(logs, "--out", tmp_path / "link").exit_code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes().startswith(b"{")


@pytest.mark.parametrize("out", ["no/such/folder/file", "logs"])
def test_a_place_that_cannot_be_written_is_told(out: str, logs: Path, tmp_path: Path) -> None:
    done = _export(logs, "--out", tmp_path / out)
    assert done.exit_code == 2
    assert "expected a place to write" in done.output or "name another place" in done.output
    assert isinstance(done.exception, SystemExit)


def test_a_crate_goes_into_a_new_or_empty_folder_whole(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (logs, "--time", "2026-03-03T08:00:00Z", "--out")
    full = tmp_path / "full"
    full.mkdir()
    (full / "note").write_text("mine")
    assert "new or empty folder" in _export(*arguments, full, form="ro-crate").output
    assert [path.name for path in full.iterdir()] == ["note"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert _export(*arguments, empty, form="ro-crate").exit_code == 0
    assert (empty / "ro-crate-metadata.json").is_file()
    write = Path.write_bytes

    def sometimes(part: Path, data: bytes) -> int:
        if part.name == "case.jsonld":
            raise OSError(28, "No space left on device")
        return write(part, data)

    monkeypatch.setattr(Path, "write_bytes", sometimes)
    done = _export(*arguments, tmp_path / "third", form="ro-crate")
    assert done.exit_code == 2
    assert not (tmp_path / "third").exists()
    assert not list(tmp_path.glob(".*"))


def test_logs_of_one_name_from_two_folders_are_both_in_the_crate(logs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(EXAMPLES / "injected-transfer.json", other / "bill-payment.json")
    shutil.copy(EXAMPLES / "injected-transfer.native.json", other / "bill-payment.native.json")
    out = tmp_path / "crate"
    done = _export(logs, other, "--time", "2026-03-03T08:00:00Z", "--out", out, form="ro-crate")
    assert done.exit_code == 0, done.output
    found = {path.read_bytes() for path in (out / "logs").rglob("*.json")}
    assert found == {path.read_bytes() for folder in (logs, other) for path in folder.iterdir()}
