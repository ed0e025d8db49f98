"""`--to nquads`: the PROV view as N-Quads, written directly and sorted; the run graphs in it load again."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph

from trace_prov.export.material import ExportedFile, Exporter, Material
from trace_prov.export.prov_quads import prov_quads


def lines(material: Material) -> list[str]:
    """The view's N-Quads, sorted and without repetition."""
    data = pyoxigraph.serialize(prov_quads(material), format=pyoxigraph.RdfFormat.N_QUADS)
    assert data is not None
    # Not splitlines: it takes characters for line ends that stand unescaped in N-Quads strings (U+2028).
    return sorted({f"{line}\n" for line in data.decode().split("\n") if line})


def export(material: Material) -> Iterator[ExportedFile]:
    yield ExportedFile("", ["".join(lines(material)).encode()])


EXPORTER = Exporter("nquads", "PROV view as N-Quads", ".nq", export)
