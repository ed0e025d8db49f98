"""What our own checks find in a CASE file, beside the rules of the ontology."""

from __future__ import annotations

from dataclasses import dataclass

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """`error`: the file contradicts itself or loses something; `warning`: something a lab would expect is not there."""

    level: str
    check: str
    place: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"level": self.level, "check": self.check, "place": self.place, "message": self.message}


#: Every check: its name and what it looks for (docs/conformance-case.md lists them from here).
CHECKS: dict[str, str] = {
    "no-triples": "the graph that would be validated is empty",
    "named-graph": "statements in a named graph, which validation does not see",
    "key-dropped": "a key that stands for no property: not in the context, no prefix, no vocabulary",
    "key-repeated": "a key written twice in one JSON object: the first value is lost",
    "value-dropped": "null, an empty value, or an address that is none: the statement is lost",
    "prefix-undeclared": "a prefix that the context does not declare, so the term is not the one meant",
    "id-relative": "a node name that is completed with the place of the file",
    "node-merged": "one node described in several places, which are read as one",
    "hash": "a hash of a payload that is not the hash of its content",
    "size": "a size that is not the size of the payload",
    "time-order": "an end before its start",
    "time-form": "a time that xsd:dateTime does not allow",
    "time-zone": "a time without a zone",
    "action-as-result": "an action as the result of an action",
    "result-of-two": "one result of two actions of the same layer",
    "provenance-record": "an investigative action without a provenance record among its results",
    "list-index": "list elements that are not numbered 1 to n without gaps",
    "performer": "an action without a performer",
    "times": "an action without a start or an end",
    "relationship-kind": "a kind of relationship outside UCO's vocabulary and our own",
    "bundle": "no uco-core:Bundle around the content",
    "foreign-terms": "types or properties of other namespaces, which nothing checks",
}
