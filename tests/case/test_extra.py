"""What case_validate lets pass, one change at a time: each gives its finding and no other."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.case.mutations import FACET, HASH, first, mutated, nodes, stamp
from trace_prov.case import Finding, check_case
from trace_prov.case.findings import CHECKS
from trace_prov.case.reading import time_findings
from trace_prov.errors import FormatError, SourceError

DATA = Path(__file__).parent.parent / "data" / "case_examples"
RUN = json.loads((DATA / "agent_run.jsonld").read_text())

#: Mutation -> the checks that find it, with their level.
EXPECTED: dict[str, set[tuple[str, str]]] = {
    "unchanged": set(),
    "wrong_hash": {("error", "hash")},
    "wrong_size": {("error", "size")},
    "end_before_start": {("error", "time-order")},
    "impossible_date": {("error", "time-form")},
    "time_without_zone": {("error", "time-zone")},
    "action_as_result": {("error", "action-as-result")},
    "result_of_two_actions": {("error", "result-of-two")},
    "investigative_action_without_record": {("error", "provenance-record")},
    "list_index_with_a_gap": {("error", "list-index")},
    "no_performer": {("warning", "performer")},
    "no_times": {("warning", "times")},
    "unknown_kind_of_relationship": {("warning", "relationship-kind")},
    "no_bundle": {("warning", "bundle")},
    "foreign_property": {("warning", "foreign-terms")},
    "empty_graph": {("error", "no-triples")},
    "key_without_prefix": {("error", "key-dropped")},
    "null_value": {("error", "value-dropped")},
    "reference_with_spaces": {("error", "value-dropped")},
    "named_graph": {("error", "named-graph"), ("error", "no-triples")},
    "key_with_undeclared_prefix": {("error", "prefix-undeclared"), ("warning", "foreign-terms")},
    "relative_id": {("error", "id-relative")},
    "same_node_twice": {("warning", "node-merged")},
}


def findings(document: Any, folder: Path, name: str = "run.jsonld") -> tuple[Finding, ...]:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return check_case(path).findings


@pytest.mark.parametrize("name", EXPECTED)
def test_one_change(name: str, tmp_path: Path) -> None:
    found = findings(mutated(RUN, name), tmp_path)
    assert {(finding.level, finding.check) for finding in found} == EXPECTED[name]
    assert all(finding.place and finding.message for finding in found)


def test_every_check_is_seen_to_find_something() -> None:
    seen = {check for expected in EXPECTED.values() for _, check in expected} | {"key-repeated"}
    assert seen == set(CHECKS)


def test_the_conformance_page_lists_every_check() -> None:
    page = (Path(__file__).parents[2] / "docs" / "conformance-case.md").read_text()
    listed = {
        name.strip()
        for line in page.splitlines()
        if line.startswith("| ")
        for name in line[2:].split(" | ")[0].split(",")
    }
    assert set(CHECKS) <= listed


def test_a_repeated_key_is_a_loss(tmp_path: Path) -> None:
    text = json.dumps(RUN).replace('"uco-core:name": "act-01 read_file"', '"uco-core:name": "x", "uco-core:name": "y"')
    assert [(finding.level, finding.check) for finding in findings(text, tmp_path)] == [("error", "key-repeated")]


@pytest.mark.parametrize("context", ["https://example.org/context.jsonld", ["https://example.org/c.jsonld", {}]])
def test_a_remote_context_is_refused(context: Any, tmp_path: Path) -> None:
    document = {**copy.deepcopy(RUN), "@context": context}
    with pytest.raises(FormatError, match="nothing is fetched from the network") as error:
        findings(document, tmp_path)
    assert "https://example.org/c" in str(error.value)


def test_a_remote_context_deep_inside_and_an_import_are_refused(tmp_path: Path) -> None:
    document = copy.deepcopy(RUN)
    first(document, HASH)["@context"] = "https://example.org/context.jsonld"
    with pytest.raises(FormatError, match="nothing is fetched"):
        findings(document, tmp_path)
    document = copy.deepcopy(RUN)
    document["@context"]["@import"] = "https://example.org/context.jsonld"
    with pytest.raises(FormatError, match="nothing is fetched"):
        findings(document, tmp_path)
    document = copy.deepcopy(RUN)
    document["@context"]["uco-core:name"] = {"@id": "uco-core:name", "@context": "https://example.org/context.jsonld"}
    with pytest.raises(FormatError, match="nothing is fetched"):
        findings(document, tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("cut.jsonld", '{"@graph": [', "line 1"),
        ("number.jsonld", "7", "JSON-LD object"),
        ("cut.ttl", "<a:b> <a:c>", "turtle"),
        ("run.csv", "a,b", ".jsonld"),
        ("empty.jsonld", "", "JSON"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(name: str, text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=name) as error:
        findings(text, tmp_path, name)
    assert told in str(error.value)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        check_case(tmp_path / "nothing.jsonld")
    (tmp_path / "bytes.jsonld").write_bytes(b'{"\xff"')
    with pytest.raises(SourceError, match="byte 2"):
        check_case(tmp_path / "bytes.jsonld")


def test_turtle_is_judged_like_json(tmp_path: Path) -> None:
    import rdflib

    path = tmp_path / "run.jsonld"
    path.write_text(json.dumps(mutated(RUN, "end_before_start")))
    turtle = tmp_path / "run.ttl"
    rdflib.Graph().parse(path).serialize(turtle, format="turtle")
    report = check_case(turtle)
    assert report.conforms
    assert [finding.check for finding in report.findings] == ["time-order"]


def test_statements_in_a_named_graph_are_not_lost_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "run.trig"
    path.write_text("@prefix ex: <http://example.org/> . ex:g { ex:a ex:b ex:c }")
    assert {finding.check for finding in check_case(path).findings} >= {"named-graph", "no-triples"}


def test_a_payload_may_be_base64_of_the_content(tmp_path: Path) -> None:
    document = copy.deepcopy(RUN)
    facet, content = first(document, FACET), b"\x00\x01 not text"
    facet["uco-observable:dataPayload"] = base64.b64encode(content).decode()
    facet["uco-observable:sizeInBytes"] = len(content)
    facet["uco-observable:hash"]["uco-types:hashValue"]["@value"] = hashlib.sha256(content).hexdigest()
    assert findings(document, tmp_path) == ()


@pytest.mark.parametrize("method", ["MD5", "SHA1", "SHA384", "SHA512", "SHA3-256"])
def test_every_hash_that_python_knows_is_recomputed(method: str, tmp_path: Path) -> None:
    document = copy.deepcopy(RUN)
    facet = first(document, FACET)
    value = hashlib.new(method.lower().replace("-", "_"), facet["uco-observable:dataPayload"].encode()).hexdigest()
    facet["uco-observable:hash"]["uco-types:hashMethod"] = method
    facet["uco-observable:hash"]["uco-types:hashValue"]["@value"] = value
    assert findings(document, tmp_path) == ()
    facet["uco-observable:hash"]["uco-types:hashValue"]["@value"] = value[::-1]
    assert [finding.check for finding in findings(document, tmp_path)] == ["hash"]


def test_times_in_two_zones_are_compared_as_instants(tmp_path: Path) -> None:
    document = copy.deepcopy(RUN)
    action = nodes(document, "uco-action:Action")[0]
    action["uco-action:startTime"] = stamp("2026-03-02T10:00:10+01:00")
    action["uco-action:endTime"] = stamp("2026-03-02T09:00:10Z")
    assert findings(document, tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("2026-03-02T09:00:10Z", None),
        ("2026-03-02T09:00:10.123456789-14:00", None),
        ("2024-02-29T24:00:00Z", None),
        ("-0044-03-15T12:00:00Z", None),
        ("12026-03-02T09:00:10Z", None),
        ("2026-03-02T09:00:10", "time-zone"),
        ("2026-02-29T09:00:10Z", "time-form"),
        ("2026-03-02 09:00:10Z", "time-form"),
        ("20260302T090010Z", "time-form"),
        ("2026-03-02T09:00Z", "time-form"),
        ("2026-03-02T24:00:01Z", "time-form"),
        ("2026-03-02T09:00:60Z", "time-form"),
        ("2026-03-02T09:00:10+14:01", "time-form"),
        ("02026-03-02T09:00:10Z", "time-form"),
        ("yesterday", "time-form"),
    ],
)
def test_the_written_form_of_a_time(text: str, check: str | None) -> None:
    assert [finding.check for finding in time_findings(text, "here")] == ([] if check is None else [check])


KEYS = st.sampled_from(["uco-core:name", "uco-action:result", "@id", "@type", "colour", "my:x", "@graph", "@value"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "kb:x", "a b", "uco-core:Bundle", "\u0000"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_any_json_is_judged_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    """A document with strange parts gives findings or a refusal, never another exception."""
    document = {**RUN, "@graph": [*RUN["@graph"][:2], value]}
    folder = tmp_path_factory.mktemp("strange")
    with suppress(FormatError):
        findings(document, folder)
