"""The same graph in Neo4j: RDF quads as nodes and relationships, loaded, exported, asked and read back."""
