"""Documentation of the ontology: an HTML page for each of its files, by pyLODE, and the mapping table in docs/graph.md.

python -m trace_prov.ontology.docs html build/ontology/index.html
python -m trace_prov.ontology.docs html build/ontology/package.html package.ttl
python -m trace_prov.ontology.docs table docs/graph.md
"""

from __future__ import annotations

import csv
import logging
import sys
from importlib.resources import files
from pathlib import Path

from rdflib import RDF, RDFS, SKOS, Graph, Literal

BEGIN = "<!-- mapping table: written by `make ontology-docs` from ontology/mapping.tsv -->"
END = "<!-- end of the mapping table -->"
#: The vocabulary of run graphs; other files beside it have a page of their own.
MAIN = "trace.ttl"


def html(name: str = MAIN) -> str:
    """The page of one of the ontology's files; needs the extra `docs`."""
    # pyLODE sets the root logger to DEBUG on import; whoever calls us keeps theirs.
    level = logging.getLogger().level
    from pylode import OntPub  # type: ignore[import-untyped]

    logging.getLogger().setLevel(level)
    return str(OntPub(_with_states_told(name)).make_html())


def _with_states_told(name: str) -> Graph:
    """The file with each state listed in the definition of its class: pyLODE leaves individuals out."""
    graph = Graph().parse(data=(files("trace_prov.ontology") / name).read_text("utf-8"), format="turtle")
    for kind in set(graph.subjects(RDFS.subClassOf, SKOS.Concept)):
        states = sorted(graph.subjects(RDF.type, kind), key=str)
        lines = [f"- {state}: {graph.value(state, SKOS.definition)}" for state in states]
        told = "\n".join([str(graph.value(kind, SKOS.definition)), "", *lines])
        graph.set((kind, SKOS.definition, Literal(told, lang="en")))
    return graph


def mapping() -> list[list[str]]:
    """The mapping table: its header, then a row for each thing that a log holds."""
    text = (files("trace_prov.ontology") / "mapping.tsv").read_text("utf-8")
    return list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def mapping_table() -> str:
    """The mapping table in Markdown."""
    header, *rows = mapping()
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def with_table(page: str) -> str:
    """A Markdown page with the table put between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{mapping_table()}\n\n{END}{after}"


def main(what: str, target: str, name: str = MAIN) -> None:
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "html":
        path.write_text(html(name), "utf-8")
    else:
        path.write_text(with_table(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
