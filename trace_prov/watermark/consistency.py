"""Skeleton edits: what does not fit, where, and how sure (WATERMARK §2.6).

The tally channel is only as good as the check that its skeleton is intact: stripping every ghost puts it back at
chance at no cost to the attacker. `check_log` uses the log alone; `check_receipt` what the provider kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from trace_prov.watermark.align import best_path, log_ratio, missing
from trace_prov.watermark.errors import KeyFileError
from trace_prov.watermark.prepare import Prepared
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.verdict import Finding

#: chance that a bit before the cut disagrees all the same
SLIP = 0.01
#: a finding needs this level after correction for the places scanned
LEVEL = 0.01
BOOTSTRAPS = 999


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """Tally matches are right up to and including group `after`, chance later; `low`..`high` is a 95 % interval."""

    after: int
    low: int
    high: int
    log_ratio: float


def change_point(matches: NDArray[np.bool_], seed: int = 0) -> ChangePoint | None:
    """Scan one run's matches for the place where they turn from right to chance; None when there is no such place.

    Both alternatives must be refuted: "chance throughout" (2^-after times the places scanned) and "right throughout".
    """
    count = len(matches)
    gain = _scan(matches[None, :])[0]
    after = int(np.argmax(gain))
    if not 0 < after < count or gain[after] < np.log(count / LEVEL) or gain[after] - gain[count] < np.log(1 / LEVEL):
        return None
    rng = np.random.default_rng(seed)
    chance = np.where(np.arange(count) < after, 1 - SLIP, 0.5)
    again = np.argmax(_scan(rng.random((BOOTSTRAPS, count)) < chance), axis=1) - after
    low, high = np.percentile(again, [2.5, 97.5])
    return ChangePoint(after, max(0, int(after - high)), min(count, int(after - low)), float(gain[after] - gain[count]))


def _scan(matches: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log likelihood of "right up to t" against chance, for t = 0 .. n, row by row."""
    steps = np.where(matches, np.log(2 * (1 - SLIP)), np.log(2 * SLIP))
    return np.concatenate([np.zeros((len(matches), 1)), np.cumsum(steps, axis=1)], axis=1)


def check_log(pool: Prepared, expected: NDArray[np.int8], found: bool) -> Iterator[Finding]:
    """Yield what the log alone shows. Tally scans presuppose a watermark and run only when one was `found`."""
    for run in pool.runs:
        yield from _structure(run)
    if not found:
        return
    if pool.scheme.natural_rule != "parity":
        yield from _ghost_strip(pool)
    if pool.scheme.tally == "prefix":
        yield from _cuts(pool, expected)


def _cuts(pool: Prepared, expected: NDArray[np.int8]) -> Iterator[Finding]:
    matches = expected == pool.bits
    rows: dict[int, list[int]] = {}
    for position, (number, _) in enumerate(pool.tally.places):
        rows.setdefault(number, []).append(position)
    for number, positions in rows.items():
        point = change_point(matches[positions])
        if point is None:
            continue
        groups = [pool.tally.places[position][1] + 1 for position in positions]
        last = groups[point.after - 1]
        low, high = groups[max(0, point.low - 1)], groups[min(len(groups), point.high) - 1]
        yield Finding(
            "change point of the tally",
            pool.runs[number].id,
            f"after group {last}",
            f"tally bits agree up to group {last} and are chance later: the skeleton was edited there",
            f"95 % interval: group {low} to {high}; log likelihood ratio {point.log_ratio:.1f} against an intact run",
        )


def check_alignment(
    pool: Prepared, rows: Sequence[tuple[int, NDArray[np.int8], NDArray[np.int8]]]
) -> Iterator[Finding]:
    """Yield the groups that the index-keyed tally misses: rows are (run, observed bits, key bits)."""
    for number, observed, keys in rows:
        own = float(log_ratio(observed, keys[None, :])[0])
        if own < np.log(1 / LEVEL):
            continue
        for position, count in missing(best_path(observed, keys)):
            many = f"{count} group{'s' if count > 1 else ''}"
            yield Finding(
                "groups missing in the alignment",
                pool.runs[number].id,
                f"before group {position + 1}",
                f"{many} deleted, by the most likely alignment of the tally's bits",
                f"e-value of the run's alignment {np.exp(min(own, 700)):.1e}; neighbouring groups may fit as well",
            )


def check_replaced(count: int, total: float) -> Iterator[Finding]:
    """Yield when the scores are too low for chance: the key's winners were swapped for losers in intact contexts."""
    p = float(stats.gamma.cdf(total, count))
    if p < LEVEL / 10:
        what = f"{count} actions score {total:.1f} in all where chance alone gives about {count}: actions were replaced"
        yield Finding("replaced actions", "all runs", f"{count} decisions", what, f"probability {p:.1e} by chance")


def _ghost_strip(pool: Prepared) -> Iterator[Finding]:
    """A marked log has ghosts in a share q of its groups; far fewer means that they were removed."""
    count, ones, q = len(pool.bits), int(pool.bits.sum()), pool.scheme.q
    p = float(stats.binom.cdf(ones, count, q)) if count else 1.0
    if p < LEVEL:
        yield Finding(
            "ghost strip alarm",
            "all runs",
            f"{count} groups",
            f"only {ones} of {count} groups hold a ghost record where about {q * count:.0f} are due",
            f"probability {p:.1e} in a marked log that was left alone",
        )


