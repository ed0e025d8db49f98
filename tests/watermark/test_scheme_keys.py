"""Scheme digest, key derivation, rotation, commit and reveal."""

from __future__ import annotations

import dataclasses
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from trace_prov.watermark.errors import KeyFileError, SchemeError
from trace_prov.watermark.keys import (
    check_commitment,
    commit,
    derive,
    new_ring,
    read_keys,
    read_ring,
    reveal,
    verify,
    write_ring,
)
from trace_prov.watermark.scheme import Scheme, scheme_from_json

CHANGED: dict[str, Any] = {
    "version": "x/2",
    "window": 2,
    "context_fields": ("task",),
    "mask_repeats": False,
    "q": 0.4,
    "tally": "index",
    "tally_salted": False,
    "natural_rule": "parity",
    "natural_counts": (("ls", 2),),
    "score": "llr",
    "dedupe": "pair",
    "joint_rule": "fisher",
    "alpha": 0.01,
    "null_keys": 999,
}


def test_every_field_moves_the_digest() -> None:
    assert set(CHANGED) == {field.name for field in dataclasses.fields(Scheme)}
    digests = {Scheme().digest} | {
        dataclasses.replace(Scheme(), **{name: value}).digest for name, value in CHANGED.items()
    }
    assert len(digests) == len(CHANGED) + 1


def test_scheme_survives_json() -> None:
    scheme = Scheme(natural_rule="declared", natural_counts=(("ls", 2),), q=0.3)
    assert scheme_from_json(json.loads(json.dumps(scheme.to_json()))) == scheme


@pytest.mark.parametrize(
    ("field", "value"),
    [("q", 0.0), ("alpha", 1.0), ("tally", "other"), ("context_fields", ("nonce",)), ("window", 0), ("null_keys", 3)],
)
def test_a_scheme_that_cannot_be_read_is_refused(field: str, value: Any) -> None:
    with pytest.raises(SchemeError) as caught:
        dataclasses.replace(Scheme(), **{field: value})
    assert caught.value.place == field


def test_unknown_scheme_field_is_named() -> None:
    with pytest.raises(SchemeError, match="windw"):
        scheme_from_json({"windw": 1})


def test_channels_owners_versions_and_epochs_have_their_own_keys() -> None:
    master = b"s" * 32
    variants = [
        derive(master, "a", "v1"),
        derive(master, "b", "v1"),
        derive(master, "a", "v2"),
        derive(master, "a", "v1", 2),
    ]
    secrets = {keys.k1 for keys in variants} | {keys.k2 for keys in variants}
    assert len(secrets) == 8
    assert len({keys.key_id for keys in variants}) == 4
    assert derive(master, "a", "v1") == variants[0]


def test_printing_keys_shows_no_secret() -> None:
    keys = derive(b"s" * 32, "a", "v1")
    assert keys.k1.hex() not in repr(keys)
    assert str(keys.k1) not in repr(keys)
    ring = new_ring("a")
    assert str(ring.master) not in repr(ring)


def test_key_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    ring = new_ring("a", "2026-01-01T00:00:00Z")
    write_ring(ring, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_ring(path) == ring
    with pytest.raises(KeyFileError, match="existing"):
        write_ring(ring, path)


def test_rotation_keeps_old_keys_for_detection(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    ring = new_ring("a", "2026-01-01T00:00:00Z")
    rotated = ring.rotated("2026-02-01T00:00:00Z")
    write_ring(rotated, path)
    assert [epoch.retired for epoch in rotated.epochs] == ["2026-02-01T00:00:00Z", None]
    assert [keys.epoch for keys in read_keys(path, Scheme())] == [2, 1]
    assert rotated.keys(Scheme(), 1) == ring.keys(Scheme())


def _files(tmp_path: Path, scheme: Scheme) -> tuple[Path, Path]:
    ring = new_ring("a")
    (tmp_path / "commit.json").write_text(json.dumps(commit(ring, scheme, "2026-01-01T00:00:00Z")))
    (tmp_path / "reveal.json").write_text(json.dumps(reveal(ring, scheme)))
    write_ring(ring, tmp_path / "keys.json")
    return tmp_path / "commit.json", tmp_path / "reveal.json"


def test_reveal_opens_its_commitment_and_holds_no_master_secret(tmp_path: Path) -> None:
    scheme = Scheme()
    committed, revealed = _files(tmp_path, scheme)
    ring = read_ring(tmp_path / "keys.json")
    assert verify(committed, revealed) == ring.keys(scheme)
    assert check_commitment(committed, tmp_path / "keys.json", scheme) == "2026-01-01T00:00:00Z"
    assert check_commitment(committed, revealed, scheme) == "2026-01-01T00:00:00Z"
    assert ring.master.hex() not in revealed.read_text()
    public = committed.read_text()
    assert ring.keys(scheme).k1.hex() not in public
    assert ring.keys(scheme).k2.hex() not in public


@pytest.mark.parametrize("field", ["k1", "k2", "nonce", "owner", "epoch"])
def test_a_changed_reveal_does_not_open(tmp_path: Path, field: str) -> None:
    committed, revealed = _files(tmp_path, Scheme())
    document = json.loads(revealed.read_text())
    value = document[field]
    document[field] = value + 1 if isinstance(value, int) else value[:-1] + ("0" if value[-1] != "0" else "1")
    revealed.write_text(json.dumps(document))
    with pytest.raises(KeyFileError, match="commitment"):
        verify(committed, revealed)


def test_another_scheme_than_committed_is_refused(tmp_path: Path) -> None:
    committed, _ = _files(tmp_path, Scheme())
    with pytest.raises(KeyFileError) as caught:
        check_commitment(committed, tmp_path / "keys.json", Scheme(alpha=0.05))
    assert caught.value.place == "scheme_digest"


def test_another_key_than_committed_is_refused(tmp_path: Path) -> None:
    committed, _ = _files(tmp_path, Scheme())
    write_ring(new_ring("a"), tmp_path / "other.json")
    with pytest.raises(KeyFileError) as caught:
        check_commitment(committed, tmp_path / "other.json", Scheme())
    assert caught.value.place == "commitment"


@pytest.mark.parametrize("text", ["", "[]", '{"format": "x"}', '{"format": "trace-prov-watermark-keys/1"}'])
def test_bad_key_files_have_clear_errors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(KeyFileError, match="expected"):
        read_ring(path)
