"""Packages forged by someone who makes everything else fit: counts, both graph forms, manifests, total.

What is left is what no log and no condition give: `validate` names it by its rule, whichever engine runs the shapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.package.cases import package_of, small_run
from trace_prov.errors import PackageError
from trace_prov.model import TableState
from trace_prov.package.bag import (
    EVIDENCE,
    JSON_LD,
    MANIFEST,
    TAG_MANIFEST,
    TRIG,
    PackageFolder,
    tag_files,
    write_package,
)
from trace_prov.package.build import case_id
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.evidence import package_from_bytes
from trace_prov.package.graph import package_to_quads, to_jsonld, to_trig
from trace_prov.package.shacl import Grade
from trace_prov.package.validate import Report, validate_package

Body = dict[str, Any]
Change = Callable[[Body], object]

REQUEST = "Pay the rent to my landlord as in the notice of 2022-01-01."
OWN = Condition("own-1", account=True, table=TableState.COMPLETE, labels=Labels.OPAQUE)


def action(body: Body, number: int) -> Body:
    found: Body = body["record"]["actions"][number - 1]
    return found


def result(body: Body, number: int) -> Body:
    found: Body = action(body, number)["result"]
    return found


def line(what: str, state: str = "redacted", why: str = "redaction", **more: object) -> Body:
    return {"what": what, "state": state, "why": why, **more}


def declares(*locators: str) -> Change:
    def change(body: Body) -> None:
        result(body, 2)["declares"] = list(locators)
        body["withheld"][-1]["declares"] = list(locators)

    return change


def basis_of_the_last(text: str, state: str = "malformed", *ids: str) -> Change:
    """Another Basis of the third call, in the account's text too."""

    def change(body: Body) -> None:
        account = body["accounts"][1]
        account["text"] = re.sub("Basis:.*", f"Basis: {text}", account["text"])
        account["basis"] = {"state": state, "ids": list(ids), "text": text}

    return change


def note(new: str, *kept: str) -> Change:
    """In the first Note, `new` in place of the form that it names; `kept` are words said to be kept."""

    def change(body: Body) -> None:
        for part in ("text", "note"):
            body["accounts"][0][part] = body["accounts"][0][part].replace("covid-19", new)
        body["kept_words"] = sorted({*body["kept_words"], *kept} - {"covid-19"})

    return change


def relabelled(labels: Callable[[list[str]], list[str]]) -> Change:
    """Every label another, all over the package."""

    def change(body: Body) -> None:
        text = json.dumps(body)
        old = sorted(set(re.findall("ref_[0-9a-f]{16}", text)))
        new = dict(zip(old, labels(old), strict=True))
        body.update(json.loads(re.sub("ref_[0-9a-f]{16}", lambda match: new[match[0]], text)))

    return change


def account_of_the_third(**parts: object) -> Change:
    return lambda b: b["accounts"].__setitem__(1, {"actions": ["act-03"], **parts})


def two_accounts(body: Body) -> None:
    body["accounts"][0]["actions"] = ["act-01"]
    other = {
        "actions": ["act-02"],
        "text": "Basis: [in-2]",
        "basis": {"state": "ids", "ids": ["in-2"], "text": "[in-2]"},
    }
    body["accounts"].insert(1, other)


def with_arguments_text(number: int, text: str) -> Change:
    def change(body: Body) -> None:
        call = action(body, number)
        after = call.pop("result")
        call.update(arguments_text=text, result=after)

    return change


