"""`--to prov-n`: the PROV view in PROV-N, written by the `prov` library."""

from __future__ import annotations

from collections.abc import Iterator

from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.export.prov_document import serialized, to_document
from trace_prov.export.prov_quads import prov_quads


def export(material: Material) -> Iterator[ExportedFile]:
    """One file with a bundle for each run, one for each account, and one for the custody."""
    yield ExportedFile("", [serialized(to_document(prov_quads(material)), "provn")])


EXPORTER = Exporter("prov-n", "PROV view in PROV-N", ".provn", export)
