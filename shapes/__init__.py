"""SHACL shapes: what a well-formed run graph and a package are."""
