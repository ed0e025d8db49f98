"""Damaged and hostile files: refused with their name and a reason, or loaded whole; never an exception of ours."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from click.testing import CliRunner

from trace_prov.cli import main
from trace_prov.exchange.reading import read_document

CORE = "https://ontology.unifiedcyberontology.org/uco/core/"
ACTION = "https://ontology.unifiedcyberontology.org/uco/action/"
TOOL = "https://ontology.unifiedcyberontology.org/uco/tool/"
CONTEXT = f'{{"core":"{CORE}","action":"{ACTION}","tool":"{TOOL}","trace":"https://w3id.org/trace-prov/ontology#"}}'


def _nested_nodes(depth: int) -> str:
    start = '{"@id":"http://a/x","core:object":' * depth
    return f'{{"@context":{CONTEXT},"@graph":[{start}{{"@id":"http://a/y"}}{"}" * depth}]}}'


def _nested_bundles(depth: int) -> str:
    inner = "<p:bundleContent>" * depth + "</p:bundleContent>" * depth
    return f'<p:document xmlns:p="http://www.w3.org/ns/prov#">{inner}</p:document>'


def _entities(letters: str) -> str:
    """Each entity ten times the one before."""
    pairs = itertools.pairwise(letters)
    return "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairs)


XML = '<p:document xmlns:p="http://www.w3.org/ns/prov#" xmlns:x="http://x/"><p:entity p:id="x:e"><p:value>{}</p:value></p:entity></p:document>'  # noqa: E501
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "nodes.jsonld": (_nested_nodes(900), "nested too deeply"),
    "more-nodes.jsonld": (_nested_nodes(50_000), "nested too deeply"),
    "bundles.provx": (_nested_bundles(3_000), "a bundle in a bundle"),
    "bundles.json": ('{"bundle":{"a:b":' * 300 + "{}" + "}}" * 300, "a bundle in a bundle"),
    "arrays.json": ('{"entity":{"a:e":{"a:x":' + "[" * 50_000 + "]" * 50_000 + "}}}", "nested too deeply"),
    "laughs.provx": (f'<!DOCTYPE l [<!ENTITY a "lol">{_entities("abcdefghij")}]>{XML.format("&j;")}', "XML"),
    "file.provx": ('<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + XML.format("&a;"), "XML"),
    "word.json": ('{"bundle":{"a:b":"x"}}', "expected statements"),
    "sections.json": ('{"entity":[]}', "expected an object"),
    "null.json": ('{"entity":{"a:e":null}}', "expected an object"),
    "prefixes.json": ('{"prefix":[],"entity":{"a:e":{}}}', "prefix"),
    "long.json": ('{"prefix":{"a":"http://a/"},"entity":{"a:e":{"a:x":' + "9" * 6000 + "}}}", "4,300 digits"),
    "remote.jsonld": ('{"@context":"http://127.0.0.1:9/c","@id":"http://a/x"}', "inside the file"),
    "bytes.jsonld": (bytes(range(256)), "UTF-8"),
    "wide.json": ('{"entity":{}}'.encode("utf-16"), "UTF-8"),
    "nothing.json": ("", "an empty file"),
    "table.jsonld": (
        f'{{"@context":{CONTEXT},"@graph":[{{"@id":"http://a/x","@type":"action:Action",'
        '"trace:hasTable":{"@id":"http://a/t"}}]}',
        "externalReference",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_file_is_refused_by_name_and_the_next_one_loads(name: str, tmp_path: Path) -> None:
    content, words = REFUSED[name]
    path, good = tmp_path / name, tmp_path / "good.provn"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    good.write_text("document\nprefix a <http://a/>\nentity(a:e)\nendDocument\n")
    done = CliRunner().invoke(main, ["import", str(path), str(good), "--store", str(tmp_path / "store")])
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert f"error: {path}" in done.output
    assert words in done.output
    assert "good.provn: provn, 1 statements read, 1 kept" in done.output


def test_a_contradiction_in_a_call_leaves_the_document_loaded(tmp_path: Path) -> None:
    """Two names of one tool: a rule of CASE is broken, no statement is lost, no run is made up."""
    path = tmp_path / "names.jsonld"
    link = '{"@id":"http://a/t"}'
    path.write_text(
        f'{{"@context":{CONTEXT},"@graph":[{{"@id":"http://a/t","@type":"tool:Tool","core:name":["a","b"]}},'
        f'{{"@id":"http://a/x","@type":"action:Action","action:performer":{link},"action:instrument":{link}}}]}}'
    )
    imported = read_document(path)
    assert imported.runs == ()
    assert imported.read == imported.kept == 6
    assert any("one value, found 2" in note for note in imported.notes)


def test_numbers_that_json_lacks_are_written_as_xml_schema_has_them(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text('{"prefix":{"a":"http://a/"},"entity":{"a:e":{"a:x":NaN,"a:y":1e999}}}')
    values = {getattr(quad.object, "value", "") for quad in read_document(path).quads}
    assert {"NaN", "INF"} <= values


def test_control_characters_of_a_file_name_reach_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "red\x1b[31m.json"
    path.write_text("nothing")
    done = CliRunner().invoke(main, ["import", str(path), "--store", str(tmp_path / "store")])
    assert done.exit_code == 2
    assert "\x1b" not in done.output


@pytest.mark.parametrize("options", [[], ["--from-format", "case"], ["--from-format", "prov"]])
@pytest.mark.parametrize("name", ["missing.json", "folder.json"])
def test_what_is_no_file_is_told(name: str, options: list[str], tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    done = CliRunner().invoke(main, ["import", str(tmp_path / name), "--store", str(tmp_path / "store"), *options])
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert f"{name}: expected a readable file" in done.output


@pytest.mark.parametrize("name", ["names.ttl", "case.ttl"])
def test_relative_names_get_nothing_of_this_machine(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(
        f"@prefix action: <{ACTION}> . @prefix prov: <http://www.w3.org/ns/prov#> .\n"
        if name == "case.ttl"
        else "@prefix prov: <http://www.w3.org/ns/prov#> . @prefix action: <http://a/> .\n"
    )
    path.write_text(path.read_text() + "<#a> a action:Action ; prov:used <b> .\n")
    imported = read_document(path, "case" if name == "case.ttl" else None)
    assert not any(str(tmp_path) in str(quad) or "file:" in str(quad) for quad in imported.quads)
    assert any("2 relative names" in note for note in imported.notes)
