"""A key, a sealed package, and copies of it to spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from trace_prov.cli import main
from trace_prov.seal.keys import load_secret, load_signer, new_key
from trace_prov.seal.sealing import seal_package

from ..export.material import EXAMPLES, runs_of

LOG = EXAMPLES / "bill-payment.json"


def package(folder: Path, condition: str = "R11", *options: str, log: Path = LOG) -> Path:
    arguments = ["package", str(log), "--condition", condition, "--out", str(folder), *options]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return folder / log.stem


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "key"
    new_key(path)
    return path


@pytest.fixture(scope="session")
def sealed(tmp_path_factory: pytest.TempPathFactory, key: Path) -> Path:
    """A package with one result hidden, sealed with its log at hand."""
    folder = package(tmp_path_factory.mktemp("sealed"), "R11", "--redact", "act-01.result")
    run = runs_of(LOG)[0]
    seal_package(folder, load_signer(key), load_secret(key.with_name("key.salts")), log=run)
    return folder


@pytest.fixture
def copy(sealed: Path, tmp_path: Path) -> Path:
    target = tmp_path / "package"
    shutil.copytree(sealed, target)
    return target
