"""Figures of the TRACE paper (Gao et al., 2026) as summarised, for the column beside ours; never fitted to."""

from __future__ import annotations

ALFWORLD_SUCCESS = {"base": 0.824, "trace": 0.836, "red-green": 0.824 - 0.081}
POOLED_Z_CLEAN = 100.0
SELECTION_Z = {0.0: 11.34, 0.7: 4.06}
TALLY_Z = 14.34
TOOLBENCH_POOL = 10
FALLS = "both channels fall only at 70 % deletion with over 60 % rewriting"

WHY_DIFFERENT = (
    "The summary does not say which deletion is meant. Independent deletion of groups breaks each survivor's context "
    "with the same probability, so z falls to about (1-p)^1.5 of itself (0.16 at 70 %), not to 0.36.",
    "Deleting observation records (with an observation in the context) or one contiguous block gives ratios of 0.3 to "
    "0.5; very short runs, whose first decision has no predecessor, lie between.",
    "14.34 is the square root of 205.6: about 206 groups with a fair bit and every one matched.",
    "With prefix-keyed tally bits one deleted group turns all later bits to chance, so the region in which both "
    "channels fall is larger than the summary says. The index-keyed aligned tally makes it smaller.",
    "Success rates depend on the agent: ours is a planner-guided softmax policy, not a language model.",
)
