"""A seal signed by whoever has a key holds what `seal` writes and no word more: `validate` names anything else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.package.cases import package_of, small_run
from trace_prov.cli.package_validate import _seal_check
from trace_prov.errors import PackageError
from trace_prov.package.bag import read_package, write_package
from trace_prov.package.validate import validate_package
from trace_prov.seal.form import form_problems
from trace_prov.seal.keys import load_signer, new_key
from trace_prov.seal.sealing import seal_package, write_tag_manifest
from trace_prov.seal.standalone import PUBLIC_KEY, RECORDS, STATEMENT, UNSIGNED
from trace_prov.seal.statement import signed, statement
from trace_prov.seal.tree import Leaf

Body = dict[str, Any]
TEXT = "Pay the rent"
SECRET = b"x" * 32


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A sealed package of which two records are withheld and committed to, and its signer."""
    folder = tmp_path_factory.mktemp("seal")
    new_key(folder / "key")
    signer = load_signer(folder / "key")
    write_package(package_of(small_run(), "C10", "act-02.result"), folder / "p")
    seal_package(folder / "p", signer, SECRET, log=small_run())
    return folder / "p", signer


def signed_anew(folder: Path, signer: Any, change: Callable[[Body], object] = lambda body: None) -> None:
    """The statement on what the files are now, as the owner of the key would make it."""
    entries = json.loads((folder / RECORDS).read_bytes())["leaves"]
    leaves = [
        Leaf(bytes.fromhex(entry["leaf"]), entry.get("unit"), None, entry.get("content"), "withheld" in entry)
        for entry in entries
    ]
    body = statement(folder, leaves, read_package(folder).run.id, "C10", UNSIGNED)
    change(body)
    (folder / STATEMENT).write_bytes(signed(body, signer))
    write_tag_manifest(folder)


def in_records(change: Callable[[Body], object]) -> Callable[[Path, Any], None]:
    def forge(folder: Path, signer: Any) -> None:
        records = json.loads((folder / RECORDS).read_bytes())
        change(records)
        (folder / RECORDS).write_bytes(json.dumps(records, indent=1, sort_keys=True).encode() + b"\n")
        signed_anew(folder, signer)

    return forge


def in_file(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path, Any], None]:
    def forge(folder: Path, signer: Any) -> None:
        (folder / name).write_bytes(change((folder / name).read_bytes()))
        signed_anew(folder, signer)

    return forge


def in_statement(change: Callable[[Body], object]) -> Callable[[Path, Any], None]:
    return lambda folder, signer: signed_anew(folder, signer, change)


def in_envelope(folder: Path, signer: Any) -> None:
    envelope = json.loads((folder / STATEMENT).read_bytes())
    (folder / STATEMENT).write_text(json.dumps({**envelope, "comment": TEXT}))
    write_tag_manifest(folder)


def committed(records: Body) -> Body:
    """A leaf that commits to a record without showing it."""
    return next(leaf for leaf in records["leaves"] if "content" not in leaf)


FORGED: dict[str, Callable[[Path, Any], None]] = {
    "a member of the records": in_records(lambda r: r.update(comment=TEXT)),
    "a member of a leaf": in_records(lambda r: r["leaves"][0].update(comment=TEXT)),
    "a name of a withheld leaf": in_records(lambda r: committed(r).update(unit=TEXT)),
    "a salt of a withheld leaf": in_records(lambda r: committed(r).update(salt=TEXT.encode().hex())),
    "a text for true": in_records(lambda r: committed(r).update(withheld=TEXT)),
    "a leaf that is too long": in_records(lambda r: r["leaves"].append({"leaf": "ab" * 99, "withheld": True})),
    "blanks after the records": in_file(RECORDS, lambda data: data + b"  \n"),
    "a text before the key": in_file(PUBLIC_KEY, lambda data: TEXT.encode() + b"\n" + data),
    "another script": in_file("seal/verify.py", lambda data: data + b"# Pay the rent\n"),
    "a member of the statement": in_statement(lambda body: body.update(comment=TEXT)),
    "a member of the predicate": in_statement(lambda body: body["predicate"].update(comment=TEXT)),
    "another tool": in_statement(lambda body: body["predicate"].update(tool=TEXT)),
    "a note on a file": in_statement(lambda body: body["subject"][0].update(annotations={"x": TEXT})),
    "a member of the envelope": in_envelope,
}


@pytest.mark.parametrize("name", FORGED)
def test_what_a_seal_does_not_say_is_named(name: str, sealed: tuple[Path, Any], tmp_path: Path) -> None:
    source, signer = sealed
    folder = tmp_path / "p"
    shutil.copytree(source, folder)
    FORGED[name](folder, signer)
    report = validate_package(folder, seal=_seal_check())
    assert {item.rule for item in report.violations if item.grade == "required"} == {"seal"}, report.violations


def test_a_seal_conforms_also_when_it_is_signed_anew(sealed: tuple[Path, Any], tmp_path: Path) -> None:
    source, signer = sealed
    folder = tmp_path / "p"
    shutil.copytree(source, folder)
    for _ in range(2):
        assert validate_package(folder, seal=_seal_check()).violations == []
        assert list(form_problems(folder, read_package(folder))) == []
        signed_anew(folder, signer)
    (folder / RECORDS).unlink()
    assert not validate_package(folder, seal=_seal_check()).conforms


def test_a_sealed_package_is_held_against_its_log_by_making_it_again(sealed: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "p"
    shutil.copytree(sealed[0], folder)
    assert not write_package(package_of(small_run(), "C10", "act-02.result"), folder)
    assert validate_package(folder, seal=_seal_check()).violations == []
    with pytest.raises(PackageError, match="another package"):
        write_package(package_of(small_run(), "C10"), folder)


def test_a_seal_that_was_not_checked_is_told(sealed: tuple[Path, Any]) -> None:
    (told,) = validate_package(sealed[0]).violations
    assert (told.grade, told.rule) == ("recommended", "seal")
