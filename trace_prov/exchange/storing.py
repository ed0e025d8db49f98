"""Documents of others in a store: the graphs of the document itself, and the runs that were found in it."""

from __future__ import annotations

from dataclasses import dataclass

import pyoxigraph

from trace_prov.errors import FormatError
from trace_prov.exchange.reading import Imported
from trace_prov.graph.store import TraceStore
from trace_prov.graph.write import run_to_nquads


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a document: its graph, whether it is new, and its runs with whether each is new."""

    document: str
    new: bool
    runs: tuple[tuple[str, bool], ...]


def store_document(store: TraceStore, imported: Imported) -> Stored:
    """Put a document into a store that is open for writing; one that is there already is left as it is.

    Raises FormatError, and stores nothing, when a run of it has the identifier of a run in the store and says
    something else: a run's identifier comes from its evidence, so one of the two is not what it says it is.
    """
    for run in imported.runs:
        if run.id in store and store.nquads(run.id) != run_to_nquads(run):
            raise FormatError(
                imported.name,
                place=run.id,
                expected="what the store holds under this identifier",
                found="another content",
                hint="compare them in a store of their own: --store NEW",
            )
    graph = pyoxigraph.NamedNode(imported.document)
    new = bool(imported.quads) and not store.database.contains_named_graph(graph)
    if new:
        store.database.extend(imported.quads)
    added = tuple((item.run, item.new) for item in store.add(imported.runs))
    return Stored(imported.document, new, added)
