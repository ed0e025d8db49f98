"""`--to prov-xml`: the PROV view in PROV-XML, written by the `prov` library; refuses what XML cannot hold."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph

from trace_prov.export.errors import ExportError
from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.export.property_graph import NOT_XML
from trace_prov.export.prov_document import serialized, to_document
from trace_prov.export.prov_quads import prov_quads


def export(material: Material) -> Iterator[ExportedFile]:
    """One file. Raises ExportError for a text with a character that XML cannot hold."""
    quads = list(prov_quads(material))
    for quad in quads:
        if isinstance(quad.object, pyoxigraph.Literal):
            found = NOT_XML.search(quad.object.value)
            if found is not None:
                raise ExportError(
                    "prov-xml",
                    place=f"{quad.predicate.value.rpartition('#')[2]} of {quad.subject.value}",  # type: ignore[union-attr]
                    expected="characters that XML 1.0 can hold",
                    found=f"U+{ord(found[0]):04X}",
                    hint="--to prov-n, prov-json, prov-jsonld, trig and nquads carry it",
                )
    yield ExportedFile("", [serialized(to_document(quads), "xml")])


EXPORTER = Exporter("prov-xml", "PROV view in PROV-XML", ".provx", export)
