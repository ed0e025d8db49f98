"""Runs as a CASE 1.5 / UCO 1.5 bundle: what the agent did, and apart from it what the examiner did (docs/case.md)."""
