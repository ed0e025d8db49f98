"""All real runs with accounts in all eight conditions: they conform, and the comparator gives what is supported."""

from __future__ import annotations

from pathlib import Path

import pytest

from trace_prov.derive import Question, derive
from trace_prov.finding import Finding, NotApplicable, Status
from trace_prov.load import load_paths
from trace_prov.model import BasisState, Locator, Run
from trace_prov.package.bag import read_package, write_package
from trace_prov.package.build import build
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import BUILT_IN
from trace_prov.package.contract import shapes_for
from trace_prov.package.graph import package_to_quads
from trace_prov.package.shacl import engine_named, to_ntriples
from trace_prov.package.validate import validate_package

HERE = Path(__file__).parent.parent
SHARED = HERE.parent.parent / "shared" / "data"


def runs_below(*folders: Path) -> list[Run]:
    return [run for run in load_paths([folder for folder in folders if folder.is_dir()]) if isinstance(run, Run)]


def supported(run: Run, finding: Finding, condition: str) -> dict[str, tuple[object, ...]]:
    """The answers that the table of CONTRACT §6 gives where only whole layers are withheld."""
    native, table = condition in ("R01", "R11"), condition in ("R01", "R11", "C10", "C11")
    account = condition not in ("R00", "R01")
    q3: tuple[object, ...] = (finding.q3.status, finding.q3.locators)
    held = set(finding.q2.locators or ())
    if (
        not account
        or finding.basis.state is BasisState.WITHHELD
        or (finding.basis.state is BasisState.IDS and held and not table)
    ):
        q3 = (Status.ABSTAIN, None)
    return {
        "q1": (finding.q1.status, finding.q1.value) if native else (Status.ABSTAIN, None),
        "q2": (finding.q2.status, finding.q2.locators),
        "q3": q3,
    }


def check(run: Run, folder: Path) -> bool:
    (full,) = derive(run, Question())
    for number, (name, condition) in enumerate(BUILT_IN.items()):
        built = build(run, condition)
        if isinstance(built, NotApplicable):
            assert isinstance(full, NotApplicable)
            return False
        assert isinstance(full, Finding)
        path = folder / f"{run.id.rsplit(':', 1)[-1]}-{number}"
        write_package(built.package, path)
        report = validate_package(path)
        assert report.conforms, (run.source.name, name, report.violations)
        given = finding_of(read_package(path))
        expected = supported(run, full, name)
        assert (given.q1.status, given.q1.value) == expected["q1"]
        assert (given.q2.status, given.q2.locators) == expected["q2"]
        assert (given.q3.status, given.q3.locators) == expected["q3"]
        assert all(isinstance(locator, Locator) for locator in given.q2.locators or ())
    return True


def test_the_runs_with_accounts_that_the_repository_ships(tmp_path: Path) -> None:
    runs = runs_below(HERE / "data" / "agentdojo" / "runs" / "local-account")
    if not runs:
        pytest.skip("the real logs are not in tests/data")
    assert sum(check(run, tmp_path) for run in runs) >= len(runs) - 2


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_runs_with_accounts(tmp_path: Path) -> None:
    runs = runs_below(SHARED / "agentdojo" / "runs" / "local-account")
    if not runs:
        pytest.skip("the shared runs are not here")
    assert (len(runs), sum(check(run, tmp_path) for run in runs)) == (51, 48)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_runs_without_accounts(tmp_path: Path) -> None:
    runs = runs_below(SHARED / "agentdojo" / "runs", SHARED / "agentdojo_public" / "runs")[::9]
    if not runs:
        pytest.skip("the shared runs are not here")
    assert any(check(run, tmp_path) for run in runs)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_reference_engine_accepts_real_packages() -> None:
    runs = runs_below(HERE / "data" / "agentdojo" / "runs" / "local-account")
    if not runs:
        pytest.skip("the real logs are not in tests/data")
    for run in runs[:2]:
        for condition in BUILT_IN.values():
            built = build(run, condition)
            if isinstance(built, NotApplicable):
                continue
            data, shapes = to_ntriples(package_to_quads(built.package)), shapes_for(built.package.contract)
            fast, reference = (engine_named(name)(data, shapes) for name in ("fast", "pyshacl"))
            assert [(r.shape, r.focus, r.value) for r in fast] == [(r.shape, r.focus, r.value) for r in reference]
