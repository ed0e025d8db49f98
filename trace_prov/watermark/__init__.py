"""The TRACE watermark: two keyed channels in a trajectory, their exact detector, attacks and experiments.

Selection channel: which action (survives deletion). Tally channel: how many records (survives rewriting).
Source of the scheme: TRACE (Gao et al., 2026); the statistics are derived in docs/watermark.md.
"""
