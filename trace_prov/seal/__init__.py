"""Sealed packages: a signed statement over every file and a Merkle tree over the records (docs/sealing.md)."""
