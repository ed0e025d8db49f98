"""Time stamps of a real authority, asked for as RFC 3161 has it, and what an authority can do wrong."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from trace_prov.cli import main
from trace_prov.seal import standalone
from trace_prov.seal.der import with_sorted_certificates
from trace_prov.seal.sealing import write_tag_manifest

from .authority import Authority, new_authority, serving
from .conftest import LOG


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return new_authority(tmp_path_factory.mktemp("authority") / "tsa")


def _seal(folder: Path, key: Path, url: str) -> Result:
    options = ["--key", str(key), "--log", str(LOG), "--replace", "--timestamp-url", url]
    return CliRunner().invoke(main, ["seal", str(folder), *options])


def _verify(folder: Path, key: Path, *roots: Path) -> Result:
    options = [item for path in roots for item in ("--tsa-certificate", str(path))]
    return CliRunner().invoke(main, ["verify", str(folder), "--key", f"{key}.pub", *options])


def _script(folder: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", folder / "seal/verify.py", *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


@pytest.fixture
def stamped(copy: Path, key: Path, authority: Authority) -> Path:
    with serving(authority) as url:
        done = _seal(copy, key, url)
    assert done.exit_code == 0, done.output
    return copy


def test_stamp_is_checked_by_command_script_and_openssl(stamped: Path, key: Path, authority: Authority) -> None:
    done = _verify(stamped, key, authority.roots)
    assert done.exit_code == 0, done.output
    assert f"sealed not later than {datetime.now(UTC):%Y-%m-%dT}" in done.output
    told = _script(stamped, "--key", f"{key}.pub", "--tsa-certificate", authority.roots)
    assert told.returncode == 0, told.stdout
    assert "time stamp checked by OpenSSL" in told.stdout
    command = ["openssl", "ts", "-verify", "-in", stamped / standalone.TIME_STAMP, "-CAfile", authority.roots]
    plain = subprocess.run(
        [*map(str, command), "-data", str(stamped / standalone.STATEMENT)], capture_output=True, check=False
    )
    assert plain.returncode == 0, plain.stderr


def test_without_the_roots_the_time_is_told_and_not_believed(stamped: Path, key: Path) -> None:
    done = _verify(stamped, key)
    assert done.exit_code == 0
    assert "not checked, as no authority's certificate was given" in done.output
    assert "time stamp not checked" in _script(stamped).stdout


def test_stamp_of_another_authority_is_refused(stamped: Path, key: Path, tmp_path: Path) -> None:
    other = new_authority(tmp_path / "other")
    done = _verify(stamped, key, other.roots)
    assert done.exit_code == 1
    assert "seal/timestamp.tsr" in done.output
    assert _script(stamped, "--tsa-certificate", other.roots).returncode == 1


def test_stamp_of_another_statement_is_refused(stamped: Path, key: Path, authority: Authority) -> None:
    """A stamp that is older than the seal, put beside it with the manifest made new."""
    old = (stamped / standalone.TIME_STAMP).read_bytes()
    with serving(authority) as url:
        evidence = stamped / "seal" / "records.json"
        assert evidence.is_file()
        options = ["--key", str(key), "--replace", "--timestamp-url", url]
        assert CliRunner().invoke(main, ["seal", str(stamped), *options]).exit_code == 0
    (stamped / standalone.TIME_STAMP).write_bytes(old)
    write_tag_manifest(stamped)
    done = _verify(stamped, key, authority.roots)
    assert done.exit_code == 1
    assert "seal/timestamp.tsr" in done.output
    assert _script(stamped, "--tsa-certificate", authority.roots).returncode == 1


def test_every_byte_of_a_stamp_counts(stamped: Path, key: Path, authority: Authority) -> None:
    """With the manifest made new, so that only the stamp itself can tell."""
    path = stamped / standalone.TIME_STAMP
    data = path.read_bytes()
    undetected = []
    for position in range(0, len(data), max(1, len(data) // 60)):
        changed = bytearray(data)
        changed[position] ^= 1
        path.write_bytes(changed)
        write_tag_manifest(stamped)
        done = _verify(stamped, key, authority.roots)
        assert isinstance(done.exception, SystemExit | None), done.exception
        if done.exit_code == 0:
            undetected.append(position)
    # The root goes along in the token, and nobody looks at it there: the receiver has it from elsewhere.
    root = ssl.PEM_cert_to_DER_cert(authority.roots.read_text())
    start = data.index(root)
    others = [position for position in undetected if not start <= position < start + len(root)]
    # The name of the signature's algorithm is outside of what is signed, and the library takes it from the key.
    assert len(others) <= 1, others
    path.write_bytes(data)
    write_tag_manifest(stamped)
    assert _verify(stamped, key, authority.roots).exit_code == 0


def _replayed(authority: Authority) -> Callable[[bytes], bytes]:
    """An answer to an earlier question, nonce and all."""
    first: list[bytes] = []

    def answer(query: bytes) -> bytes:
        first.append(authority.answer(query))
        return first[0]

    return answer


@pytest.mark.parametrize("answer", [b"", b"no stamp", b"\x30\x03\x02\x01\x02", b"\x30" * 3_000_000])
def test_answers_that_are_no_stamps_are_refused_and_the_seal_stays(
    answer: bytes, copy: Path, key: Path, authority: Authority
) -> None:
    before = {name: (copy / name).read_bytes() for name in standalone.files_below(copy)}
    with serving(authority, lambda query: answer) as url:
        done = _seal(copy, key, url)
    assert done.exit_code == 2, done.output
    assert "127.0.0.1" in done.output
    assert isinstance(done.exception, SystemExit)
    assert {name: (copy / name).read_bytes() for name in standalone.files_below(copy)} == before


def test_an_answer_to_another_question_is_refused(copy: Path, key: Path, authority: Authority) -> None:
    with serving(authority, _replayed(authority)) as url:
        assert _seal(copy, key, url).exit_code == 0
        done = _seal(copy, key, url)
    assert done.exit_code == 2
    assert "something else" in done.output


def test_a_refusal_of_the_authority_is_told(copy: Path, key: Path, tmp_path: Path) -> None:
    """It takes no SHA-512, so OpenSSL answers with a rejection."""
    strict = new_authority(tmp_path / "strict", digests="sha256")
    with serving(strict) as url:
        done = _seal(copy, key, url)
    assert done.exit_code == 2
    assert "expected a time stamp" in done.output


def test_errors_of_the_line_are_told(copy: Path, key: Path, authority: Authority) -> None:
    with serving(authority, status=500) as url:
        assert "500" in _seal(copy, key, url).output
    for url in ("http://127.0.0.1:9/tsr", "http://[::1", "http://a b/", "ftp://127.0.0.1/", "file:///etc/passwd"):
        done = _seal(copy, key, url)
        assert done.exit_code == 2, url
        assert isinstance(done.exception, SystemExit), done.exception
    assert CliRunner().invoke(main, ["verify", str(copy), "--key", f"{key}.pub"]).exit_code == 0


@given(data=st.binary(max_size=60) | st.binary(max_size=20).map(lambda tail: b"\x30\x12\x30\x00\x30\x0e" + tail))
def test_sorting_the_certificates_of_anything_changes_no_length(data: bytes) -> None:
    try:
        found = with_sorted_certificates(data)
    except ValueError:
        return
    assert sorted(found) == sorted(data)
    assert with_sorted_certificates(found) == found


@pytest.mark.parametrize("roots", ["missing", "text", "binary"])
def test_roots_that_are_none_are_told(roots: str, stamped: Path, key: Path, tmp_path: Path) -> None:
    path = tmp_path / "roots.pem"
    if roots != "missing":
        path.write_bytes(b"nothing" if roots == "text" else bytes(range(256)))
    done = _verify(stamped, key, path)
    assert done.exit_code in (1, 2)
    assert "roots.pem" in done.output
    assert isinstance(done.exception, SystemExit)
