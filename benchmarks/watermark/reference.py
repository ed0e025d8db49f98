"""Reference figures: measured earlier with an independent prototype (NumPy/SciPy, keyed BLAKE2b), docs/watermark.md."""

from __future__ import annotations

#: (candidates, T): entropy, delta, SD of a marked score, z at 24, z at 206, decisions for z = 4, runs of 24 for z = 100
SIGNAL = {
    (2, 1.0): (0.54, 0.399, 1.15, 2.0, 5.7, 100, 2613),
    (5, 0.5): (0.90, 0.713, 1.36, 3.5, 10.2, 32, 820),
    (5, 1.0): (1.30, 1.037, 1.33, 5.1, 14.9, 15, 388),
    (20, 0.25): (0.93, 0.755, 1.51, 3.7, 10.8, 28, 731),
    (20, 0.5): (1.80, 1.505, 1.66, 7.4, 21.6, 7.1, 184),
    (20, 1.0): (2.57, 2.199, 1.50, 10.8, 31.6, 3.3, 86),
    (20, 1e9): (3.00, 2.598, 1.26, 12.7, 37.3, 2.4, 62),
}
#: setting: z selection clean, after 70 % independent group deletion, z tally
SEED = {
    "9 runs x 23, H 0.93": (11.2, 2.0, 14.39),
    "147 runs x 1.4, 5 candidates, T 0.7": (9.55, 4.7, 14.3),
    "140 runs x 24, H 1.8": (80.0, 16.3, 58.0),
    "140 runs x 24, H 2.0": (89.0, 17.2, 58.0),
    "1 run x 24, H 1.8": (7.4, 1.3, 4.9),
}
#: kind of a 70 % deletion: z selection of 10 x 24 (clean 22.7)
KINDS = {"groups": 4.2, "observations": 7.1, "block": 10.6, "truncate": 12.3}
DELETIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
REWRITINGS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
#: 10 x 24, H 1.8, 12 repeats: z selection, z tally, share detected at joint p < 1e-3, by deletion then rewriting
JOINT = (
    ((23.2, 15.5, 1), (14.6, 15.5, 1), (8.6, 15.5, 1), (3.7, 15.5, 1), (0.9, 15.5, 1), (-0.4, 15.5, 1)),
    ((20.2, 6.0, 1), (12.9, 6.1, 1), (7.7, 5.9, 1), (3.6, 5.8, 1), (0.2, 6.3, 1), (-0.3, 5.5, 1)),
    ((14.3, 1.8, 1), (9.8, 2.0, 1), (5.8, 2.0, 0.92), (2.7, 1.7, 0.25), (0.5, 1.9, 0), (-0.3, 1.6, 0)),
    ((8.0, 0.7, 1), (5.9, 0.8, 0.92), (2.8, 1.0, 0.25), (1.1, 0.8, 0.08), (0.1, 1.0, 0), (0.2, 1.2, 0)),
    ((3.6, 0.3, 0.42), (2.6, 0.3, 0.25), (1.5, 0.7, 0.08), (0.2, 0.4, 0), (-0.1, 0.6, 0.08), (-0.3, 0.4, 0)),
    ((1.2, -0.3, 0), (1.0, 0, 0), (0.4, 0.2, 0), (-0.1, 0.5, 0), (-0.1, -0.4, 0), (0.2, 0.7, 0)),
)
#: 10 x 24, H 1.8, 20 repeats: clean, deletion 30 %, 70 %, truncated to 7, renamed
SCHEMES = {
    "red-green (published)": (9.7, 5.6, 2.2, 5.3, 0.3),
    "agent-guide (published: round)": (5.2, 0.6, 0.2, 2.9, 0.0),
    "am-f (published: round, no secret)": (20.2, 2.2, 0.5, 11.0, 0.3),
    "standard": (23.4, 14.1, 3.6, 12.6, -0.3),
}
VARIATION = {"red-green": 0.31, "agent-guide": 0.24}
#: pooled runs: SD of the null z, P(z > 1.645), P(z > 4) of the unsalted naive tally; SD when deduplicated
TALLY_NULL = {
    1: (1.0, 0.03, 0.0, 1.0),
    5: (2.3, 0.28, 0.03, 1.0),
    10: (3.4, 0.33, 0.10, 1.1),
    20: (4.8, 0.45, 0.19, 1.1),
}
#: pooled runs under one fixed key, selection test at 1 %: naive, worst key naive, deduplicated
FIXED_KEY = {1: (0.012, None, 0.008), 10: (0.025, 0.28, 0.005), 50: (0.100, 1.0, 0.006)}
#: 1e5 unmarked runs: level -> selection, exact binomial tally, Sidak
LEVELS = {
    0.1: (0.0985, 0.0755, 0.0800),
    0.05: (0.0488, 0.0315, 0.0350),
    0.01: (0.0098, 0.0031, 0.0080),
    0.001: (0.0009, 0.0007, 0.0006),
}
