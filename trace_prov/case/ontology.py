"""The rules of CASE: the ontology with its shapes as case-utils carries it, prepared as case_validate prepares it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import rdflib

from trace_prov.case.shacl import Shapes
from trace_prov.case.triples import Triples
from trace_prov.errors import FormatError, UsageError

VERSION = "case-1.5.0"


@dataclass(frozen=True, slots=True)
class Ontology:
    """The ontology: its graph, the same triples indexed, and its shapes compiled."""

    graph: rdflib.Graph
    triples: Triples
    shapes: Shapes

    def undefined(self, data: rdflib.Graph) -> list[str]:
        """Return the terms in a CASE or UCO namespace that the ontology does not define, sorted."""
        from case_utils.case_validate.validate_utils import get_invalid_cdo_concepts

        return sorted(map(str, get_invalid_cdo_concepts(data, self.graph)))


@lru_cache(maxsize=2)
def load_ontology(extensions: tuple[Path, ...] = ()) -> Ontology:
    """Return CASE 1.5.0 with UCO 1.5.0, and the ontologies of one's own given beside it.

    Raises UsageError when case-utils is not installed, FormatError when an extension cannot be read.
    """
    try:
        from case_utils.case_validate.validate_utils import disable_tbox_review, get_ontology_graph
    except ImportError as error:
        raise UsageError("checking CASE needs the package case-utils: pip install 'trace-prov[case]'") from error
    graph = get_ontology_graph(VERSION)
    for path in extensions:
        try:
            graph.parse(path)
        except Exception as error:  # rdflib's parsers raise what their libraries raise
            found = " ".join(str(error).split())[:300]
            raise FormatError(str(path), expected="an ontology in RDF", found=found) from error
    disable_tbox_review(graph)
    triples = Triples(graph)
    return Ontology(graph, triples, Shapes(triples))