#: what -> (condition, redactions, change, the rule that names it, what is told)
FORGED: dict[str, tuple[str | Condition, tuple[str, ...], Change, str, str]] = {
    "a condition named by a sentence": (
        OWN, (), lambda b: b["contract"].update(condition="act-01.result is the answer"), "package", "condition",
    ),
    "a condition named by the request": (OWN, (), lambda b: b["contract"].update(condition=REQUEST), "package", "name"),
    "a condition that looks like C10": (
        "C10", (), lambda b: b["contract"].update(condition="\u041510"), "package", "name",
    ),
    "a condition without a name": ("C10", (), lambda b: b["contract"].update(condition=""), "package", "name"),
    "the request in the declaration": (
        "C10", (), lambda b: b["withheld"].append(line(f"{REQUEST}.arguments")), "declaration", REQUEST,
    ),
    "arguments declared as hidden and shown": (
        "C10", (), lambda b: b["withheld"].append(line("act-03.arguments")), "declaration", "act-03.arguments",
    ),
    "a line of the declaration twice": (
        "C10", (), lambda b: b["withheld"].append(b["withheld"][0]), "declaration", "request",
    ),
    "the declaration in another order": ("C10", (), lambda b: b["withheld"].reverse(), "declaration", "line 1"),
    "a layer that another hides": ("C10", (), lambda b: b["withheld"][0].update(why="log"), "declaration", "layer"),
    "a layer hidden in another way": (
        "C10", (), lambda b: b["withheld"][0].update(state="redacted"), "declaration", "layer",
    ),
    "elements of a layer": (
        "C10", (), lambda b: b["withheld"][0].update(declares=["act-01.result[3]"]), "declaration", "act-01.result[3]",
    ),
    "the request as an id": ("C10", (), lambda b: b["bindings"][0].update(id=REQUEST), "bindings", "a text is none"),
    "an id of nothing": ("C10", (), lambda b: b["bindings"][0].update(id=""), "bindings", "''"),
    "a word as an id": ("C10", (), lambda b: b["bindings"][4].update(id="request"), "bindings", "digit"),
    "an id of wide letters": ("C10", (), lambda b: b["bindings"][4].update(id="\uff49\uff4e-5"), "bindings", "id"),
    "an id of another alphabet": ("C10", (), lambda b: b["bindings"][4].update(id="\u0456n-5"), "bindings", "id"),
    "an id with what is not seen": ("C10", (), lambda b: b["bindings"][4].update(id="in-5\u200b"), "bindings", "id"),
    "rows in another order": ("C10", (), lambda b: b["bindings"].reverse(), "bindings", "order"),
    "a row twice": ("C10", (), lambda b: b["bindings"].append(b["bindings"][0]), "bindings", "one place"),
    "two locators of an id": (
        "C10", (), lambda b: b["bindings"].insert(2, {"id": "in-2", "locator": "act-03.result"}), "bindings",
        "one locator",
    ),
    "a row for a turn that is not there": (
        "C10", (), lambda b: b["bindings"].append({"id": "in-9", "locator": "request.user[4]"}), "bindings",
        "no record",
    ),
    "a row for an element that was not made known": (
        Condition("own", account=True, table=TableState.COMPLETE, declare_elements=True), ("act-02.result",),
        lambda b: b["bindings"].append({"id": "in-9", "locator": "act-02.result[7]"}), "bindings", "no record",
    ),
    "inputs without id map": (
        "R11", (), lambda b: b["native"].update(id_map_state="none"), "inputs-shown", "no id map",
    ),
    "a row without input": ("R11", (), lambda b: b["native"]["inputs"].pop(), "inputs-shown", "recorded input"),
    "an input twice": (
        "R11", (), lambda b: b["native"]["inputs"].append(b["native"]["inputs"][0]), "inputs-shown", "twice",
    ),
    "turn 3 of one": ("C10", (), lambda b: b["record"]["turns"][0].update(number=3), "record", "turn"),
    "a turn after the end": ("C10", (), lambda b: b["record"]["turns"][0].update(after_step=99), "record", "99"),
    "a result after the end": ("C10", (), lambda b: result(b, 1).update(after_step=99), "record", "99"),
    "a result before its call": ("C10", (), lambda b: result(b, 3).update(after_step=0), "record", "before its call"),
    "two deliveries in one place": ("C10", (), lambda b: result(b, 1).update(order=2), "record", "deliveries"),
    "a date as the place of a delivery": (
        "C10", (), lambda b: result(b, 3).update(order=20220101), "record", "deliveries",
    ),
    "deliveries against their steps": (
        "C10", (), lambda b: (result(b, 1).update(order=3), result(b, 3).update(order=1)), "record", "follow",
    ),
    "a step left out": ("C10", (), lambda b: action(b, 3).update(step=7), "record", "step"),
    "steps backwards": (
        "C10", (), lambda b: [action(b, n).update(step=3 - (n + 1) // 2) for n in (1, 2, 3)], "record", "step",
    ),
    "two accounts of one message": ("C10", (), two_accounts, "account-shown", "different"),
    "an account of one call of two": (
        "C10", (),
        lambda b: (b["accounts"][0].update(actions=["act-01"]),
                   b["withheld"].append(line("act-02.account", "withheld"))),
        "account-shown", "different",
    ),
    "parts of an account without its text": (
        "C10", (), lambda b: b["accounts"][1].pop("text"), "account-shown", "text",
    ),
    "a Note without an account": (
        "C10", (), account_of_the_third(note="an attack", basis={"state": "missing", "ids": []}), "account-shown",
        "text",
    ),
    "ids without an account": (
        "C10", (), account_of_the_third(basis={"state": "ids", "ids": ["in-2"]}), "account-shown", "act-03",
    ),
    "a text of a Basis that is missing": (
        "C10", (), account_of_the_third(basis={"state": "missing", "ids": [], "text": "x"}), "account-shown", "missing",
    ),
    "an argument twice": (
        "C10", (), lambda b: action(b, 1)["arguments"].append({"name": "file_path", "value": "x"}), "record",
        "file_path",
    ),
    "a text beside the arguments": ("C10", (), with_arguments_text(1, "an attack"), "record", "beside"),
    "a text that tells a hidden argument": (
        "C10", ("act-03.argument.body",), with_arguments_text(3, '{"body": "rent"}'), "record", "beside",
    ),
    "a value told as the text of one": (
        "C10", (),
        lambda b: action(b, 1).update(arguments=[{"name": "file_path", "value_text": '"notice.txt"'}]),
        "evidence", "not written",
    ),
    "a result of a call that never got one": (
        "C10", (),
        lambda b: (result(b, 3).pop("text"), result(b, 3).update(state="absent"),
                   b["withheld"].append(line("act-03.result", "absent", "log"))),
        "record", "never got one",
    ),
    "elements of a result that is shown": (
        "C10", (), lambda b: result(b, 1).update(declares=["act-01.result[1]"]), "declaration", "act-01.result",
    ),
    "elements of another result": ("C10", ("act-02.result",), declares("act-01.result[5]"), "declaration", "act-01"),
    "elements that count something": (
        "C10", ("act-02.result",), declares("act-02.result[5]", "act-02.result[2022]"), "declaration", "from 1",
    ),
    "elements of the request": ("C10", ("act-02.result",), declares("request.user[3]"), "declaration", "request.user"),
    "a kept word that nothing holds": ("C01", (), lambda b: b["kept_words"].append("in-2"), "labels-opaque", "in-2"),
    "a kept word inside another": ("C01", (), lambda b: b["kept_words"].append("covid-1"), "labels-opaque", "covid-1"),
    "a kept word that reads like none": ("C01", (), lambda b: b["kept_words"].append("form"), "labels-opaque", "form"),
    "kept words in another order": ("C01", (), lambda b: b["kept_words"].reverse(), "labels-opaque", "order"),
    "labels in another order": ("C11", (), relabelled(lambda old: old[::-1]), "labels-opaque", "order"),
    "labels without digits": (
        "C11", (), relabelled(lambda old: [f"ref_{letter * 16}" for letter, _ in zip("abcdef", old, strict=False)]),
        "bindings", "digit",
    ),
    "a label that is of no id": ("C11", (), note("ref_0123456789abcdef"), "labels-opaque", "no id"),
    "an original id in a malformed Basis": ("C01", (), basis_of_the_last("[in-2, none"), "labels-opaque", "in-2"),
    "another hyphen in a malformed Basis": (
        "C01", (), basis_of_the_last("[in\u20112, none"), "labels-opaque", "in\u20112",
    ),
    **{
        f"an original id as {found!r}": ("C01", (), note(found), "labels-opaque", repr(found)[1:-1])
        for found in (
            "in-2", "IN-2", "xin-2y", "\u0456n-2", "\uff49\uff4e\uff0d\uff12", "in\u20112", "in\u20132", "in\u22122",
            "in-\uff12", "in-\u0662", "in-\u200d2", "in\u00ad-\u00ad2", "in-\u00b2", "in-\u03382", "in%2D2", "aW4tMg==",
            "ref_0123456789abcdef0", "ref_0123456789abcdef-2", "REF_0123456789ABCDEF", "in-2ref_0123456789abcdef",
        )
    },
}  # fmt: skip


def counted(body: Body) -> None:
    """The counts that fit."""
    record, native = body["record"], body.get("native", {})
    results = [call["result"] for call in record["actions"] if call["result"] is not None]
    body["counts"].update(
        actions=len(record["actions"]),
        results=len(results),
        records=sum(len(one.get("elements", [one])) for one in results if one.get("state") != "absent"),
        turns=len(record["turns"]),
        accounts=len(body.get("accounts", [])),
        rows=len(body.get("bindings", native.get("id_map", []))),
        inputs=len(native.get("inputs", [])),
    )


def forge(folder: Path, data: bytes) -> None:
    """The folder of a package with this evidence, and everything else as if it had been made for it."""
    (folder / EVIDENCE).write_bytes(data)
    try:
        quads = package_to_quads(package_from_bytes(data))
    except PackageError:
        pass
    else:
        (folder / TRIG).write_bytes(to_trig(quads))
        (folder / JSON_LD).write_bytes(to_jsonld(quads))
    bagged(folder)


def bagged(folder: Path) -> None:
    for name, data in tag_files(PackageFolder(folder)).items():
        (folder / name).write_bytes(data)


def forged(tmp_path: Path, condition: str | Condition, redactions: tuple[str, ...], change: Change) -> Path:
    folder = tmp_path / "package"
    write_package(package_of(small_run(), condition, *redactions), folder)
    body = json.loads((folder / EVIDENCE).read_text(encoding="utf-8"))
    change(body)
    counted(body)
    forge(folder, (json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n").encode())
    return folder


def required(report: Report) -> list[tuple[str, str]]:
    return [(v.rule, f"{v.place} {v.message}") for v in report.violations if v.grade is Grade.REQUIRED]


@pytest.mark.parametrize("name", FORGED)
def test_what_no_log_gives_is_named(name: str, tmp_path: Path) -> None:
    condition, redactions, change, rule, told = FORGED[name]
    found = required(validate_package(forged(tmp_path, condition, redactions, change)))
    assert [words for named, words in found if named == rule and told in words], found
    # Nothing else gives it away: the rest of the forgery fits.
    assert not {named for named, _ in found} & {"graph", "bag"}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGED)
def test_the_reference_engine_names_it_too(name: str, tmp_path: Path) -> None:
    condition, redactions, change, rule, told = FORGED[name]
    found = required(validate_package(forged(tmp_path, condition, redactions, change), "pyshacl"))
    assert [words for named, words in found if named == rule and told in words], found


def test_a_forgery_that_changes_nothing_conforms(tmp_path: Path) -> None:
    conditions: tuple[str | Condition, ...] = (*BUILT_IN, OWN)
    for number, condition in enumerate(conditions):
        assert validate_package(forged(tmp_path / str(number), condition, (), lambda body: None)).conforms


#: Evidence that another log could have given, or that the package says openly: told, or not to be told from it.
OPEN: dict[str, tuple[str, Change, str | None]] = {
    "a table said to be a part": (
        "C10",
        lambda b: (b["contract"].update(table="partial"),
                   b["withheld"].append(line("binding table", "cut", "condition"))),
        "C10",
    ),
    "a table said to be lacking": (
        "C10",
        lambda b: (b["contract"].update(table="not recorded"), b.pop("bindings"),
                   b["withheld"].append(line("binding table", "absent", "log"))),
        "C10",
    ),
    "an id map said to be a part": ("R11", lambda b: b["native"].update(id_map_state="partial"), "R11"),
    "an account said to be lacking": (
        "C10",
        lambda b: (b["contract"].update(account="not recorded"), b.pop("accounts"),
                   b["withheld"].insert(0, line("account", "absent", "log"))),
        "C10",
    ),
    "a row taken out, which is cited": ("C10", lambda b: b["bindings"].pop(1), "table-complete"),
    "a channel that is a sentence": (
        "R11", lambda b: b["native"]["inputs"][1].update(channel="tool, under attack"), "inputs-shown",
    ),
    "an input of another text": (
        "R11", lambda b: b["native"]["inputs"][1].update(text="Basis: [in-1]"), "inputs-shown",
    ),
    "an original id said to be a word": ("C01", note("in-2", "in-2"), "labels-opaque"),
    "an original id that is spelt out": ("C01", note("the second input"), None),
    "a row taken out, which is not cited": ("C10", lambda b: b["bindings"].pop(2), None),
    "another text of a result": ("C10", lambda b: result(b, 3).update(text="not sent"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_what_another_log_may_give_breaks_no_rule(name: str, tmp_path: Path) -> None:
    condition, change, rule = OPEN[name]
    report = validate_package(forged(tmp_path, condition, (), change))
    assert report.conforms, report.violations
    assert rule is None or rule in {item.rule for item in report.violations if item.grade is not Grade.REQUIRED}
    assert report.broken(Grade.OPTIONAL) is bool(report.violations)


RAW: dict[str, Callable[[bytes], bytes]] = {
    "a member told twice": lambda d: d.replace(b'{"id":"in-1"', b'{"id":"Pay the rent","id":"in-1"'),
    "a format told twice": lambda d: d.replace(b'{"format":', b'{"format":"the answer is act-01","format":'),
    "an escape": lambda d: d.replace(b"in-1", b"in\\u002d1"),
    "a blank": lambda d: d.replace(b'":"', b'": "', 1),
    "blanks at the end": lambda d: d + b" \t\n",
    "no line end": lambda d: d[:-1],
    "a byte order mark": lambda d: b"\xef\xbb\xbf" + d,
    "UTF-16": lambda d: d.decode().encode("utf-16"),
    "a second document": lambda d: d + b'{"attack":1}\n',
    "another spelling of a number": lambda d: d.replace(b'"value":10}', b'"value":1e1}'),
    "no number": lambda d: d.replace(b'"value":10}', b'"value":NaN}'),
    "a number of 5,000 digits": lambda d: d.replace(b'"value":10}', b'"value":' + b"9" * 5000 + b"}"),
    "brackets without end": lambda d: d.replace(b'"value":10}', b'"value":' + b"[" * 100_000 + b"}"),
    "a count that is true": lambda d: d.replace(b'"actions":3', b'"actions":true'),
    "null": lambda d: b"null\n",
    "nothing": lambda d: b"",
}


@pytest.mark.parametrize("name", RAW)
def test_evidence_in_another_form_is_named(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    write_package(package_of(small_run(), "C10"), folder)
    data = RAW[name]((folder / EVIDENCE).read_bytes())
    assert data != (folder / EVIDENCE).read_bytes()
    forge(folder, data)
    assert "evidence" in {rule for rule, _ in required(validate_package(folder))}


TAGS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a value in bag-info": ("bag-info.txt", lambda t: t.replace("trace-prov", "trace-prov; attack: yes")),
    "a key twice": ("bag-info.txt", lambda t: f"Bag-Software-Agent: Pay the rent\n{t}"),
    "a folded line": ("bag-info.txt", lambda t: t.replace("\n", "\n  Pay the rent\n", 1)),
    "a key in other letters": ("bag-info.txt", lambda t: t.replace("Bag-S", "bag-s")),
    "no total": ("bag-info.txt", lambda t: t.splitlines(True)[0]),
    "blank lines": ("bag-info.txt", lambda t: f"{t} \t\n"),
    "nothing in bag-info": ("bag-info.txt", lambda t: ""),
    "a comment in a manifest": (MANIFEST, lambda t: f"{t}# Pay the rent\n"),
    "a manifest in another order": (MANIFEST, lambda t: "".join(reversed(t.splitlines(True)))),
    "digests in capitals": (MANIFEST, lambda t: "".join(line[:64].upper() + line[64:] for line in t.splitlines(True))),
    "blanks in a manifest": (MANIFEST, lambda t: t.replace("  ", " \t ")),
    "stars in a manifest": (MANIFEST, lambda t: t.replace("  ", " *")),
    "another spelling of a path": (MANIFEST, lambda t: t.replace("  data/", "  ./data/")),
    "a comment in the tag manifest": (TAG_MANIFEST, lambda t: f"# Pay the rent\n{t}"),
    "an entry less in the tag manifest": (TAG_MANIFEST, lambda t: "".join(t.splitlines(True)[1:])),
    "an empty tag manifest": (TAG_MANIFEST, lambda t: ""),
    "an entry for a file outside": (TAG_MANIFEST, lambda t: f"{t}{'0' * 64}  ../x.txt\n"),
}


@pytest.mark.parametrize("name", TAGS)
def test_tag_files_hold_nothing_of_their_own(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    write_package(package_of(small_run(), "C10"), folder)
    file, change = TAGS[name]
    text = change((folder / file).read_text())
    assert text != (folder / file).read_text()
    (folder / file).write_text(text)
    if file != TAG_MANIFEST:
        (folder / TAG_MANIFEST).write_bytes(_tag_manifest(folder))
    found = required(validate_package(folder))
    assert {rule for rule, _ in found} == {"bag"}, found


LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
GRAPHS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a comment at the head": (TRIG, lambda t: f"# act-01.result is the answer\n{t}"),
    "a base": (TRIG, lambda t: f"@base <http://attack.example/> .\n{t}"),
    "a prefix": (TRIG, lambda t: f"@prefix attack: <http://attack.example/> .\n{t}"),
    "a label": (TRIG, lambda t: t.replace('"act-01" ;', f'"act-01" ;\n    {LABEL} "injected" ;', 1)),
    "another graph": (TRIG, lambda t: f'{t}\n<urn:x:attack> {{ <urn:x> <urn:y> "Pay the rent" }}\n'),
    "the graph without a name": (TRIG, lambda t: f'{t}\n<urn:x> <urn:y> "Pay the rent" .\n'),
    "a blank node": (TRIG, lambda t: f'{t}\n[] {LABEL} "Pay the rent" .\n'),
    "a text in an IRI": (TRIG, lambda t: f"{t}\n<urn:x> <urn:Pay%20the%20rent> <urn:z> .\n"),
    "a language": (TRIG, lambda t: t.replace('trace:actionId "act-01"', 'trace:actionId "act-01"@en')),
    "another type of a number": (TRIG, lambda t: t.replace("trace:number 1 ", 'trace:number "1"^^<urn:attack> ', 1)),
    "an escape in a text": (TRIG, lambda t: t.replace('"act-01"', '"act\\u002D01"', 1)),
    "a blank line": (TRIG, lambda t: f"{t}\n"),
    "another row": (TRIG, lambda t: t.replace('trace:localId "in-3"', 'trace:localId "in-33"')),
    "nothing": (TRIG, lambda t: ""),
    "another context": (JSON_LD, lambda t: t.replace('"@context": {', '"@context": {\n  "attack": "http://x.example/",')),
    "a context elsewhere": (JSON_LD, lambda t: '{"@context": "http://127.0.0.1:9/context", "@graph": []}'),
    "a member that readers pass over": (JSON_LD, lambda t: t.replace("{", '{"comment": "Pay the rent",', 1)),
    "a statement told twice": (
        JSON_LD, lambda t: t.replace('"trace:actionId": "act-01"', '"trace:actionId": "x", "trace:actionId": "act-01"'),
    ),
    "another row in JSON-LD": (JSON_LD, lambda t: t.replace('"trace:localId": "in-3"', '"trace:localId": "in-33"')),
    "an included node": (
        JSON_LD, lambda t: t.replace("{", '{"@included": [{"@id": "urn:x", "urn:y": "Pay the rent"}],', 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_forms_hold_nothing_of_their_own(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    write_package(package_of(small_run(), "C10"), folder)
    file, change = GRAPHS[name]
    text = change((folder / file).read_text(encoding="utf-8"))
    assert text != (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text(text, encoding="utf-8")
    bagged(folder)
    found = required(validate_package(folder))
    assert [words for rule, words in found if rule == "graph" and file in words], found


def _tag_manifest(folder: Path) -> bytes:
    """The one that lists the tag files as they are."""
    from trace_prov.seal.sealing import write_tag_manifest

    write_tag_manifest(folder)
    return (folder / TAG_MANIFEST).read_bytes()


@pytest.mark.parametrize("below", ["data/attack=x", "data/.x/y", "seal", "seal/attack=x", ".git"])
def test_empty_folders_are_named(below: str, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    write_package(package_of(small_run(), "C10"), folder)
    (folder / below).mkdir(parents=True)
    assert required(validate_package(folder))


def test_labels_are_those_of_the_case_where_it_is_known(tmp_path: Path) -> None:
    case = case_id(small_run().source)
    for number, (condition, labels) in enumerate(
        (condition, labels)
        for condition in ("C01", "C11")
        for labels in (
            lambda old: [f"ref_{n:016d}" for n, _ in enumerate(old)],
            lambda old: [f"ref_{f'in-{n}'.encode().hex():0<16}" for n, _ in enumerate(old)],
        )
    ):
        folder = forged(tmp_path / str(number), condition, (), relabelled(labels))
        assert validate_package(folder).conforms  # any such labels could be some case's
        told = required(validate_package(folder, case=case))
        assert {rule for rule, _ in told} == {"labels-opaque"}
        assert case in told[0][1]
    sound = forged(tmp_path / "sound", "C11", (), lambda body: None)
    assert validate_package(sound, case=case).conforms
    assert not validate_package(sound, case="another").conforms
