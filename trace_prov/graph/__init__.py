"""The graph of a run: written (`write`), checked (`check`), kept (`store`) and read back (`read`). See docs/graph.md."""
