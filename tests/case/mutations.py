"""One-change mutations of the example run: what case_validate says of each is in mutation_verdicts.tsv.

Each takes the parsed JSON-LD and changes it in place. The names say the change.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Mutation = Callable[[Json], None]

MUTATIONS: dict[str, Mutation] = {}
ACTION, INVESTIGATIVE, HASH = "uco-action:Action", "case-investigation:InvestigativeAction", "uco-types:Hash"
CONTENT, RELATION = "uco-observable:ContentData", "uco-core:Relationship"
OBSERVABLE_RELATION, FACET = "uco-observable:ObservableRelationship", "uco-observable:ContentDataFacet"
UUID7 = "01890a5d-ac96-774b-bcce-b302099a8057"


def mutation(function: Mutation) -> Mutation:
    MUTATIONS[function.__name__] = function
    return function


def mutated(document: Json, name: str) -> Json:
    """Return a changed copy."""
    changed = copy.deepcopy(document)
    MUTATIONS[name](changed)
    return changed


def nodes(document: Json, type_: str) -> list[Json]:
    """Return all nodes of a type, nested ones too, in order."""
    found: list[Json] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("@type") == type_:
                found.append(value)
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document["@graph"])
    return found


def first(document: Json, type_: str) -> Json:
    return nodes(document, type_)[0]


def rename(document: Json, old: str, new: str) -> None:
    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("@id") == old:
                value["@id"] = new
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document["@graph"])


def stamp(text: str) -> Json:
    return {"@type": "xsd:dateTime", "@value": text}


@mutation
def unchanged(d: Json) -> None:
    pass


@mutation
def iri_without_uuid(d: Json) -> None:
    rename(d, first(d, "uco-tool:Tool")["@id"], "kb:Tool-read-file")


@mutation
def iri_with_uuid_7(d: Json) -> None:
    rename(d, first(d, "uco-tool:Tool")["@id"], f"kb:Tool-{UUID7}")


@mutation
def blank_facet(d: Json) -> None:
    del first(d, FACET)["@id"]


@mutation
def time_as_string(d: Json) -> None:
    first(d, ACTION)["uco-action:startTime"] = "2026-03-02T09:00:10Z"


@mutation
def time_as_number(d: Json) -> None:
    first(d, ACTION)["uco-action:startTime"] = 1.5


@mutation
def two_performers(d: Json) -> None:
    action = first(d, ACTION)
    action["uco-action:performer"] = [
        action["uco-action:performer"],
        {"@id": first(d, "uco-identity:Person")["@id"]},
    ]


@mutation
def two_names(d: Json) -> None:
    first(d, ACTION)["uco-core:name"] = ["act-01", "read_file"]


@mutation
def name_with_language(d: Json) -> None:
    first(d, ACTION)["uco-core:name"] = {"@language": "en", "@value": "read_file"}


@mutation
def hash_value_as_string(d: Json) -> None:
    hash_ = first(d, HASH)
    hash_["uco-types:hashValue"] = hash_["uco-types:hashValue"]["@value"]


@mutation
def hash_value_missing(d: Json) -> None:
    del first(d, HASH)["uco-types:hashValue"]


@mutation
def size_as_string(d: Json) -> None:
    first(d, FACET)["uco-observable:sizeInBytes"] = "44"


@mutation
def statement_as_number(d: Json) -> None:
    first(d, "uco-core:Annotation")["uco-core:statement"] = 7


@mutation
def hash_method_in_small_letters(d: Json) -> None:
    first(d, HASH)["uco-types:hashMethod"] = "sha256"


@mutation
def unknown_action_status(d: Json) -> None:
    first(d, ACTION)["uco-action:actionStatus"] = "done"


@mutation
def unknown_investigation_form(d: Json) -> None:
    first(d, "case-investigation:Investigation")["case-investigation:investigationForm"] = "agent"


@mutation
def misspelt_class(d: Json) -> None:
    first(d, "uco-tool:Tool")["@type"] = "uco-tool:Toool"


@mutation
def misspelt_property(d: Json) -> None:
    tool = first(d, "uco-tool:Tool")
    tool["uco-tool:tooltype"] = tool.pop("uco-tool:toolType")


@mutation
def dangling_reference(d: Json) -> None:
    first(d, ACTION)["uco-action:result"] = {"@id": "kb:ContentData-00000000-0000-4000-8000-000000000000"}


@mutation
def relationship_without_direction(d: Json) -> None:
    del first(d, RELATION)["uco-core:isDirectional"]


@mutation
def relationship_with_two_targets(d: Json) -> None:
    relation = first(d, RELATION)
    relation["uco-core:target"] = [relation["uco-core:target"], relation["uco-core:source"]]


@mutation
def observable_relationship_between_actions(d: Json) -> None:
    first(d, RELATION)["@type"] = OBSERVABLE_RELATION


@mutation
def facet_of_two_objects(d: Json) -> None:
    contents = nodes(d, CONTENT)
    contents[1]["uco-core:hasFacet"] = [
        contents[1]["uco-core:hasFacet"],
        {"@id": contents[0]["uco-core:hasFacet"]["@id"]},
    ]


@mutation
def same_node_twice(d: Json) -> None:
    again = copy.deepcopy(first(d, ACTION))
    again["uco-core:name"] = "another name"
    d["@graph"].append(again)


@mutation
def relative_id(d: Json) -> None:
    rename(d, first(d, "uco-tool:Tool")["@id"], "tool-1")


@mutation
def wrong_hash(d: Json) -> None:
    first(d, HASH)["uco-types:hashValue"]["@value"] = "00" * 32


@mutation
def wrong_size(d: Json) -> None:
    first(d, FACET)["uco-observable:sizeInBytes"] = 45


@mutation
def end_before_start(d: Json) -> None:
    first(d, ACTION)["uco-action:endTime"] = stamp("2026-03-02T09:00:09Z")


@mutation
def impossible_date(d: Json) -> None:
    first(d, ACTION)["uco-action:endTime"] = stamp("2026-02-30T09:00:12Z")


@mutation
def time_without_zone(d: Json) -> None:
    first(d, ACTION)["uco-action:endTime"] = stamp("2026-03-02T09:00:12")


@mutation
def action_as_result(d: Json) -> None:
    actions = nodes(d, ACTION)
    actions[0]["uco-action:result"] = {"@id": actions[1]["@id"]}


@mutation
def result_of_two_actions(d: Json) -> None:
    actions = nodes(d, ACTION)
    actions[1]["uco-action:result"] = actions[0]["uco-action:result"]


@mutation
def investigative_action_without_record(d: Json) -> None:
    action = first(d, INVESTIGATIVE)
    action["uco-action:result"] = [r for r in action["uco-action:result"] if "ProvenanceRecord" not in r["@id"]]


@mutation
def no_performer(d: Json) -> None:
    del first(d, ACTION)["uco-action:performer"]


@mutation
def no_times(d: Json) -> None:
    action = first(d, ACTION)
    del action["uco-action:startTime"], action["uco-action:endTime"]


@mutation
def unknown_kind_of_relationship(d: Json) -> None:
    first(d, RELATION)["uco-core:kindOfRelationship"] = "Somehow_Near"


@mutation
def no_bundle(d: Json) -> None:
    d["@graph"] = [node for node in d["@graph"] if node.get("@type") != "uco-core:Bundle"]


@mutation
def foreign_property(d: Json) -> None:
    d["@context"]["foreign"] = "http://example.org/foreign/"
    first(d, ACTION)["foreign:colour"] = "green"


@mutation
def list_index_with_a_gap(d: Json) -> None:
    reference = next(r for r in nodes(d, "uco-core:ExternalReference") if "result[2]" in str(r))
    reference["uco-core:externalIdentifier"] = "act-01.result[3]"


@mutation
def empty_graph(d: Json) -> None:
    d["@graph"] = []


@mutation
def key_without_prefix(d: Json) -> None:
    first(d, ACTION)["colour"] = "green"


@mutation
def null_value(d: Json) -> None:
    first(d, ACTION)["uco-core:description"] = None


@mutation
def reference_with_spaces(d: Json) -> None:
    first(d, ACTION)["uco-action:location"] = {"@id": "a place without an address"}


@mutation
def named_graph(d: Json) -> None:
    d["@id"] = "kb:graph-3bfd94ed-697d-4bf9-bf19-615f6789bb73"


@mutation
def key_with_undeclared_prefix(d: Json) -> None:
    first(d, ACTION)["my:colour"] = "green"
