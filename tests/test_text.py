"""How recorded text is read (CONTRACT §1, §2)."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import LITERALS, result_texts
from trace_prov.common_lists import common_list
from trace_prov.derive.occurrence import Needle
from trace_prov.text import (
    ListElement,
    decoded_strings,
    split_list,
    split_yaml,
)

literals = st.sampled_from(LITERALS)
texts = result_texts(literals)


@pytest.mark.parametrize(
    ("text", "slices"),
    [
        ("- a\n- b\n", ["- a\n", "- b\n"]),
        ("\n\n- a: 1\n  b: 2\n- c\n", ["- a: 1\n  b: 2\n", "- c\n"]),
        ("  - a\n  - b", ["- a\n  ", "- b"]),
        ('- "a\n- b"\n- c\n', ['- "a\n- b"\n', "- c\n"]),
        ("- - 1\n  - 2\n- 3", ["- - 1\n  - 2\n", "- 3"]),
        ("- a\r\n- b\r\n", ["- a\r\n", "- b\r\n"]),
        ('["a", {"b": 1} ,3]', ['"a", ', '{"b": 1} ,', "3"]),
        ('\n [\n "a"\n]\n', ['"a"']),
        ("- 😀\n- é\n", ["- 😀\n", "- é\n"]),
    ],
)
def test_a_list_is_cut_at_its_elements(text: str, slices: list[str]) -> None:
    assert [element.text for element in split_list(text)] == slices


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        " [ ] ",
        "-a",
        "-",
        "- a\n: - [",
        "- *nobody",
        "['python', 'list']",
        '["a", NaN]',
        '["a"',
        "a: 1",
        "plain",
        "--- \n- a",
        "- a\n---\n- b",
    ],
)
def test_other_text_is_one_whole_record(text: str) -> None:
    assert split_list(text) == ()


@pytest.mark.parametrize(
    ("text", "strings"),
    [
        ('{"payee": "Caf\\u00e9\\/Bar", "payee": "x", "n": 5}', ("Café/Bar", "x")),
        ("a: 'it''s'\nb: \"x\\ty\"", ("it's", "x\ty")),
        ("{'message': 'sent'}", ("sent",)),
        ("folded\n  plain", ("folded plain",)),
        ("key: [a, {k: v}]", ("a", "v")),
        ("a: &x one\nb: *x", ("one",)),
        ("? &k [key, {a: b}]\n: v", ("v",)),
        ("? &k [key, {a: b}]\n: v\nother: *k", ("v", "key", "b")),
        ("? &k key\n: *k", ("key",)),
        ("&a [x, *a]", ("x",)),
        ("a: *nobody", ()),
        ("date: 2022-01-01\nn: 1.10", ("2022-01-01", "1.10")),
        ("a: b: c", ()),
    ],
)
def test_scalars_are_read_after_unescaping(text: str, strings: tuple[str, ...]) -> None:
    assert decoded_strings(text) == strings


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "- " * 200_000, "a: &a [*a]", "{[a]: b}"])
def test_hostile_nesting_is_read_or_refused_without_a_crash(text: str) -> None:
    split_list(text)
    decoded_strings(text)


@pytest.mark.parametrize(
    ("text", "strings"),
    [
        ("- &x one\n- a: *x\n- b", [("one",), ("one",), ("b",)]),
        ("- to: &p [a@x, {k: b@x}]\n- to: *p\n- [*p, c]\n", [("a@x", "b@x"), ("a@x", "b@x"), ("c", "a@x", "b@x")]),
        ("- &a\n  to: &b [one]\n- &a two\n- *b\n- *a\n", [("one",), ("two",), ("one",), ("two",)]),
        ("- ? &k [key]\n  : v\n- *k\n", [("v",), ("key",)]),
        ("- &a [one, &b [two, *a]]\n- *b\n", [("one", "two"), ("two", "one")]),
        ("- &a {*c : x}\n", None),
        ("- &c k\n- {*c : x}\n", [("k",), ("x",)]),
    ],
)
def test_an_alias_holds_what_it_stands_for(text: str, strings: list[tuple[str, ...]] | None) -> None:
    assert [element.strings for element in split_yaml(text)] == (strings or [])


def test_an_alias_bomb_costs_no_more_than_its_length() -> None:
    pairs = list(zip("abcdefgh", "bcdefghi", strict=True))
    bomb = "a: &a [x,x]\n" + "".join(f"{b}: &{b} [*{a},*{a}]\n" for a, b in pairs)
    assert decoded_strings(bomb) == ("x",)
    assert split_list("- &a [x,x]\n" + "".join(f"- &{b} [*{a},*{a}]\n" for a, b in pairs))[-1].strings == ("x",)


@pytest.mark.parametrize("held", ["x" * 20_000, "[" + ",".join(map(str, range(5_000))) + "]"])
def test_a_list_whose_aliases_repeat_beyond_all_proportion_is_one_whole_record(held: str) -> None:
    few, many = f"- &x {held}\n" + "- *x\n" * 3, f"- &x {held}\n" + "- *x\n" * 10_000
    assert len(split_list(few)) == 4
    assert split_list(many) == ()
    assert decoded_strings(many)[-1] == held.strip("[]").split(",")[-1]


@given(texts)
def test_splitting_agrees_with_reading_the_whole_list(text: str) -> None:
    """The reference reads objects and compares; slices tile the text from the first dash or character on."""
    elements = split_list(text)
    stripped = text.lstrip(" \t\r\n")
    if stripped.startswith("["):
        try:
            whole = json.loads(text)
        except ValueError:
            whole = []
    elif stripped.startswith("- "):
        try:
            whole = yaml.load(text, Loader=yaml.CBaseLoader)
        except yaml.YAMLError:
            whole = []
    else:
        whole = []
    assert len(elements) == len(whole)
    if elements:
        assert "".join(element.text for element in elements) in text
    for element, value in zip(elements, whole, strict=True):
        assert set(strings_of(element)) == set(_strings(value))


def strings_of(element: ListElement) -> tuple[str, ...]:
    return decoded_strings(element.text) if element.strings is None else element.strings


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for member in value.values() for text in _strings(member)]
    if isinstance(value, list):
        return [text for member in value for text in _strings(member)]
    return []


@given(literals, texts)
def test_what_is_ruled_out_without_reading_is_not_there(literal: str, text: str) -> None:
    if literal not in text and not Needle.of(literal).may_show(text):
        assert not any(literal in string for string in decoded_strings(text))
        assert not any(literal in string for element in split_list(text) for string in strings_of(element))


keys = st.sampled_from(["id", "to", "shared_with", "a.b", "k"])
scalars = st.one_of(literals, st.text(max_size=30), st.integers(), st.none(), st.dates(), st.just([]), st.just({}))
items = st.one_of(
    scalars,
    st.dictionaries(
        keys, st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(keys, scalars, max_size=2))
    ),
)


@given(st.lists(items, min_size=1, max_size=4), st.sampled_from([8, 30, 80]), st.booleans())
def test_what_the_fast_path_takes_for_a_list_is_one(value: list[object], width: int, unicode: bool) -> None:
    text = yaml.safe_dump(value, width=width, allow_unicode=unicode, default_flow_style=False)
    agrees_with_libyaml(text)


@given(st.text(alphabet="- a:#'\"\\\n\t[]{}&*!|>%@`?,.é\u2028", max_size=40).map(lambda text: "- " + text))
def test_the_fast_path_never_takes_what_libyaml_reads_otherwise(text: str) -> None:
    agrees_with_libyaml(text)


@given(
    st.lists(
        st.sampled_from(["- ", "a", "k: ", "k:", "\n", "\n  ", "\n    ", "  - ", "'", '"', "\\", " #", "''", "x y"]),
        max_size=14,
    )
)
def test_the_fast_path_agrees_on_text_made_of_its_own_parts(parts: list[str]) -> None:
    agrees_with_libyaml("- " + "".join(parts))


def agrees_with_libyaml(text: str) -> None:
    slices = common_list(text)
    if slices is not None:
        assert slices == [element.text for element in split_yaml(text)]
        for slice_, element in zip(slices, split_yaml(text), strict=True):
            assert decoded_strings(slice_) == element.strings
