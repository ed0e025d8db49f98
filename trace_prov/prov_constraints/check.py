"""A PROV file, document or instance -> what is wrong with it (PROV-CONSTRAINTS 7.1 and 7.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trace_prov.prov_constraints.impossibility import impossible
from trace_prov.prov_constraints.normal_form import NormalForm
from trace_prov.prov_constraints.ordering import disordered
from trace_prov.prov_constraints.reading import read_instances
from trace_prov.prov_constraints.statements import Instance
from trace_prov.prov_constraints.violations import Violation


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on one instance: the top level of a document (`bundle` is None) or one bundle."""

    bundle: str | None
    statements: int
    violations: tuple[Violation, ...]

    @property
    def valid(self) -> bool:
        return not self.violations


def check_instance(instance: Instance) -> Report:
    """Return the verdict on one instance."""
    form = NormalForm(instance)
    found = (*form.violations, *impossible(form), *disordered(form))
    violations = tuple({(v.constraint, v.message): v for v in reversed(found)}.values())[::-1]
    name = None if instance.name is None else str(instance.name)
    return Report(name, len(instance.statements), violations)


def check_document(instances: Iterable[Instance]) -> list[Report]:
    """Return one verdict an instance: a document is valid when all of them are (7.3)."""
    return [check_instance(instance) for instance in instances]


def check_file(path: Path) -> list[Report]:
    """Read a PROV-N, PROV-JSON, PROV-JSONLD, PROV-XML or PROV-O file and check it.

    Raises SourceError or FormatError when it cannot be read as PROV.
    """
    return check_document(read_instances(path))
