"""A plain install has no optional packages: help lists every command, and calling one says what it needs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from trace_prov.cli import COMMANDS, EXTRAS, main

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


def test_help_names_the_extra_of_each_command_that_lacks_one() -> None:
    shown = plain("--help").stdout
    for line in shown.splitlines():
        if "not installed" in line:
            assert f"pip install 'trace-prov[{EXTRAS[line.split()[0]]}]')" in line
    assert shown.count("not installed") == 6


def test_every_extra_that_is_named_is_there() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(EXTRAS) <= set(COMMANDS)
    assert {*EXTRAS.values(), "all"} <= set(project["optional-dependencies"])


@pytest.mark.parametrize("command", ["seal", "verify", "import", "study"])
def test_a_command_that_cannot_be_imported_names_its_extra(command: str) -> None:
    done = plain(command, "--help")
    assert done.returncode == 2
    assert f"pip install 'trace-prov[{EXTRAS[command]}]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("group", ["neo4j", "study", "watermark"])
def test_a_group_lists_its_commands_with_whole_sentences(group: str) -> None:
    shown = CliRunner().invoke(main, [group, "--help"], terminal_width=80)
    assert shown.exit_code == 0
    assert "..." not in shown.output.partition("Commands:")[2]


def test_a_command_without_its_package_says_what_to_install() -> None:
    done = plain("watermark", "power", "--runs", "3")
    assert done.returncode == 2
    assert "pip install 'trace-prov[" in done.stderr
    assert "Traceback" not in done.stderr
