"""Keys, schemes and small pools that the watermark tests share."""

from __future__ import annotations

import numpy as np

from trace_prov.watermark.keys import Keys, derive
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.worlds import World, marked_run, unmarked_run

SCHEME = Scheme()
KEYS = derive(b"m" * 32, "owner", SCHEME.version)
OTHER = derive(b"o" * 32, "other", SCHEME.version)


def key(number: int, scheme: Scheme = SCHEME) -> Keys:
    """An independent key."""
    return derive(number.to_bytes(32, "big"), "owner", scheme.version)


def marked(
    count: int, *, scheme: Scheme = SCHEME, keys: Keys = KEYS, world: World | None = None, seed: int = 1
) -> list[Run]:
    """A pool of marked runs."""
    rng = np.random.default_rng(seed)
    return [marked_run(world or World(), keys, scheme, number, rng) for number in range(count)]


def unmarked(count: int, *, world: World | None = None, seed: int = 2, second: float = 0.0) -> list[Run]:
    """A pool of unmarked runs."""
    rng = np.random.default_rng(seed)
    return [unmarked_run(world or World(), number, rng, second) for number in range(count)]
