"""The formats of `--to`. A new one adds a file beside this and a line here."""

from __future__ import annotations

from trace_prov.errors import UsageError
from trace_prov.export import (
    case_jsonld,
    gexf,
    graphml,
    nquads,
    prov_json,
    prov_jsonld,
    prov_n,
    prov_xml,
    ro_crate,
    trig,
)
from trace_prov.export.material import Exporter

EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (
        case_jsonld.EXPORTER,
        prov_n.EXPORTER,
        prov_json.EXPORTER,
        prov_xml.EXPORTER,
        prov_jsonld.EXPORTER,
        trig.EXPORTER,
        nquads.EXPORTER,
        ro_crate.EXPORTER,
        graphml.EXPORTER,
        gexf.EXPORTER,
    )
}


def exporter_named(name: str) -> Exporter:
    """The exporter of `--to NAME`; raises UsageError that lists what exists."""
    if name not in EXPORTERS:
        raise UsageError(f"no format {name!r}; known: {', '.join(EXPORTERS)}")
    return EXPORTERS[name]
