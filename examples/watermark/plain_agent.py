"""A toy agent of forty lines, marked with the decorator, attacked, and recognised again.

Run: python examples/watermark/plain_agent.py
"""

from __future__ import annotations

import random

from trace_prov.watermark import attacks
from trace_prov.watermark.adapters.plain import Marked
from trace_prov.watermark.detect import detect
from trace_prov.watermark.keys import new_ring
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.verdict import shown_p

ROOMS = ["hall", "kitchen", "cellar", "garden", "attic", "library"]
SCHEME = Scheme()
KEYS = new_ring("example").keys(SCHEME)


def one_run(number: int) -> Run:
    """Walk through a house for twenty steps."""
    mark = Marked(KEYS, SCHEME, run_id=f"walk-{number}", task="find the lamp", rng=random.Random(number))

    @mark.policy
    def think(seen: str) -> dict[str, float]:
        others = [room for room in ROOMS if room not in seen]
        return {f"go to {room}": 1 / len(others) for room in others}

    @mark.tool
    def walk(action: str) -> str:
        return f"You are in the {action.removeprefix('go to ')}.\nIt is dark."

    seen = "You are in the hall."
    for _ in range(20):
        seen = walk(think(seen))
    return mark.run()


def main() -> None:
    """Mark, attack, detect."""
    runs = [one_run(number) for number in range(5)]
    cases = {
        "as delivered": [],
        "30 % of the groups deleted": ["delete-groups:0.3"],
        "all texts rewritten": ["paraphrase:1"],
    }
    for name, specs in cases.items():
        log = attacks.apply(runs, [attacks.parse(spec) for spec in specs], seed=1).runs
        verdict = detect(log, KEYS, SCHEME)
        selection, tally = verdict.selection.z, verdict.tally.z
        print(f"{name}: {verdict.decision}, p = {shown_p(verdict.log_p_joint)} (z {selection:.1f} and {tally:.1f})")


if __name__ == "__main__":
    main()
