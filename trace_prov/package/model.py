"""What an evidence package is made of: its claims, its declaration, its counts and the run as far as it is visible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from trace_prov.finding import Target
from trace_prov.model import Locator, RecordState, Run, TableState
from trace_prov.package.condition import Labels

#: Where the run graph of a package says that it comes from.
SOURCE_NAME = "evidence.json"
SOURCE_FORMAT = "trace-prov-evidence"


class Layer(StrEnum):
    """Whether a layer is there to see. `not recorded`: the condition would show it, the log holds none."""

    SHOWN = "shown"
    WITHHELD = "withheld"
    NOT_RECORDED = "not recorded"


class Why(StrEnum):
    """Why something is hidden."""

    CONDITION = "condition"
    REDACTION = "redaction"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Contract:
    """What a package claims to show; the shapes of its condition and layers check it."""

    condition: str
    account: Layer
    request: Layer
    inputs: Layer
    table: TableState | Layer
    labels: Labels


def contract_from(claims: Mapping[str, str]) -> Contract:
    """A contract from its claims as text; raises KeyError or ValueError for what is none."""
    table = claims["table"]
    return Contract(
        condition=claims["condition"],
        account=Layer(claims["account"]),
        request=Layer(claims["request"]),
        inputs=Layer(claims["inputs"]),
        table=TableState(table) if table in ("complete", "partial", "none") else Layer(table),
        labels=Labels(claims["labels"]),
    )


@dataclass(frozen=True, slots=True)
class Withheld:
    """A line of the declaration: a layer or an address that is hidden, how, and why.

    `declares` are the element locators that are made known of a hidden list.
    """

    what: str
    state: RecordState
    why: Why
    declares: tuple[Locator, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the package holds, so that nothing can be taken out of it unnoticed."""

    actions: int
    results: int
    records: int
    turns: int
    accounts: int
    rows: int
    inputs: int


@dataclass(frozen=True)
class Package:
    """The visible part of a case. `run` holds nothing that is not to be seen.

    `kept` are the words in the accounts of a package with opaque labels that read like local ids and are none.
    """

    contract: Contract
    target: Target
    withheld: tuple[Withheld, ...]
    counts: Counts
    run: Run
    kept: tuple[str, ...] = ()
