"""`--to case`: a CASE 1.5 / UCO 1.5 bundle in JSON-LD."""

from __future__ import annotations

from collections.abc import Iterator

from trace_prov.export.case.bundle import case_bundle
from trace_prov.export.material import ExportedFile, Exporter, Material


def export(material: Material) -> Iterator[ExportedFile]:
    """One file; see docs/case.md for what stands in it."""
    yield ExportedFile("", [case_bundle(material)])


EXPORTER = Exporter("case", "CASE 1.5 / UCO 1.5 bundle (JSON-LD)", ".jsonld", export)
