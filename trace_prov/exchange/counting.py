"""How many statements a PROV file makes, counted in the file itself: what a reader gave must be as many.

Readers of PROV-JSON drop nulls and disagree on keys without a prefix, so both are refused with their place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from trace_prov.errors import FormatError

_PROV = "{http://www.w3.org/ns/prov#}"


def strict_json(source: str, text: str) -> Any:
    """The value of a JSON text; raises FormatError, also for a key that stands twice in one object."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise FormatError(source, place=f"key {twice}", expected="each key once", found="the same key twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise FormatError(source, place=place, expected="JSON", found=error.msg) from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise FormatError(source, expected="numbers of at most 4,300 digits", found="a longer one") from None
    except RecursionError:
        raise FormatError(source, expected="JSON", found="values nested too deeply") from None


def count_prov_json(source: str, text: str) -> int:
    """Statements of a PROV-JSON document (the member submission, 2.2), those in bundles among them."""
    body = strict_json(source, text)
    if not isinstance(body, dict):
        raise FormatError(source, expected="a JSON object", found=type(body).__name__)
    return _count_container(source, body, default=_has_default(body))


def _has_default(container: dict[str, Any]) -> bool:
    """Whether names without a prefix have a namespace here."""
    prefixes = container.get("prefix", {})
    return isinstance(prefixes, dict) and "default" in prefixes


def _count_container(source: str, body: dict[str, Any], *, default: bool, in_bundle: bool = False) -> int:
    count = 0
    for section, statements in body.items():
        if section == "prefix":
            continue
        if not isinstance(statements, dict):
            raise FormatError(source, place=section, expected="an object", found=json.dumps(statements)[:40])
        for identifier, value in statements.items():
            if section == "bundle":
                if in_bundle or not isinstance(value, dict):
                    found = "a bundle in a bundle" if in_bundle else json.dumps(value)[:40]
                    raise FormatError(source, place=f"bundle {identifier}", expected="statements", found=found)
                own = default or _has_default(value)
                count += _count_container(source, value, default=own, in_bundle=True)
                continue
            for statement in value if isinstance(value, list) else [value]:
                _check_keys(source, f"{section} {identifier}", statement, default=default)
                members = statement.get("prov:entity") if section == "hadMember" else None
                count += len(members) if isinstance(members, list) else 1
    return count


def _check_keys(source: str, place: str, statement: Any, *, default: bool) -> None:
    if not isinstance(statement, dict):
        raise FormatError(source, place=place, expected="an object", found=json.dumps(statement)[:40])
    for key, value in statement.items():
        if ":" not in key and not default:
            raise FormatError(source, place=f"{place}, key {key}", expected="a key with a prefix", found="one without")
        for item in value if isinstance(value, list) else [value]:
            if item is None or (isinstance(item, dict) and item.get("$", "") is None):
                raise FormatError(source, place=f"{place}, {key}", expected="a value", found="null, which is dropped")


def count_prov_xml(source: str, text: str) -> int:
    """Statements of a PROV-XML document: the elements of the document and of each bundleContent."""
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        line, column = error.position
        raise FormatError(source, place=f"line {line}, column {column}", expected="XML", found=str(error)) from None
    return _count_elements(source, root)


def _count_elements(source: str, container: ElementTree.Element, *, in_bundle: bool = False) -> int:
    count = 0
    for child in container:
        if child.tag == f"{_PROV}bundleContent":
            if in_bundle:
                raise FormatError(source, expected="statements in a bundle", found="a bundle in a bundle")
            count += _count_elements(source, child, in_bundle=True)
        elif child.tag == f"{_PROV}hadMember":
            count += len(child.findall(f"{_PROV}entity"))
        elif child.tag != f"{_PROV}other":
            count += 1
    return count


def count_prov_jsonld(source: str, text: str) -> int:
    """Statements of a PROV-JSONLD document: the nodes of its graph and of each bundle's."""
    body = strict_json(source, text)
    return _count_nodes(body.get("@graph", [])) if isinstance(body, dict) else 0


def _count_nodes(nodes: list[Any]) -> int:
    return sum(
        _count_nodes(node["@graph"]) if isinstance(node, dict) and "@graph" in node else 1
        for node in nodes
    )  # fmt: skip


#: format of the `prov` library -> the count; PROV-N has a grammar, whose parser refuses what it does not know.
COUNTERS: dict[str, Callable[[str, str], int]] = {
    "json": count_prov_json,
    "jsonld": count_prov_jsonld,
    "xml": count_prov_xml,
}
