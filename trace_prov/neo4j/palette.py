"""One palette for whatever draws the graph: a colour, a size and a caption for each kind of node.

Colours are from the Okabe-Ito set, which stays apart for colour-blind readers; a hidden node is the only light one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind of node looks: fill and border, text on it, diameter in pixels, the property that names it."""

    fill: str
    border: str
    text: str
    diameter: int
    caption: str


_DARK = "#1A1A1A"
_WHITE = "#FFFFFF"

#: label -> look; a later entry wins over an earlier one where a node has both labels, so `Hidden` is last
LOOKS: dict[str, Look] = {
    "Trace": Look("#C7CCD1", "#8A9299", _DARK, 40, "graph"),
    "Searchable": Look("#C7CCD1", "#8A9299", _DARK, 40, "graph"),
    "Annotation": Look("#1A1A1A", "#000000", _WHITE, 55, "action"),
    "Import": Look("#E8EAED", "#B8BEC4", _DARK, 30, "sha256"),
    "Run": Look("#5B6770", "#3D464D", _WHITE, 65, "uri"),
    "Step": Look("#B0B7BD", "#7C858C", _DARK, 30, "number"),
    "Action": Look("#D55E00", "#9C4500", _WHITE, 65, "id"),
    "Tool": Look("#E9C9B1", "#D55E00", _DARK, 50, "name"),
    "Argument": Look("#E69F00", "#A87400", _DARK, 50, "name"),
    "Result": Look("#009E73", "#00714F", _WHITE, 75, "locator"),
    "Record": Look("#009E73", "#00714F", _WHITE, 75, "locator"),
    "ExternalRecord": Look("#009E73", "#00714F", _WHITE, 75, "locator"),
    "ListResult": Look("#A6DCCB", "#009E73", _DARK, 65, "locator"),
    "ListElement": Look("#009E73", "#00714F", _WHITE, 75, "locator"),
    "RequestTurn": Look("#0072B2", "#00517F", _WHITE, 70, "locator"),
    "Agent": Look("#8A9299", "#5B6770", _WHITE, 40, "name"),
    "User": Look("#56B4E9", "#0072B2", _DARK, 40, "graph"),
    "AccountBundle": Look("#F3DCE8", "#CC79A7", _DARK, 40, "graph"),
    "Account": Look("#E3B4CD", "#CC79A7", _DARK, 50, "graph"),
    "Note": Look("#F3DCE8", "#CC79A7", _DARK, 45, "text"),
    "Basis": Look("#CC79A7", "#96527A", _DARK, 50, "text"),
    "Citation": Look("#CC79A7", "#96527A", _DARK, 45, "localId"),
    "BindingTable": Look("#F7F1B5", "#C9BC2E", _DARK, 45, "state"),
    "Binding": Look("#F0E442", "#B0A61F", _DARK, 45, "localId"),
    "RecordedInput": Look("#F7F1B5", "#C9BC2E", _DARK, 40, "localId"),
    "SourceLog": Look("#DDE1E5", "#8A9299", _DARK, 45, "name"),
    "Sidecar": Look("#DDE1E5", "#8A9299", _DARK, 45, "name"),
    "Diagnostic": Look("#F5C6BE", "#C0392B", _DARK, 40, "code"),
    "Declaration": Look("#FFFFFF", "#00714F", _DARK, 35, "locator"),
    "EvidencePackage": Look("#5B6770", "#1A1A1A", _WHITE, 65, "condition"),
    "PackageTarget": Look("#D55E00", "#1A1A1A", _WHITE, 50, "action"),
    "PackageWithheld": Look("#FFFFFF", "#1A1A1A", _DARK, 45, "what"),
    "Finding": Look("#1A1A1A", "#000000", _WHITE, 65, "action"),
    "WatermarkVerdict": Look("#3B2A6B", "#241A42", _WHITE, 65, "decision"),
    "WatermarkDecision": Look("#8D7CC3", "#3B2A6B", _WHITE, 45, "group"),
    "Hidden": Look("#FFFFFF", "#C0392B", _DARK, 50, "state"),
}

#: relationship type -> colour; what the agent claims and what a query found stand out from what was recorded
LINES: dict[str, str] = {
    "CITES": "#CC79A7",
    "NAMES": "#CC79A7",
    "BINDS": "#B0A61F",
    "HELD_BY": "#0072B2",
    "CITED_HOLDER": "#009E73",
    "PERHAPS_HELD_BY": "#C0392B",
    "IN_REQUEST": "#56B4E9",
    "ABOUT": "#1A1A1A",
}
LINE = "#A5ABB6"
