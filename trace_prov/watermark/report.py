"""Verdicts and tables as text for people; the same content as JSON comes from `Verdict.to_json`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trace_prov.watermark.calibrate import FixedKeyRow, LevelRow
from trace_prov.watermark.power import Plan
from trace_prov.watermark.verdict import NOTHING, ChannelResult, Finding, Verdict, shown_p

#: findings of one check in one run that a table shows
FINDINGS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain texts; what shows it escapes what came out of a log."""

    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return the head of a report: decision, both channels, joint p, power, scheme digest and key id."""
    lines = [
        f"Decision: {verdict.decision} ({verdict.reason})",
        f"Key: {verdict.key_id} of {verdict.owner}; scheme {verdict.scheme_digest}",
        f"Joint p ({verdict.scheme.joint_rule}): {shown_p(verdict.log_p_joint)}",
    ]
    if verdict.keys_tried > 1:
        lines.append(f"Corrected for {verdict.keys_tried} keys (Holm): {shown_p(verdict.log_p_corrected)}")
    if verdict.log_e is not None:
        lines.append(_e_value(verdict))
    if verdict.committed is not None:
        lines.append(f"Key and scheme were committed to on {verdict.committed}; the commitment opens")
    else:
        lines.append("No commitment was checked: the p-values hold for a key that was fixed before the log was seen")
    if verdict.ledger is not None:
        ledger = verdict.ledger
        lines.append(
            f"Ledger: {ledger.runs} run(s) without salt searched among {ledger.entries} entries; "
            f"every p carries the factor {ledger.entries}^{ledger.runs}"
        )
    if verdict.attacks:
        lines.append(f"Attacks on the log, by its truth file: {', '.join(verdict.attacks)}")
    lines.append(_power(verdict))
    return lines


def _e_value(verdict: Verdict) -> str:
    decides = "decides" if verdict.scheme.score == "llr" else "for information, the scheme's score is gamma"
    return f"Likelihood-ratio e-value: 10^{(verdict.log_e or 0) / math.log(10):.1f} ({decides})"


def _power(verdict: Verdict) -> str:
    power = verdict.power
    selection = "unknown" if power.selection is None else f"{power.selection:.2f}"
    text = (
        f"Power of this log at alpha = {verdict.scheme.alpha:g}, if marked and left alone: joint {power.joint:.2f} "
        f"(selection {selection}, tally {power.tally:.2f}; {power.basis})"
    )
    if verdict.decision == NOTHING and power.joint < 0.5:
        text += ". This log could hardly have shown a watermark"
    return text


def channel_table(verdict: Verdict) -> Table:
    """Both channels side by side."""
    table = Table(("channel", "seen", "scored", "statistic", "under H0", "z", "p", "test", "skipped"), [])
    for channel in (verdict.selection, verdict.tally):
        table.rows.append(_channel(channel))
    return table


def _channel(channel: ChannelResult) -> tuple[str, ...]:
    skipped = "; ".join(f"{reason} {count}" for reason, count in channel.skipped.items()) or "none"
    return (
        channel.name,
        str(channel.seen),
        str(channel.scored),
        f"{channel.statistic:.2f}",
        f"{channel.expected:.2f}",
        f"{channel.z:.2f}",
        shown_p(channel.log_p),
        channel.test,
        skipped,
    )


def evidence_table(verdict: Verdict, *, disclose: bool) -> Table:
    """One row a decision; scores only when disclosed."""
    table = Table(("run", "group", "action", "selection", "tally"), [])
    for row in verdict.evidence:
        if row.skipped is not None:
            selection = f"skipped: {row.skipped}"
        else:
            selection = f"score {row.score:.3f}" if disclose else "scored"
        tally = f"skipped: {row.tally_skipped}" if row.match is None else "agrees" if row.match else "disagrees"
        table.rows.append((row.run, str(row.group), row.action[:60], selection, tally))
    return table


def findings_table(verdict: Verdict) -> Table:
    """Consistency checks that failed; of one check in one run the first ones, and how many more there are."""
    table = Table(("check", "run", "place", "what", "how sure"), [])
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in verdict.findings:
        kinds.setdefault((finding.check, finding.run), []).append(finding)
    for (check, run), found in kinds.items():
        table.rows.extend((check, run, item.place, item.what, item.sure) for item in found[:FINDINGS_SHOWN])
        if len(found) > FINDINGS_SHOWN:
            table.rows.append((check, run, "", f"and {len(found) - FINDINGS_SHOWN} more (--format json has all)", ""))
    return table


def level_table(rows: Sequence[LevelRow]) -> Table:
    """False-positive rates over many keys."""
    table = Table(("test", "nominal", "observed", "95 % interval", "hits", "keys"), [])
    for row in rows:
        low, high = row.interval
        table.rows.append(
            (row.test, f"{row.level:g}", f"{row.rate:.4f}", f"{low:.4f} to {high:.4f}", str(row.hits), str(row.count))
        )
    return table


def fixed_key_report(rows: Iterable[FixedKeyRow]) -> Table:
    """False-positive rates of pools under one fixed key."""
    table = Table(("channel", "rule", "pooled runs", "nominal", "mean over keys", "worst key", "SD of z"), [])
    for row in rows:
        spread = "" if math.isnan(row.deviation) else f"{row.deviation:.2f}"
        table.rows.append(
            (row.channel, row.rule, str(row.size), f"{row.level:g}", f"{row.rate:.3f}", f"{row.worst:.3f}", spread)
        )
    return table


def plan_lines(plan: Plan, target: float, alpha: float) -> list[str]:
    """The planner's answer in sentences."""
    s = plan.setting
    where = (
        f"entropy {s.entropy:g} nats over {s.candidates} candidates, {s.per_run:g} decisions a run, "
        f"deletion {s.deletion:g} ({s.kind}), rewriting {s.rewriting:g}"
    )
    if plan.runs is None:
        most = plan.table[-1][0]
        return [f"At {where}: not even {most} runs reach power {target:g} (there: {plan.power:.2f})"]
    return [
        f"At {where}: {plan.runs} run(s) reach power {target:g} at alpha = {alpha:g} (simulated: {plan.power:.2f})",
        f"There, mean z of the selection channel {plan.mean_z_selection:.1f}, of the tally {plan.mean_z_tally:.1f}",
    ]
