"""Material for export tests: real logs with their findings, and the round trip of a run through a format."""

from __future__ import annotations

from pathlib import Path

from trace_prov.derive import derive
from trace_prov.export import exporter_named
from trace_prov.export.material import Custody, Material
from trace_prov.load import load_paths
from trace_prov.model import Run

from ..conftest import DATA, SHARED

CUSTODY = Custody("Eve Examiner", "2026-03-03T08:00:00Z")
EXAMPLES = Path(__file__).parents[2] / "examples"
#: The formats whose exports hold the runs whole.
WHOLE = ("case", "prov-n", "prov-json", "prov-xml", "prov-jsonld", "trig", "nquads")


def runs_of(*paths: Path) -> list[Run]:
    return [item for item in load_paths(paths) if isinstance(item, Run)]


def material_of(*runs: Run, custody: Custody = CUSTODY) -> Material:
    return Material(tuple(runs), {run.id: tuple(derive(run)) for run in runs}, custody)


def exported(material: Material, name: str) -> bytes:
    """The bytes of a format that is one file."""
    return b"".join(file.data for file in exporter_named(name).export(material))


def written(material: Material, name: str, folder: Path) -> Path:
    path = folder / f"export-{name}{exporter_named(name).ending}"
    path.write_bytes(exported(material, name))
    return path


def sample_runs() -> list[Run]:
    """40 runs: all that tests/data holds of every kind, in the order of their files."""
    folders = [DATA / "agentdojo" / "runs", DATA / "agentdojo_public" / "runs", DATA / "tricky"]
    runs = runs_of(*folders)
    # A not-a-number is equal to nothing, so a run that holds one cannot be compared.
    comparable = [run for run in runs if all(a.value == a.value for b in run.actions for a in b.arguments)]
    return comparable[:40]


def all_shared_runs() -> list[Run]:
    return runs_of(SHARED / "agentdojo" / "runs", SHARED / "agentdojo_public" / "runs")
