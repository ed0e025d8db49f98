"""`--to gexf`: the property graph in GEXF 1.3 for Gephi, written by networkx."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.export.property_graph import networkx_library, property_graph

# networkx writes today's date; equal input gives equal bytes here.
_DATE = re.compile(r' lastmodifieddate="[0-9-]+"')


def export(material: Material) -> Iterator[ExportedFile]:
    graph = property_graph(material, "gexf")
    text = "\n".join(networkx_library().generate_gexf(graph, version="1.3"))
    yield ExportedFile("", [b'<?xml version="1.0" encoding="UTF-8"?>\n', _DATE.sub("", text, count=1).encode(), b"\n"])


EXPORTER = Exporter("gexf", "property graph in GEXF 1.3", ".gexf", export)
