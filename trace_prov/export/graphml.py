"""`--to graphml`: the property graph in GraphML, written by networkx."""

from __future__ import annotations

from collections.abc import Iterator

from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.export.property_graph import networkx_library, property_graph


def export(material: Material) -> Iterator[ExportedFile]:
    graph = property_graph(material, "graphml")
    text = "\n".join(networkx_library().generate_graphml(graph, named_key_ids=True, edge_id_from_attribute=None))
    yield ExportedFile("", [b'<?xml version="1.0" encoding="UTF-8"?>\n', text.encode(), b"\n"])


EXPORTER = Exporter("graphml", "property graph in GraphML", ".graphml", export)
