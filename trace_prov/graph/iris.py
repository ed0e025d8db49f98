"""The IRIs of a run graph: all of them are the run's own IRI and a suffix, so the same log gives the same IRIs.

Text of a log stands in an IRI only percent-encoded.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from trace_prov.model import Locator, action_id

TRACE = "https://w3id.org/trace-prov/ontology#"
PROV = "http://www.w3.org/ns/prov#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"

#: Prefixes for Turtle, TriG and SPARQL.
PREFIXES = {"trace": TRACE, "prov": PROV, "xsd": XSD}

_RUN = re.compile(r"urn:trace-prov:run:[0-9a-f]{32}")


def is_run(iri: str) -> bool:
    """Whether this is the IRI of a run, thus the name of a run graph."""
    return _RUN.fullmatch(iri) is not None


def account_bundle(run: str) -> str:
    """The bundle of what the agent wrote in the run; also the name of its graph."""
    return f"{run}:account"


def action(run: str, number: int) -> str:
    return f"{run}:{action_id(number)}"


def record(run: str, locator: Locator) -> str:
    """The record at `locator`, or the whole of a list result: `…:act-01.result:2` for `act-01.result[2]`."""
    suffix = f":{locator.element}" if locator.element else ""
    return f"{run}:{Locator(locator.action)}{suffix}"


def part(owner: str, kind: str, position: int) -> str:
    """One of several parts of a node, by its position from 1: `…:act-01.argument:1`."""
    return f"{owner}.{kind}:{position}"


def binding(run: str, local_id: str) -> str:
    return f"{run}:in:{encoded(local_id)}"


def tool(run: str, name: str) -> str:
    return f"{run}:tool:{encoded(name)}"


def encoded(text: str) -> str:
    """Any text as a part of an IRI. Lone surrogates are encoded as the three bytes they would have in UTF-8."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")
