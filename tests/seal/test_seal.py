"""Sealed packages: every change is found and named, withheld records stay provable, other tools accept them."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from trace_prov.cli import main
from trace_prov.seal import standalone
from trace_prov.seal.checking import check_sealed
from trace_prov.seal.errors import SealError, SigningKeyError
from trace_prov.seal.keys import load_public_file, load_secret, load_signer, new_key
from trace_prov.seal.proof import check_proof, proof_bytes, prove
from trace_prov.seal.sealing import seal_package
from trace_prov.seal.standalone import leaf_hash, root_from_path, tree_root
from trace_prov.seal.tree import inclusion_path

from ..export.material import EXAMPLES, runs_of
from .conftest import LOG, package

BIN = Path(sys.executable).parent


def test_intact_package_is_found_intact(sealed: Path, key: Path) -> None:
    report = check_sealed(sealed, load_public_file(key.with_name("key.pub")))
    assert report.problems == []
    assert report.predicate["records"]["withheld"] == 2
    assert report.predicate["records"]["withheldAndCommitted"] == 2
    problems, remarks = standalone.verify(sealed, key.with_name("key.pub"), None)
    assert problems == []
    assert not any("not identified" in remark for remark in remarks)


def test_same_package_same_seal(sealed: Path, tmp_path: Path, key: Path) -> None:
    again = package(tmp_path / "again", "R11", "--redact", "act-01.result")
    run = runs_of(LOG)[0]
    seal_package(again, load_signer(key), load_secret(key.with_name("key.salts")), log=run)
    names = standalone.files_below(sealed)
    assert names == standalone.files_below(again)
    assert all((sealed / name).read_bytes() == (again / name).read_bytes() for name in names)


def _positions(size: int, generator: random.Random) -> list[int]:
    """The first and last bytes and a sample between."""
    return sorted({0, 1, size // 2, size - 1, *(generator.randrange(size) for _ in range(8))})


def test_every_single_byte_change_is_found(copy: Path, sealed: Path) -> None:
    """Over a sample of positions in every file, by the script's own checks; the file is named."""
    generator = random.Random(42)
    names = standalone.files_below(copy)
    assert len(names) >= 11
    statement, _, _ = standalone.read_statement(sealed)
    for name in names:
        data = (copy / name).read_bytes()
        for position in _positions(len(data), generator):
            for change in (1, 0x20):
                changed = bytearray(data)
                changed[position] ^= change
                (copy / name).write_bytes(changed)
                problems = standalone.check_bag(copy)
                assert any(problem.startswith(f"{name}:") for problem in problems) or name.startswith("tagmanifest"), (
                    name
                )
                assert problems, (name, position)
                if name not in standalone.UNSIGNED:
                    assert f"{name}: changed since it was sealed" in standalone.check_subjects(copy, statement)
        (copy / name).write_bytes(data)
    assert check_sealed(copy).intact


@pytest.mark.parametrize("name", ["data/evidence.json", "data/graph.trig", "data/graph.jsonld", "seal/records.json"])
def test_changed_record_is_named(name: str, copy: Path, key: Path) -> None:
    path = copy / name
    data = path.read_bytes()
    assert b"Please" in data or b"please pay" in data
    path.write_bytes(data.replace(b"please pay", b"please PAY"))
    report = check_sealed(copy, load_public_file(key.with_name("key.pub")))
    assert any(problem.startswith("request.user:") for problem in report.problems), report.problems


def test_change_with_all_hashes_made_new_is_found_by_the_signature(copy: Path, key: Path) -> None:
    """Whoever can write files can make manifests new, but not the statement."""
    path = copy / "data" / "evidence.json"
    path.write_bytes(path.read_bytes().replace(b"please pay", b"please PAY"))
    for manifest, is_payload in ((standalone.MANIFEST, True), (standalone.TAG_MANIFEST, False)):
        names = [
            n
            for n in standalone.files_below(copy)
            if n.startswith("data/") == is_payload and n != standalone.TAG_MANIFEST
        ]
        text = standalone.manifest_text({name: standalone.digest_of(copy / name) for name in names})
        (copy / manifest).write_text(text)
    assert standalone.check_bag(copy) == []
    problems = check_sealed(copy, load_public_file(key.with_name("key.pub"))).problems
    assert "data/evidence.json: changed since it was sealed" in problems


@pytest.mark.parametrize("what", ["extra", "missing", "renamed", "link"])
def test_files_that_come_and_go_are_found(what: str, copy: Path) -> None:
    note = copy / "data" / "README.txt"
    if what == "extra":
        (copy / "data" / "more.txt").write_text("more")
    elif what == "missing":
        note.unlink()
    elif what == "renamed":
        note.rename(copy / "data" / "readme.txt")
    else:
        moved = copy.parent / "elsewhere.txt"
        note.rename(moved)
        note.symlink_to(moved)
    assert not check_sealed(copy).intact
    assert standalone.check_bag(copy)