def _structure(run: Run) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    calls = {group.decision.id for group in run.groups if group.decision.id is not None}
    for number, group in enumerate(run.groups, 1):
        if not group.observations:
            what = "a decision without any observation record"
            yield Finding("decision without observation", run.id, f"group {number}", what, "certain")
        for record in (group.decision, *group.observations):
            if record.id is not None and seen.setdefault(record.id, number) != number:
                what = f"record id {record.id} also stands in group {seen[record.id]}"
                yield Finding("repeated record id", run.id, f"group {number}", what, "certain")
        for record in group.observations:
            if record.call is not None and record.call not in calls:
                what = f"answers call {record.call}, which no decision of the run made"
                yield Finding("result without call", run.id, f"group {number}", what, "certain")
            elif record.call is not None and group.decision.id is not None and record.call != group.decision.id:
                what = f"answers call {record.call} but follows call {group.decision.id}"
                yield Finding("result out of place", run.id, f"group {number}", what, "certain")
    yield from _times(run)


def _times(run: Run) -> Iterator[Finding]:
    stamps = [
        (number, moment)
        for number, group in enumerate(run.groups, 1)
        for record in (group.decision, *group.observations)
        if (moment := _moment(record.time)) is not None
    ]
    for (_, earlier), (number, later) in pairwise(stamps):
        if later < earlier:
            what = f"time goes back from {earlier.isoformat()} to {later.isoformat()}"
            yield Finding("time goes back", run.id, f"group {number}", what, "certain, unless clocks differ")


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # Naive and aware times cannot be compared: everything is taken to UTC, a naive time as if it were in UTC.
    return moment.replace(tzinfo=None) - (moment.utcoffset() or timedelta(0))


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a provider keeps of one run without keeping its content; all of it survives a rewrite of the texts.

    `tags` and `record_ids` may be withheld; then a change is seen but not located.
    """

    run: str
    salt: str | None
    records: int
    decisions: int
    tags_root: str
    metered: int | None = None
    tags: str | None = None
    record_ids: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


def receipt_from_json(value: Any, source: str) -> Receipt:
    """Return the receipt that `value` describes. Raises `KeyFileError`."""
    try:
        ids = value.get("record_ids")
        return Receipt(
            str(value["run"]),
            value.get("salt"),
            int(value["records"]),
            int(value["decisions"]),
            str(value["tags_root"]),
            value.get("metered"),
            value.get("tags"),
            None if ids is None else tuple(str(item) for item in ids),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise KeyFileError(
            source,
            expected="a receipt with run, records, decisions and tags_root",
            found=f"{type(error).__name__}: {error}",
        ) from error


def receipt(run: Run, metered: int | None = None) -> Receipt:
    """Return the receipt of a run as the provider should keep it at the end of the run."""
    ids = [record.id for group in run.groups for record in (group.decision, *group.observations)]
    known = tuple(item for item in ids if item is not None)
    return Receipt(
        run.id,
        run.salt,
        run.record_count,
        len(run.groups),
        merkle_root(run.tags),
        metered,
        run.tags,
        known if len(known) == len(ids) else None,
    )


def merkle_root(tags: str) -> str:
    """Return the Merkle tree hash (RFC 6962 §2.1, SHA-256) over the tags of a run, one leaf a record."""
    level = [hashlib.sha256(b"\x00" + tag.encode()).digest() for tag in tags]
    if not level:
        return hashlib.sha256(b"").hexdigest()

    def node(low: int, high: int) -> bytes:
        if high - low == 1:
            return level[low]
        split = 1 << ((high - low - 1).bit_length() - 1)
        return hashlib.sha256(b"\x01" + node(low, low + split) + node(low + split, high)).digest()

    return node(0, len(level)).hex()


def check_receipt(run: Run, kept: Receipt) -> Iterator[Finding]:
    """Yield where a run differs from what the provider kept of it."""
    if run.record_count != kept.records:
        what = f"{run.record_count} records where the provider counted {kept.records}"
        yield Finding("record count", run.id, "whole run", what, "certain")
    if kept.metered is not None and len(run.groups) != kept.metered:
        what = f"{len(run.groups)} decisions where {kept.metered} calls were metered"
        yield Finding("metered count", run.id, "whole run", what, "certain")
    if merkle_root(run.tags) != kept.tags_root:
        yield Finding("Merkle root over tags", run.id, "whole run", "the skeleton was edited", "certain (SHA-256)")
        if kept.tags is not None:
            yield from _edits(run, kept.tags)
    if kept.record_ids is not None:
        yield from _missing_ids(run, kept.record_ids)


def _edits(run: Run, tags: str) -> Iterator[Finding]:
    before, after = _tokens(tags), [group.tags for group in run.groups]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        old, new = " ".join(before[i1:i2]) or "nothing", " ".join(after[j1:j2]) or "nothing"
        place = f"group {j1 + 1}" if j2 > j1 else f"before group {j1 + 1}"
        what = f"{old} of the delivered run became {new}"
        yield Finding("skeleton edit", run.id, place, what, "shortest edit; equal groups nearby fit as well")


def _tokens(tags: str) -> list[str]:
    return ["D" + part for part in tags.split("D")[1:]]


def _missing_ids(run: Run, kept: Sequence[str]) -> Iterator[Finding]:
    present = [record.id for group in run.groups for record in (group.decision, *group.observations)]
    if any(item is None for item in present):
        yield Finding("record ids", run.id, "whole run", "record ids were stripped", "certain")
        return
    there = set(present)
    for position, item in enumerate(kept):
        if item not in there:
            before = next((other for other in reversed(kept[:position]) if other in there), None)
            place = f"after record {before}" if before is not None else "at the start"
            yield Finding("missing record", run.id, place, f"record {item} was removed", "certain")
    common = [item for item in kept if item in there]
    if [item for item in present if item in set(kept)] != common:
        yield Finding("record order", run.id, "whole run", "records stand in another order than delivered", "certain")
