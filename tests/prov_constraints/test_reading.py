"""The same document in every format has the same verdict; what cannot be read is refused with its place."""

from __future__ import annotations

import random
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from prov.model import ProvDocument

from tests.prov_constraints.cases import INVALID, VALID
from tests.prov_constraints.generated import document, statements
from trace_prov.errors import FormatError, InputError, SourceError
from trace_prov.prov_constraints import check_file
from trace_prov.prov_constraints.reading import read_prov

EXAMPLE = Path(__file__).parent.parent / "data" / "prov_constraints" / "type-success2.provn"
DOCUMENTS = [*VALID.values(), *(lines for _, _, lines in INVALID)]
GENERATED = [statements(random.Random(f"reading {seed}")) for seed in range(60)]

#: What `prov` 3.2.3 writes in RDF without a word less than it has, or RDF cannot say: the verdict may change.
LOST_IN_RDF = {
    "wasDerivedFrom(ex:e2, -)",  # nothing is written
    "hadMember(ex:c, -)",  # nothing is written
    "alternateOf(ex:e, -)",  # nothing is written
    "wasEndedBy(ex:x, -, -, -)",  # nothing is written
    "wasAssociatedWith(ex:s; ex:a, ex:ag, -)",  # no way to say that there was no plan
    "wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, -, -)",  # nor, beside this, that there was no activity
}


def written(lines: list[str], path: Path, format: str, **options: str) -> Path:
    parsed = ProvDocument.deserialize(content=document(lines), format="provn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed.serialize(str(path), format=format, **options)
    return path


def valid(path: Path) -> bool:
    return all(report.valid for report in check_file(path))


@pytest.mark.parametrize(("format", "ending"), [("json", "json"), ("xml", "xml"), ("jsonld", "jsonld")])
def test_every_format_has_the_verdict_of_prov_n(format: str, ending: str, tmp_path: Path) -> None:
    for lines in [*DOCUMENTS, *GENERATED]:
        source = tmp_path / "document.provn"
        source.write_text(document(lines))
        assert valid(source) == valid(written(lines, tmp_path / f"document.{ending}", format)), lines


@pytest.mark.parametrize(
    ("rdf_format", "ending"), [("turtle", "ttl"), ("trig", "trig"), ("nquads", "nq"), ("xml", "rdf")]
)
def test_prov_o_has_the_verdict_of_prov_n(rdf_format: str, ending: str, tmp_path: Path) -> None:
    compared = 0
    for lines in [*DOCUMENTS, *GENERATED[:20]]:
        if LOST_IN_RDF & set(lines):
            continue
        source = tmp_path / "document.provn"
        source.write_text(document(lines))
        try:
            target = written(lines, tmp_path / f"document.{ending}", "rdf", rdf_format=rdf_format)
        except AssertionError:  # prov's own writer cannot
            continue
        compared += 1
        assert valid(source) == valid(target), lines
    assert compared > 80


def test_direct_and_qualified_forms_and_blank_events_are_one(tmp_path: Path) -> None:
    path = tmp_path / "run.ttl"
    path.write_text("""
        @prefix prov: <http://www.w3.org/ns/prov#> .
        @prefix ex: <http://example.org/> .
        ex:result a prov:Entity ; prov:wasGeneratedBy ex:call ;
            prov:qualifiedGeneration [ a prov:Generation ; prov:activity ex:call ] , ex:event .
        ex:event a prov:Generation ; prov:activity ex:call .
        ex:call a prov:Activity .
    """)
    assert valid(path)
    path.write_text(path.read_text() + "ex:result prov:qualifiedGeneration ex:other . ex:other prov:activity ex:call .")
    (report,) = check_file(path)
    assert [violation.constraint for violation in report.violations] == [24]


def test_named_graphs_are_bundles(tmp_path: Path) -> None:
    path = tmp_path / "bundles.trig"
    path.write_text("""
        @prefix prov: <http://www.w3.org/ns/prov#> .
        @prefix ex: <http://example.org/> .
        ex:x a prov:Entity .
        ex:bundle { ex:x a prov:Activity . ex:y a prov:Entity, prov:Activity . }
    """)
    reports = check_file(path)
    assert [(report.bundle, report.valid) for report in reports] == [(None, True), ("ex:bundle", False)]


BROKEN: dict[str, tuple[str, str]] = {
    "no-end.provn": ("document\nentity(ex:e\n", "line"),
    "undeclared-prefix.provn": ("document\nentity(ex:e)\nendDocument\n", "ex"),
    "cut.json": ('{"entity": {"ex:e": {}', "line 1"),
    "twice.json": ('{"prefix": {"ex": "http://example.org/"}, "entity": {"ex:e": {}, "ex:e": {}}}', "key ex:e"),
    "list.json": ("[1]", "PROV"),
    "cut.xml": ("<prov:document xmlns:prov='http://www.w3.org/ns/prov#'>", "PROV-XML"),
    "cut.ttl": ("@prefix ex: <http://example.org/> .\nex:a ex:b\n", "RDF in turtle"),
    "remote.jsonld": ('{"@context": "https://example.org/context.jsonld", "@id": "x:y"}', "@context"),
    "empty.txt": ("", "an empty file"),
    "prose.txt": ("Dear all", "Dear all"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, told = BROKEN[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read_prov(path)
    assert told in str(error.value)
    assert name in str(error.value)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        read_prov(tmp_path / "nothing.provn")
    (tmp_path / "bytes.provn").write_bytes(b"document \xff")
    with pytest.raises(SourceError, match="byte 9"):
        read_prov(tmp_path / "bytes.provn")


@pytest.mark.parametrize("seed", range(80))
def test_damage_never_ends_in_another_exception(seed: int, tmp_path: Path) -> None:
    """Cut, double or overwrite a piece of a file of each kind: it is read, or refused as the user's input."""
    rng = random.Random(seed)
    lines = statements(rng)
    format, ending = rng.choice([("provn", "provn"), ("json", "json"), ("xml", "xml"), ("rdf", "trig")])
    try:
        path = written(lines, tmp_path / f"document.{ending}", format)
    except AssertionError:  # prov's own writer cannot
        return
    text = path.read_text()
    place, length = rng.randrange(len(text)), rng.randint(1, 20)
    piece = rng.choice(["", text[place : place + length] * 2, "".join(rng.choices("{}[]()<>\"',;:-@#\\ x0", k=length))])
    path.write_text(text[:place] + piece + text[place + length :])
    with suppress(InputError):
        check_file(path)
