"""Tests of the property graph, on a real Neo4j."""
