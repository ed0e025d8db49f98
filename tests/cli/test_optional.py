"""A plain install has no optional packages: help lists every command, and calling one says what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BLOCK = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {blocked!r}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)
sys.meta_path.insert(0, Refuse())
from trace_prov.cli import main
main({arguments!r}, prog_name='trace-prov')
"""
OPTIONAL = (
    "agentdojo",
    "bagit",
    "case_utils",
    "cryptography",
    "inspect_ai",
    "in_toto_attestation",
    "ladybug",
    "lxml",
    "matplotlib",
    "neo4j",
    "networkx",
    "numpy",
    "prov",
    "pylode",
    "rfc3161_client",
    "rocrate",
    "scipy",
    "securesystemslib",
    "textworld",
)


def plain(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = BLOCK.format(blocked=set(OPTIONAL), arguments=list(arguments))
    root = Path(__file__).parents[2]
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root)


def test_help_works_without_any_optional_package() -> None:
    done = plain("--help")
    assert done.returncode == 0, done.stderr
    assert "watermark" in done.stdout
    assert "derive" in done.stdout


def test_the_main_job_needs_no_optional_package() -> None:
    done = plain("derive", "examples", "--engine", "sparql")
    assert done.returncode == 0, done.stderr
    assert "act-01.result[5]" in done.stdout


def test_a_command_without_its_package_says_what_to_install() -> None:
    done = plain("watermark", "power", "--runs", "3")
    assert done.returncode == 2
    assert "pip install 'trace-prov[" in done.stderr
    assert "Traceback" not in done.stderr