def test_another_key_is_not_the_signer(sealed: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "other")
    report = check_sealed(sealed, load_public_file(tmp_path / "other.pub"))
    assert report.problems == ["seal/statement.dsse.json: no valid signature by this key"]


def test_withheld_record_keeps_its_leaf_and_tells_nothing(sealed: Path) -> None:
    records = json.loads((sealed / "seal/records.json").read_bytes())["leaves"]
    run = runs_of(LOG)[0]
    text = run.actions[0].records[0].text
    assert text is not None
    hidden = [leaf for leaf in records if leaf.get("withheld")]
    assert hidden
    assert all("salt" not in leaf and "content" not in leaf for leaf in hidden)
    everything = b"".join((sealed / name).read_bytes() for name in standalone.files_below(sealed))
    assert text.encode() not in everything
    # Without the salt even the right guess cannot be confirmed.
    guess = {"unit": "act-01.result", "state": "present", "after_step": 1, "text": text}
    assert leaf_hash(b"", guess).hex() not in {leaf["leaf"] for leaf in records}
    assert hashlib.sha256(text.encode()).hexdigest().encode() not in everything


def test_withheld_record_can_be_proven_later(sealed: Path, key: Path) -> None:
    run, secret = runs_of(LOG)[0], load_secret(key.with_name("key.salts"))
    public = load_public_file(key.with_name("key.pub"))
    with pytest.raises(SealError, match="--log and --salt-secret"):
        prove(sealed, "act-01.result")
    proof = proof_bytes(prove(sealed, "act-01.result", log=run, secret=secret))
    assert check_proof(proof, "proof", public)["text"] == run.actions[0].records[0].text
    with pytest.raises(SealError, match="the leaf of this record"):
        prove(sealed, "act-01.result", log=run, secret=b"x" * 32)


def test_proof_of_one_record_shows_no_other_and_cannot_be_changed(sealed: Path, key: Path) -> None:
    public = load_public_file(key.with_name("key.pub"))
    proof: dict[str, Any] = prove(sealed, "request.user")
    data = proof_bytes(proof)
    assert b"bill-december-2023.txt" in data
    assert b"act-02" not in data.replace(proof["envelope"]["payload"].encode(), b"")
    assert check_proof(data, "proof", public)["unit"] == "request.user"
    changes: tuple[dict[str, Any], ...] = (
        {"index": proof["index"] + 1},
        {"salt": "00" * 32},
        {"path": proof["path"][:-1]},
        {"content": {}},
    )
    for change in changes:
        with pytest.raises(SealError):
            check_proof(proof_bytes(proof | change), "proof", public)


