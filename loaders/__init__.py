"""Log formats: one module each, bytes in, runs of the contract out; knows a format, nothing of graphs."""
