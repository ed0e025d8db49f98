"""Packages, seals, proofs and keys that somebody has spoilt: named, refused, never an exception and never a wait."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trace_prov.cli import main
from trace_prov.errors import InputError
from trace_prov.seal import standalone
from trace_prov.seal.errors import SealError, SigningKeyError
from trace_prov.seal.keys import load_public_file, load_secret, load_signer, new_key
from trace_prov.seal.proof import check_proof, proof_bytes, prove
from trace_prov.seal.sealing import seal_package

from ..export.material import EXAMPLES
from .conftest import LOG, package

#: What stands where something else belongs.
WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "", "zz", "é\x1b[31m", [], [[]], {}, {"a": 1}, 2**70)


def _spoilt(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The places in a JSON value, the first few of each list."""
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _spoilt(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value[:2]):
            yield from _spoilt(item, (*path, position))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(copy[path[0]], path[1:], new)
    return copy


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _without(copy[path[0]], path[1:])
    return copy


def _changes(value: Any) -> Iterator[Any]:
    for path, old in _spoilt(value):
        yield from (_with(value, path, new) for new in WRONG if new != old)
        if path:
            yield _without(value, path)


def _checked(folder: Path) -> list[str]:
    """What the script's own checks say, the signature left out: OpenSSL would be asked thousands of times."""
    try:
        statement, _, _ = standalone.read_statement(folder)
    except ValueError as error:
        return [str(error)]
    return [*standalone.check_subjects(folder, statement), *standalone.check_records(folder, statement)]


def test_any_damage_to_the_statement_is_told(copy: Path, sealed: Path) -> None:
    statement, _, _ = standalone.read_statement(sealed)
    envelope = json.loads((sealed / standalone.STATEMENT).read_bytes())
    for changed in _changes(statement):
        payload = base64.b64encode(json.dumps(changed).encode()).decode()
        (copy / standalone.STATEMENT).write_text(json.dumps({**envelope, "payload": payload}))
        _checked(copy)
    for changed in _changes(envelope):
        (copy / standalone.STATEMENT).write_text(json.dumps(changed))
        _checked(copy)


def test_any_damage_to_the_records_is_told(copy: Path) -> None:
    records = json.loads((copy / standalone.RECORDS).read_bytes())
    for changed in _changes(records):
        (copy / standalone.RECORDS).write_text(json.dumps(changed))
        assert _checked(copy)


def test_any_damage_to_a_proof_is_refused(sealed: Path, key: Path) -> None:
    """But for what a proof does not rest on: hints and names of its own."""
    public = load_public_file(key.with_name("key.pub"))
    proof = prove(sealed, "request.user")
    content = proof["content"]
    for changed in _changes(proof):
        try:
            found = check_proof(proof_bytes(changed), "proof", public)
        except SealError:
            continue
        assert found == content


def _verify(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["verify", str(folder), *options])


