"""The trace-prov vocabulary (OWL), its JSON-LD context and the mapping table."""
