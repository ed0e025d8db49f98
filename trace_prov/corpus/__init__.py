"""Making agent logs with accounts: real AgentDojo runs, with a native sidecar beside each log.

Needs the extra `agentdojo`. Modules that import that package do so when they run something, not before.
"""
