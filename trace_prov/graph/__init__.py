"""The graph of a run: written (`write`), checked (`check`), kept (`store`), read back (`read`). See docs/graph.md."""
