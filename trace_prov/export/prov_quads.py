"""The PROV view of runs as quads: the run graphs and, in a graph of its own, the custody of their logs.

The run graph is PROV-O already (ontology/mapping.tsv). One thing is added so that it also keeps PROV-CONSTRAINTS
(Definition 1, Table 3): an influence needs an influencer. A citation's is the input of that local id, `…:in:in-3`,
which is the row of the binding table when there is one and is not described further when there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph

from trace_prov.exchange.custody import custody_quads
from trace_prov.export.case.bundle import case_graph
from trace_prov.export.material import Material
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf
from trace_prov.graph.write import run_to_quads
from trace_prov.model import Run

_TYPE = pyoxigraph.NamedNode(iris.RDF_TYPE)
_CITATION = pyoxigraph.NamedNode(f"{iris.TRACE}Citation")
_LOCAL_ID = pyoxigraph.NamedNode(f"{iris.TRACE}localId")
_INFLUENCER = pyoxigraph.NamedNode(f"{iris.PROV}influencer")

#: The graph of the examiner's custody.
CUSTODY = "urn:trace-prov:custody"


def prov_quads(material: Material) -> Iterator[pyoxigraph.Quad]:
    """The PROV view, run by run in a fixed order, then the custody."""
    for run in material.runs:
        yield from run_quads(run)
    yield from custody_quads(case_graph(material), CUSTODY)


def run_quads(run: Run) -> list[pyoxigraph.Quad]:
    """The quads of one run, with an influencer for every citation."""
    quads = list(run_to_quads(run))
    citations = {quad.subject for quad in quads if quad.predicate == _TYPE and quad.object == _CITATION}
    for quad in list(quads):
        if quad.predicate == _LOCAL_ID and quad.subject in citations:
            assert isinstance(quad.object, pyoxigraph.Literal)
            named = pyoxigraph.NamedNode(iris.binding(run.id, from_rdf(quad.object.value)))
            quads.append(pyoxigraph.Quad(quad.subject, _INFLUENCER, named, quad.graph_name))
    return quads
