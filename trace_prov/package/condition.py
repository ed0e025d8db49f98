"""Conditions: which layers a package shows, what it redacts, how ids are labelled (CONTRACT §7)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from trace_prov.errors import FormatError, SourceError, UsageError
from trace_prov.model import TableState
from trace_prov.package.redact import Rule, RuleError, parse_rule

MAX_CONDITION_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")


class Labels(StrEnum):
    """How local ids are spelt in a package."""

    ORIGINAL = "original"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a package shows beside the ordered actions, the target and the declaration, which it always shows.

    `inputs` are the recorded inputs of the native sidecar with its id map. `rows` are the ids whose rows a partial
    table shows. With `declare_elements`, a list that is hidden as a whole tells how many elements it has.
    """

    name: str
    account: bool = False
    request: bool = False
    inputs: bool = False
    table: TableState = TableState.NONE
    labels: Labels = Labels.ORIGINAL
    rows: tuple[str, ...] = ()
    redact: tuple[Rule, ...] = ()
    declare_elements: bool = False


def _r(name: str, *, account: bool, native: bool) -> Condition:
    return Condition(name, account=account, request=native, inputs=native)


def _c(name: str, table: TableState, labels: Labels) -> Condition:
    return Condition(name, account=True, table=table, labels=labels)


#: The eight conditions of CONTRACT §7.
BUILT_IN: Mapping[str, Condition] = {
    condition.name: condition
    for condition in (
        _r("R00", account=False, native=False),
        _r("R10", account=True, native=False),
        _r("R01", account=False, native=True),
        _r("R11", account=True, native=True),
        _c("C00", TableState.NONE, Labels.ORIGINAL),
        _c("C10", TableState.COMPLETE, Labels.ORIGINAL),
        _c("C01", TableState.NONE, Labels.OPAQUE),
        _c("C11", TableState.COMPLETE, Labels.OPAQUE),
    )
}

_KEYS = ("name", "account", "request", "inputs", "native", "table", "rows", "labels", "redact", "declare_elements")


def condition_named(name: str) -> Condition:
    """A built-in condition, or the one that a TOML or YAML file defines.

    Raises UsageError when it is neither, FormatError with the key when the file is wrong.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    path = Path(name)
    if path.suffix.lower() not in (".toml", ".yaml", ".yml"):
        raise UsageError(
            f"no condition {name!r}; known: {', '.join(BUILT_IN)}, or a .toml or .yaml file that defines one"
        )
    return read_condition(path)


def read_condition(path: Path) -> Condition:
    """The condition that a file defines; raises SourceError or FormatError with the key that is wrong."""
    table = _parse(path)
    if not isinstance(table, dict):
        raise FormatError(str(path), expected=f"the keys {', '.join(_KEYS)}", found=_kind(table))
    reader = _Reader(str(path), table)
    reader.refuse_unknown()
    name = reader.text("name", path.stem)
    if _NAME.fullmatch(name) is None or name in BUILT_IN:
        raise FormatError(
            str(path),
            place="name",
            expected="a letter and up to 39 letters, digits, _, . or -, and none of the built-in names",
            found=repr(name),
        )
    native = reader.flag("native", False)
    condition = Condition(
        name=name,
        account=reader.flag("account", False),
        request=reader.flag("request", native),
        inputs=reader.flag("inputs", native),
        table=TableState(reader.choice("table", [str(state) for state in TableState], "none")),
        labels=Labels(reader.choice("labels", [str(kind) for kind in Labels], "original")),
        rows=reader.texts("rows"),
        redact=reader.rules("redact"),
        declare_elements=reader.flag("declare_elements", False),
    )
    _refuse_contradictions(str(path), condition)
    return condition


def _parse(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_CONDITION_BYTES:
            raise SourceError(str(path), expected=f"at most {MAX_CONDITION_BYTES:,} bytes", found="more")
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text) if path.suffix.lower() == ".toml" else yaml.safe_load(text)
    except OSError as error:
        raise SourceError(str(path), expected="a readable file", found=error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise FormatError(str(path), place=f"byte {error.start}", expected="UTF-8 text", found="other bytes") from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(str(path), expected="TOML", found=str(error)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = None if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        raise FormatError(str(path), place=place, expected="YAML", found=_problem(error)) from None
    except RecursionError:
        raise FormatError(str(path), expected="a few keys", found="brackets nested too deeply") from None


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or "another text").removeprefix("found ")


def _refuse_contradictions(source: str, condition: Condition) -> None:
    if condition.table is TableState.PARTIAL and not condition.rows:
        raise FormatError(
            source, place="rows", expected="the ids whose rows a partial table shows, such as in-2", found="none"
        )
    if condition.rows and condition.table is not TableState.PARTIAL:
        raise FormatError(source, place="rows", expected='table = "partial" beside it', found=f"{condition.table}")
    if condition.inputs and condition.table is TableState.PARTIAL:
        raise FormatError(
            source,
            place="inputs",
            expected="false where the table is partial",
            found="true",
            hint="the recorded inputs hold the whole id map",
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to the keys of a condition file; each refusal names the key."""

    source: str
    table: dict[Any, Any]

    def refuse_unknown(self) -> None:
        for key in self.table:
            if key not in _KEYS:
                raise FormatError(
                    self.source, place=str(key), expected=f"one of {', '.join(_KEYS)}", found=repr(str(key))
                )

    def refuse(self, key: str, expected: str) -> FormatError:
        return FormatError(self.source, place=key, expected=expected, found=_shown(self.table[key]))

    def flag(self, key: str, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise self.refuse(key, "true or false")
        return value

    def text(self, key: str, default: str) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise self.refuse(key, "a text")
        return value

    def choice(self, key: str, known: list[str], default: str) -> str:
        value = self.table.get(key, default)
        if value not in known:
            raise self.refuse(key, f"one of {', '.join(known)}")
        return str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        if not isinstance(value, list):
            raise self.refuse(key, "a list of texts")
        for number, item in enumerate(value, start=1):
            if not isinstance(item, str):
                raise FormatError(self.source, place=f"{key}, item {number}", expected="a text", found=_shown(item))
        return tuple(value)

    def rules(self, key: str) -> tuple[Rule, ...]:
        rules = []
        for number, text in enumerate(self.texts(key), start=1):
            try:
                rules.append(parse_rule(text))
            except RuleError as error:
                raise FormatError(
                    self.source, place=f"{key}, item {number}", expected=error.expected, found=repr(text)
                ) from None
        return tuple(rules)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (str, bool, int, float)) else _kind(value)


def _kind(value: Any) -> str:
    names = {dict: "a table", list: "a list", str: "a text", type(None): "nothing"}
    return names.get(type(value), type(value).__name__)