@given(st.integers(1, 40), st.data())
@settings(max_examples=60, deadline=None)
def test_inclusion_proofs_lead_to_the_root_and_only_for_their_leaf(size: int, data: st.DataObject) -> None:
    leaves = [hashlib.sha256(bytes([number])).digest() for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(leaves, index)
    assert root_from_path(index, size, leaves[index], path) == tree_root(leaves)
    for other in {data.draw(st.integers(0, size - 1)), size - 1} - {index}:
        assert root_from_path(other, size, leaves[index], path) != tree_root(leaves)


def test_tree_has_the_root_of_the_known_vectors() -> None:
    """The reference vectors of Certificate Transparency (RFC 6962, whose tree RFC 9162 keeps)."""
    inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    leaves = [hashlib.sha256(b"\x00" + bytes.fromhex(text)).digest() for text in inputs]
    roots = {
        1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    assert {size: tree_root(leaves[:size]).hex() for size in roots} == roots


def test_script_inside_works_with_the_standard_library_alone(sealed: Path, copy: Path) -> None:
    """-I -S: no site packages, nothing of ours on the path."""
    script = ["-I", "-S", str(sealed / "seal/verify.py")]
    done = subprocess.run([sys.executable, *script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing was changed" in done.stdout
    assert "signature checked by OpenSSL" in done.stdout
    (copy / "data" / "evidence.json").write_bytes(b"{}")
    again = subprocess.run(
        [sys.executable, "-I", "-S", str(copy / "seal/verify.py")], capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "data/evidence.json" in again.stdout


def test_bagit_accepts_a_sealedpackage(sealed: Path) -> None:
    done = subprocess.run(
        [str(BIN / "bagit.py"), "--validate", str(sealed)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_in_toto_verifies_the_envelope_and_reads_the_statement(sealed: Path, key: Path) -> None:
    """in-toto's own envelope verification, and the attestation framework's own validation of the statement."""
    import base64

    from google.protobuf.json_format import ParseDict
    from in_toto.exceptions import SignatureVerificationError
    from in_toto.models.metadata import Envelope
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement

    body = json.loads((sealed / standalone.STATEMENT).read_bytes())
    public = load_public_file(key.with_name("key.pub"))
    verification_key = {**public.to_dict(), "keyid": public.keyid}  # the form in which in-toto takes a key
    Envelope.from_dict(json.loads(json.dumps(body))).verify_signature(verification_key)
    payload = json.loads(base64.b64decode(body["payload"]))
    statement = Statement.copy_from_pb(ParseDict(payload, statement_pb2.Statement()))
    statement.validate()
    body["payload"] = base64.b64encode(json.dumps(payload | {"predicate": {}}).encode()).decode()
    with pytest.raises(SignatureVerificationError):
        Envelope.from_dict(body).verify_signature(verification_key)


@pytest.mark.parametrize("condition", ["R00", "C00", "C01", "C11", "R11"])
def test_every_condition_can_be_sealed_with_and_without_its_log(condition: str, tmp_path: Path, key: Path) -> None:
    signer, secret = load_signer(key), load_secret(key.with_name("key.salts"))
    public = load_public_file(key.with_name("key.pub"))
    folder = package(tmp_path / condition, condition)
    alone = seal_package(folder, signer, secret)
    assert check_sealed(folder, public).problems == []
    assert alone.committed == 0
    with_log = seal_package(folder, signer, secret, log=runs_of(LOG)[0], replace=True)
    assert check_sealed(folder, public).problems == []
    assert with_log.withheld == with_log.committed
    assert (with_log.withheld > 0) == (condition != "R11")


def test_wrong_log_and_second_seal_are_refused_and_nothing_changes(copy: Path, key: Path) -> None:
    signer, secret = load_signer(key), load_secret(key.with_name("key.salts"))
    before = {name: (copy / name).read_bytes() for name in standalone.files_below(copy)}
    with pytest.raises(SealError, match="--replace"):
        seal_package(copy, signer, secret)
    with pytest.raises(SealError, match="--log"):
        seal_package(copy, signer, secret, log=runs_of(EXAMPLES / "injected-transfer.json")[0], replace=True)
    with pytest.raises(SealError, match="a time stamp"):
        seal_package(copy, signer, secret, timestamp_url="http://127.0.0.1:9/none", replace=True)
    assert {name: (copy / name).read_bytes() for name in standalone.files_below(copy)} == before


def test_key_files_are_checked(tmp_path: Path, key: Path) -> None:
    with pytest.raises(SigningKeyError, match="left as it is"):
        new_key(key)
    bad = tmp_path / "bad"
    bad.write_text("nothing")
    for read in (load_signer, load_public_file, load_secret):
        with pytest.raises(SigningKeyError, match="expected"):
            read(bad)
    assert key.stat().st_mode & 0o077 == 0
    assert key.with_name("key.salts").stat().st_mode & 0o077 == 0


def test_openssl_made_keys_are_taken(tmp_path: Path) -> None:
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(tmp_path / "k")], check=True, capture_output=True
    )
    assert load_signer(tmp_path / "k").public_key.keytype == "ed25519"


def test_commands_seal_verify_and_prove(tmp_path: Path) -> None:
    runner = CliRunner()
    folder, made = package(tmp_path / "p", "C00"), tmp_path / "key"
    keys = runner.invoke(main, ["seal-key", str(made)])
    assert keys.exit_code == 0
    unsealed = runner.invoke(main, ["verify", str(folder)])
    assert unsealed.exit_code == 2
    done = runner.invoke(main, ["seal", str(folder), "--key", str(made), "--log", str(LOG)])
    assert done.exit_code == 0, done.output
    checked = runner.invoke(main, ["verify", str(folder), "--key", f"{made}.pub", "--format", "jsonl"])
    assert checked.exit_code == 0, checked.output
    assert json.loads(checked.output)["statement"]["records"]["withheld"] > 0
    out = tmp_path / "proof.json"
    options = ["--log", str(LOG), "--salt-secret", f"{made}.salts", "--out", str(out)]
    assert runner.invoke(main, ["prove", str(folder), "request.user", *options]).exit_code == 0
    proven = runner.invoke(main, ["verify", str(out), "--key", f"{made}.pub"])
    assert proven.exit_code == 0
    assert "bill-december-2023.txt" in proven.output
    number = proven.output.rpartition("signed by the key ")[2].strip()
    assert f"{made}.pub: public key {number}\n" in keys.output
    (folder / "data" / "README.txt").write_text("changed")
    assert runner.invoke(main, ["verify", str(folder), "--key", f"{made}.pub"]).exit_code == 1