def _script(folder: Path, original: Path) -> subprocess.CompletedProcess[str]:
    """The receiver's own copy of the script on a folder, with nothing but the standard library."""
    command = [sys.executable, "-I", "-S", str(original / "seal/verify.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    moved = path.parent.parent.parent / "elsewhere"
    path.rename(moved)
    path.symlink_to(moved)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere/at/all")


def _deep(path: Path) -> None:
    path.write_bytes(b"[" * 200_000)


def _bytes(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 4)


SPOILERS: tuple[Callable[[Path], None], ...] = (_pipe, _link, _folder, _dangling, _deep, _bytes, Path.unlink)
NAMES = (
    *("data/evidence.json", "data/graph.trig", "data/graph.jsonld", "manifest-sha256.txt", "tagmanifest-sha256.txt"),
    *("seal/records.json", "seal/public-key.pem", "seal/statement.dsse.json", "bagit.txt"),
)


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__.strip("_"))
@pytest.mark.parametrize("name", NAMES)
def test_spoilt_file_is_named_by_command_and_script(
    name: str, spoil: Callable[[Path], None], copy: Path, sealed: Path, key: Path
) -> None:
    spoil(copy / name)
    done = _verify(copy, "--key", f"{key}.pub")
    assert done.exit_code in (1, 2), done.output
    assert isinstance(done.exception, SystemExit), done.exception
    assert name in done.output
    told = _script(copy, sealed)
    assert told.returncode in (1, 2)
    assert "Traceback" not in told.stderr
    assert name in told.stdout + told.stderr


@pytest.mark.parametrize("name", ["a\nb.txt", "red\x1b[31m.txt", "\u202etxt.exe", b"\xff\xfe.txt", "..hidden", " lead"])
def test_files_with_odd_names_are_found_and_shown_safely(name: str | bytes, copy: Path, sealed: Path) -> None:
    path = copy / "data" / os.fsdecode(name)
    path.write_text("more")
    done = _verify(copy)
    assert done.exit_code == 1
    told = _script(copy, sealed)
    assert told.returncode == 1
    for output in (done.output, told.stdout):
        assert "not listed" in output
        assert "\x1b" not in output
        assert "\u202e" not in output


def test_manifest_that_leads_out_of_the_package_opens_nothing(copy: Path, sealed: Path) -> None:
    manifest = copy / "manifest-sha256.txt"
    outside = copy.parent / "outside.txt"
    outside.write_text("secret")
    digest = standalone.digest_of(outside)
    lines = "".join(f"{digest}  {name}\n" for name in ("data/../../outside.txt", "../outside.txt", str(outside)))
    manifest.write_text(manifest.read_text() + lines)
    done = _verify(copy)
    assert done.exit_code == 1
    assert "data/../../outside.txt: listed in manifest-sha256.txt and missing" in done.output
    assert _script(copy, sealed).returncode == 1


def test_seal_of_another_package_is_none_of_this_one(copy: Path, tmp_path: Path, key: Path) -> None:
    """The other's signature is good, so everything else has to tell."""
    other = package(tmp_path / "other", "R11", log=EXAMPLES / "injected-transfer.json")
    seal_package(other, load_signer(key), load_secret(key.with_name("key.salts")))
    shutil.rmtree(copy / "seal")
    shutil.copytree(other / "seal", copy / "seal")
    from trace_prov.seal.sealing import write_tag_manifest

    write_tag_manifest(copy)
    done = _verify(copy, "--key", f"{key}.pub")
    assert done.exit_code == 1
    assert "data/evidence.json: changed since it was sealed" in done.output
    assert "request.user:" in done.output


def test_seal_follows_no_link_out_of_the_package(copy: Path, tmp_path: Path, key: Path) -> None:
    signer, secret = load_signer(key), load_secret(key.with_name("key.salts"))
    outside = tmp_path / "outside"
    shutil.move(copy / "seal", outside)
    (copy / "seal").symlink_to(outside)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    with pytest.raises(SealError, match="a link"):
        seal_package(copy, signer, secret, replace=True)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    (copy / "seal").unlink()
    victim = tmp_path / "victim"
    (copy / "tagmanifest-sha256.txt").rename(victim)
    (copy / "tagmanifest-sha256.txt").symlink_to(victim)
    text = victim.read_bytes()
    with pytest.raises(InputError, match="link"):
        seal_package(copy, signer, secret)
    assert victim.read_bytes() == text


def test_folder_that_cannot_be_written_is_told_and_left(copy: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal of the system is played."""
    before = {name: (copy / name).read_bytes() for name in standalone.files_below(copy)}
    write = Path.write_bytes

    def refuse(path: Path, data: bytes) -> int:
        if path.name == "statement.dsse.json" and data != before["seal/statement.dsse.json"]:
            raise PermissionError(13, "Permission denied")
        return write(path, data)

    other = copy.parent / "other"
    new_key(other)
    monkeypatch.setattr(Path, "write_bytes", refuse)
    options = ["--salt-secret", f"{key}.salts", "--replace"]
    done = CliRunner().invoke(main, ["seal", str(copy), "--key", str(other), *options])
    assert done.exit_code == 2
    assert "Permission denied" in done.output
    assert {name: (copy / name).read_bytes() for name in standalone.files_below(copy)} == before


def _rsa(path: Path) -> None:
    subprocess.run(["openssl", "genrsa", "-out", str(path), "2048"], check=True, capture_output=True)


def _encrypted(path: Path) -> None:
    command = ["openssl", "genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:x", "-out", str(path)]
    subprocess.run(command, check=True, capture_output=True)


def _x448(path: Path) -> None:
    subprocess.run(["openssl", "genpkey", "-algorithm", "x448", "-out", str(path)], check=True, capture_output=True)


def _half(path: Path) -> None:
    new_key(path.with_name("whole"))
    path.write_bytes(path.with_name("whole").read_bytes()[:70])


@pytest.mark.parametrize("make", [_rsa, _encrypted, _x448, _half, _bytes, _folder])
def test_damaged_and_other_keys_are_refused(make: Callable[[Path], None], tmp_path: Path, sealed: Path) -> None:
    path = tmp_path / "key"
    path.write_text("")
    make(path)
    with pytest.raises(SigningKeyError, match="seal-key"):
        load_signer(path)
    done = CliRunner().invoke(main, ["verify", str(sealed), "--key", str(path)])
    assert done.exit_code == 2
    assert str(path) in done.output


def test_public_keys_of_another_kind_sign_nothing_here(tmp_path: Path, sealed: Path) -> None:
    for algorithm in (["rsa"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], ["ed448"]):
        private, public = tmp_path / "private", tmp_path / "public"
        command = ["openssl", "genpkey", "-algorithm", *algorithm, "-out", str(private)]
        subprocess.run(command, check=True, capture_output=True)
        command = ["openssl", "pkey", "-in", str(private), "-pubout", "-out", str(public)]
        subprocess.run(command, check=True, capture_output=True)
        done = CliRunner().invoke(main, ["verify", str(sealed), "--key", str(public)])
        assert done.exit_code in (1, 2), done.output
        assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("where", ["log", "package", "folder"])
def test_proof_is_written_over_no_evidence(where: str, copy: Path, key: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    shutil.copy(LOG, log)
    shutil.copy(LOG.with_suffix(".native.json"), tmp_path / "log.native.json")
    out = {"log": log, "package": copy / "proof.json", "folder": tmp_path}[where]
    options = ["--log", str(log), "--salt-secret", f"{key}.salts", "--out", str(out)]
    done = CliRunner().invoke(main, ["prove", str(copy), "act-01.result", *options])
    assert done.exit_code == 2, done.output
    assert log.read_bytes() == LOG.read_bytes()
    assert not (copy / "proof.json").exists()


def test_proof_of_a_large_record_is_read_as_one(tmp_path: Path, key: Path) -> None:
    """A record of more than a mebibyte pushes everything else to the end of the file."""
    log = tmp_path / "large.json"
    body = json.loads(LOG.read_bytes())
    body["messages"][1]["content"][0]["content"] = "pay " + "x" * (2 * 2**20)
    log.write_text(json.dumps(body))
    folder = package(tmp_path / "out", "R11", log=log)
    seal_package(folder, load_signer(key), load_secret(key.with_name("key.salts")))
    proof = tmp_path / "proof.json"
    proof.write_bytes(proof_bytes(prove(folder, "request.user")))
    done = CliRunner().invoke(main, ["verify", str(proof), "--key", f"{key}.pub"])
    assert done.exit_code == 0, done.output[:300]


def test_proof_from_a_changed_package_is_refused(copy: Path) -> None:
    path = copy / standalone.RECORDS
    records = json.loads(path.read_bytes())
    for leaf in records["leaves"]:
        if leaf.get("unit") == "request.user":
            leaf["content"]["text"] = "another"
            leaf["leaf"] = standalone.leaf_hash(bytes.fromhex(leaf["salt"]), leaf["content"]).hex()
    path.write_text(json.dumps(records))
    with pytest.raises(SealError, match="it was changed"):
        prove(copy, "request.user")


def test_record_that_was_not_committed_to_is_not_proven(tmp_path: Path, key: Path) -> None:
    folder = package(tmp_path / "p", "C10")
    secret = load_secret(key.with_name("key.salts"))
    seal_package(folder, load_signer(key), secret)
    from ..export.material import runs_of

    with pytest.raises(SealError, match="sealing with --log"):
        prove(folder, "request.user", log=runs_of(LOG)[0], secret=secret)
