"""Runs and findings in the forms that others read: a registry of exporters with one signature (docs/case.md,
docs/conformance-exchange.md).

material (what every exporter gets) -> case/ (the CASE bundle) and prov_quads -> prov_document (the PROV view)
-> one file a format.
"""

from trace_prov.export.registry import EXPORTERS, exporter_named

__all__ = ["EXPORTERS", "exporter_named"]
