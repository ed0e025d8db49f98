"""Skeleton edits are seen and placed; intact and unmarked logs raise no alarm; the aligned tally survives deletion."""

from __future__ import annotations

import dataclasses
import hashlib
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.watermark.helpers import KEYS, SCHEME, key, marked, unmarked
from trace_prov.watermark import attacks
from trace_prov.watermark.align import aligned_test, best_path, key_length, log_ratio, missing
from trace_prov.watermark.consistency import change_point, check_receipt, merkle_root, receipt, receipt_from_json
from trace_prov.watermark.detect import detect
from trace_prov.watermark.errors import KeyFileError
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Group, Record, Run, command_record
from trace_prov.watermark.worlds import World


def _without(run: Run, groups: set[int]) -> Run:
    return dataclasses.replace(run, groups=tuple(g for i, g in enumerate(run.groups, 1) if i not in groups))


def _ghosts_stripped(run: Run) -> Run:
    return dataclasses.replace(
        run, groups=tuple(dataclasses.replace(g, observations=g.observations[:1]) for g in run.groups)
    )


def test_change_point_finds_the_cut() -> None:
    misses = []
    for number in range(30):
        rng = np.random.default_rng(number)
        matches = np.concatenate([np.ones(25, bool), rng.random(30) < 0.5])
        point = change_point(matches)
        assert point is not None
        misses.append(not point.low <= 25 <= point.high)
        assert 25 <= point.after <= 32
    assert sum(misses) <= 6


def test_change_point_needs_both_sides() -> None:
    assert change_point(np.ones(40, bool)) is None
    for number in range(30):
        assert change_point(np.random.default_rng(number).random(40) < 0.5) is None


def test_a_cut_log_says_where() -> None:
    runs = marked(4)
    cut = [_without(runs[0], {14}), *runs[1:]]
    verdict = detect(cut, KEYS, SCHEME)
    finding = next(f for f in verdict.findings if f.check == "change point of the tally")
    assert finding.run == runs[0].id
    assert 13 <= int(finding.place.split()[-1]) <= 18
    assert [f.run for f in verdict.findings] == [runs[0].id]


def test_intact_marked_and_unmarked_logs_raise_nothing() -> None:
    assert detect(marked(10), KEYS, SCHEME).findings == ()
    assert detect(unmarked(10, second=0.3), KEYS, SCHEME).findings == ()


def test_stripping_ghosts_rings_the_alarm() -> None:
    verdict = detect([_ghosts_stripped(run) for run in marked(2)], KEYS, SCHEME)
    assert verdict.tally.log_p > math.log(0.01)
    assert verdict.decision == "watermark found"
    assert "ghost strip alarm" in {finding.check for finding in verdict.findings}


def test_natural_duplicates_of_unmarked_logs_are_no_ghosts() -> None:
    """Negative control of WATERMARK §2.9.7: half of the groups hold a second natural record, many keys."""
    runs = unmarked(2, second=0.5)
    p = [math.exp(detect(runs, key(number), SCHEME, evidence=False).log_p_joint) for number in range(200)]
    assert stats.binomtest(int(np.count_nonzero(np.array(p) <= 0.05)), 200, 0.05, alternative="greater").pvalue > 1e-4


def test_receipt_sees_each_kind_of_edit() -> None:
    run = marked(1)[0]
    kept = receipt(run, metered=len(run.groups))
    assert list(check_receipt(run, kept)) == []
    rewritten = dataclasses.replace(
        run, groups=tuple(dataclasses.replace(g, decision=command_record("renamed")) for g in run.groups)
    )
    assert list(check_receipt(rewritten, kept)) == []
    cut = list(check_receipt(_without(run, {9}), kept))
    assert [f.check for f in cut][:3] == ["record count", "metered count", "Merkle root over tags"]
    assert cut[3].check == "skeleton edit"
    stripped = {f.check for f in check_receipt(_ghosts_stripped(run), kept)}
    assert "Merkle root over tags" in stripped


def _with_ids(run: Run) -> Run:
    groups = []
    for n, group in enumerate(run.groups):
        observations = tuple(dataclasses.replace(o, id=f"r{n}.{k}") for k, o in enumerate(group.observations))
        groups.append(
            dataclasses.replace(
                group, decision=dataclasses.replace(group.decision, id=f"d{n}"), observations=observations
            )
        )
    return dataclasses.replace(run, groups=tuple(groups))


def test_receipt_with_ids_names_the_missing_record() -> None:
    run = _with_ids(marked(1)[0])
    kept = receipt_from_json(receipt(run).to_json(), "x")
    found = [f for f in check_receipt(_without(run, {5}), kept) if f.check == "missing record"]
    assert "record d4 was removed" in found[0].what
    assert found[0].place.startswith("after record r3.")
    turned = dataclasses.replace(run, groups=run.groups[::-1])
    assert "record order" in {f.check for f in check_receipt(turned, kept)}
    assert {f.what for f in check_receipt(marked(1)[0], kept) if f.check == "record ids"} == {
        "record ids were stripped"
    }


