"""`--to trig`: the PROV view as TriG, for people to read, written directly from the sorted quads."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph

from trace_prov.export import nquads
from trace_prov.export.case.nodes import CASE, KB, UCO
from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.graph import iris

PREFIXES = iris.PREFIXES | {
    "kb": KB,
    "uco-core": f"{UCO}core/",
    "case-investigation": f"{CASE}investigation/",
}


def export(material: Material) -> Iterator[ExportedFile]:
    quads = pyoxigraph.parse("".join(nquads.lines(material)), format=pyoxigraph.RdfFormat.N_QUADS)
    data = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.TRIG, prefixes=PREFIXES)
    assert data is not None
    yield ExportedFile("", [data])


EXPORTER = Exporter("trig", "PROV view as TriG", ".trig", export)
