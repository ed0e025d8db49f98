"""SPARQL and Cypher query files; each opens with what it answers and its parameters."""