def test_receipt_errors() -> None:
    with pytest.raises(KeyFileError, match="receipt with run"):
        receipt_from_json({"run": "x"}, "file")
    with pytest.raises(KeyFileError):
        receipt_from_json([], "file")


def test_merkle_root_is_rfc_6962() -> None:
    """Leaf and node hashes by hand for three leaves; RFC 6962 §2.1 splits at the largest power of two below n."""

    def leaf(tag: bytes) -> bytes:
        return hashlib.sha256(b"\x00" + tag).digest()

    pair = hashlib.sha256(b"\x01" + leaf(b"D") + leaf(b"O")).digest()
    assert merkle_root("DOO") == hashlib.sha256(b"\x01" + pair + leaf(b"O")).hexdigest()
    assert merkle_root("") == hashlib.sha256(b"").hexdigest()
    assert merkle_root("D") == leaf(b"D").hex()


def test_structure_of_a_log() -> None:
    def call(number: int, time: str) -> Record:
        return Record("D", "x", time=time, id=f"c{number}")

    groups = (
        Group(call(1, "2026-01-01T00:00:05+00:00"), (Record("O", "a", call="c1", id="o1"),)),
        Group(call(2, "2026-01-01T00:00:01Z"), (Record("O", "a", call="c1", id="o1"), Record("O", "a", call="c9"))),
        Group(call(3, "2026-01-01T00:00:09"), ()),
    )
    checks = [f.check for f in detect([Run("r", "s", "t", groups)], KEYS, SCHEME).findings]
    about_ids = ["repeated record id", "result out of place", "result without call"]
    assert checks == [*about_ids, "decision without observation", "time goes back"]


def _bits(count: int, seed: int) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(0, 2, count, dtype=np.int8)


def test_aligned_ratio_is_an_e_value() -> None:
    """Its mean under random keys is at most one: Markov at 1/20, and the mean itself."""
    e = np.exp(
        log_ratio(_bits(20, 1), np.random.default_rng(2).integers(0, 2, (20_000, key_length(20)), dtype=np.int8))
    )
    assert np.count_nonzero(e >= 20) <= 20_000 / 20
    assert e.mean() < 1 + 5 * e.std() / math.sqrt(len(e))
    assert e.mean() > 0.5


def test_aligned_p_is_uniform_enough_under_the_null() -> None:
    p = [math.exp(aligned_test([_bits(24, n)], [_bits(56, 10_000 + n)], 199, n).log_p) for n in range(200)]
    assert stats.binomtest(int(np.count_nonzero(np.array(p) <= 0.05)), 200, 0.05, alternative="greater").pvalue > 1e-4


def test_alignment_recovers_the_deleted_groups() -> None:
    keys = _bits(key_length(60), 5)
    kept = [index for index in range(60) if index not in {20, 21, 22, 23, 24}]
    gaps = missing(best_path(keys[kept], keys))
    assert len(gaps) == 1
    assert gaps[0][1] == 5
    assert abs(gaps[0][0] - 20) <= 4
    assert best_path(keys[:60], keys) == list(range(60))


def test_index_tally_beats_prefix_tally_at_light_deletion() -> None:
    """WATERMARK §1.5: 24 groups, 10 % deletion; naive z 1.9, aligned 4.0 there. Here: the same direction, many runs."""
    index, rng = Scheme(tally="index"), np.random.default_rng(8)
    aligned: list[float] = []
    prefix: list[float] = []
    for number in range(25):
        doomed = {i for i in range(1, 25) if rng.random() < 0.1}
        for scheme, out in ((index, aligned), (SCHEME, prefix)):
            run = _without(marked(1, scheme=scheme, seed=number)[0], doomed)
            out.append(detect([run], KEYS, scheme, evidence=False).tally.z)
    assert np.mean(aligned) > np.mean(prefix) + 1.5
    assert np.mean(aligned) > 3.0


def test_index_tally_names_the_gap() -> None:
    scheme = Scheme(tally="index")
    runs = marked(2, scheme=scheme)
    verdict = detect([_without(runs[0], {10, 11, 12}), runs[1]], KEYS, scheme)
    finding = next(f for f in verdict.findings if f.check == "groups missing in the alignment")
    assert finding.run == runs[0].id
    assert "3 groups" in finding.what
    assert 6 <= int(finding.place.split()[-1]) <= 13


def test_replacing_the_winners_leaves_scores_too_low_for_chance() -> None:
    """In an intact context every loser's number is below the winner's: total replacement is itself seen."""
    world = World(candidates=5, temperature=1.0, length=1)
    runs = attacks.apply(marked(400, world=world), [attacks.parse("replace-action:1")], 1).runs
    verdict = detect(runs, KEYS, SCHEME)
    assert verdict.selection.z < -3
    assert "replaced actions" in {finding.check for finding in verdict.findings}
