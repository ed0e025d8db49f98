"""What detection returns: everything that a report or an annotation of the graph needs, and never a key."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from trace_prov import __version__
from trace_prov.watermark.scheme import Scheme

FOUND, NOTHING, ABSTAIN = "watermark found", "no evidence at this power", "abstain"


@dataclass(frozen=True, slots=True)
class ChannelResult:
    """One channel: counts, statistic, exact ln p under H0, and z for display only."""

    name: str
    seen: int
    scored: int
    skipped: dict[str, int]
    statistic: float
    expected: float
    log_p: float
    z: float
    test: str

    @property
    def p(self) -> float:
        """The exact p-value (0.0 where it is below what a double can hold; use `log_p`)."""
        return math.exp(self.log_p)


@dataclass(frozen=True, slots=True)
class DecisionEvidence:
    """One decision of one run: its part in both channels, or why it has none. `group` counts from 1."""

    run: str
    group: int
    action: str
    context: str | None
    u: float | None
    score: float | None
    log_likelihood_ratio: float | None
    skipped: str | None
    tally_context: str | None
    expected_bit: int | None
    observed_bit: int | None
    tally_skipped: str | None

    @property
    def match(self) -> bool | None:
        """Whether the tally's bit agrees; None where it was not scored."""
        return None if self.expected_bit is None else self.expected_bit == self.observed_bit


@dataclass(frozen=True, slots=True)
class Ledger:
    """The search over salts: entries tried, runs assigned, and what that costs in ln p."""

    entries: int
    runs: int
    log_cost: float
    assigned: dict[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Power:
    """Probability that this log would have shown a watermark at `alpha`, had it been marked and left alone."""

    selection: float | None
    tally: float
    joint: float
    basis: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A consistency check that failed: what, where and how sure (WATERMARK §2.6)."""

    check: str
    run: str
    place: str
    what: str
    sure: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one key over one pool of runs."""

    decision: str
    reason: str
    key_id: str
    owner: str
    scheme: Scheme
    selection: ChannelResult
    tally: ChannelResult
    log_e: float | None
    log_p_joint: float
    power: Power
    ledger: Ledger | None
    keys_tried: int
    log_p_corrected: float
    evidence: tuple[DecisionEvidence, ...]
    findings: tuple[Finding, ...]
    runs: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...] = ()
    committed: str | None = None
    attacks: tuple[str, ...] = ()

    @property
    def scheme_digest(self) -> str:
        """The scheme's digest, as it stands in every report."""
        return self.scheme.digest

    @property
    def p_joint(self) -> float:
        """The joint p-value of both channels."""
        return math.exp(self.log_p_joint)

    def to_json(self, *, disclose: bool = False) -> dict[str, Any]:
        """Return the verdict as JSON values; u and scores only when `disclose`d (they help a forger, §2.4)."""
        value = dataclasses.asdict(self)
        value["scheme_digest"] = self.scheme_digest
        value["tool"] = f"trace-prov {__version__}"
        for channel in ("selection", "tally"):
            value[channel]["p"] = getattr(self, channel).p
        value["p_joint"] = self.p_joint
        for item, row in zip(value["evidence"], self.evidence, strict=True):
            item["match"] = row.match
            if not disclose:
                for secret in ("u", "score", "log_likelihood_ratio"):
                    del item[secret]
        return value


def shown_p(log_p: float) -> str:
    """A p-value for people: 0.0123 or 3.2e-518."""
    if log_p > math.log(1e-3):
        return f"{math.exp(log_p):.4f}"
    exponent = math.floor(log_p / math.log(10))
    return f"{math.exp(log_p - exponent * math.log(10)):.1f}e{exponent}"
