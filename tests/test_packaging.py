"""What a user installs: the wheel holds every file of the mapped folders, and no generic name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAPPED = ("loaders", "ontology", "queries", "shapes")


def tracked(*folders: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and not (ROOT / name).is_symlink()]


def test_every_folder_with_code_is_a_package_of_the_build() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {Path(name).parent.as_posix().replace("/", ".") for name in tracked("trace_prov") if name.endswith(".py")}
    found |= {
        "trace_prov." + Path(name).parent.as_posix().replace("/", ".")
        for name in tracked(*MAPPED)
        if name.endswith(".py")
    }
    assert found == listed


def test_the_wheel_holds_every_file_and_only_our_names(tmp_path: Path) -> None:
    # A copy of what is tracked: a build in place would pick up what an earlier build left.
    source = tmp_path / "source"
    for name in tracked("."):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            target.write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "build", "--outdir", str(tmp_path / "dist"), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"trace_prov"}
    wanted = {f"trace_prov/{name}" for name in tracked(*MAPPED)} | set(tracked("trace_prov"))
    assert wanted - set(names) == set()
