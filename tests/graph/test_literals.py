"""Text as RDF literals: nothing is lost, nothing is confused, containment is kept."""

from __future__ import annotations

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from trace_prov.graph.literals import from_rdf, quoted, to_rdf

from .strategies import ODD_TEXTS

TEXTS = st.one_of(ODD_TEXTS, st.text(st.characters(codec=None)))


@given(TEXTS)
def test_every_text_comes_back_from_oxigraph_as_it_was(text: str) -> None:
    line = f"<urn:s> <urn:p> {quoted(to_rdf(text))} .\n".encode()
    store = pyoxigraph.Store()
    store.load(line, format=pyoxigraph.RdfFormat.N_QUADS)
    (quad,) = store.quads_for_pattern(None, None, None, None)
    assert isinstance(quad.object, pyoxigraph.Literal)
    assert from_rdf(quad.object.value) == text


@given(TEXTS)
def test_literals_are_written_as_oxigraph_writes_them(text: str) -> None:
    line = f"<urn:s> <urn:p> {quoted(to_rdf(text))} .\n".encode()
    quads = pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_QUADS)
    assert pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS) == line


@given(TEXTS, TEXTS, TEXTS)
def test_a_text_occurs_in_another_exactly_when_the_written_one_does(before: str, text: str, after: str) -> None:
    whole = before + text + after
    assert to_rdf(text) in to_rdf(whole)
    assert (to_rdf(after) in to_rdf(before)) == (after in before)
    assert to_rdf(before) + to_rdf(text) + to_rdf(after) == to_rdf(whole)


@given(TEXTS)
def test_other_private_use_characters_stay_as_they_are(text: str) -> None:
    plain = "".join(
        char for char in text if not "\ud800" <= char <= "\udfff" and not "\U0010f000" <= char <= "\U0010f040"
    )
    assert to_rdf(plain) == plain
