"""A TextWorld game, made offline, played under the watermark and without; both logs tested.

Run: pip install "trace-prov[watermark,watermark-env]"; python examples/watermark/textworld_agent.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from trace_prov.watermark.detect import detect
from trace_prov.watermark.experiment.games import TextWorldGame, play
from trace_prov.watermark.keys import new_ring
from trace_prov.watermark.methods import Base, Trace
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.verdict import shown_p


def main() -> None:
    """Play ten episodes each way and test them."""
    scheme = Scheme()
    keys = new_ring("example").keys(scheme)
    with tempfile.TemporaryDirectory() as folder:
        game = TextWorldGame(Path(folder), 7)
        print(f"Task: {game.task}")
        for method in (Base(), Trace(keys, scheme)):
            episodes = [play(game, method, repeat, 30) for repeat in range(10)]
            verdict = detect([episode.run for episode in episodes], keys, scheme)
            won = sum(episode.won for episode in episodes)
            print(f"{method.name}: won {won} of 10; {verdict.decision}, p = {shown_p(verdict.log_p_joint)}")


if __name__ == "__main__":
    main()
