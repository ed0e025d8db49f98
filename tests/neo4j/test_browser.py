"""The classic Neo4j Browser, from its published jar, in a real Chromium against the real server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.neo4j.chromium import chromium_here, logged_in
from tests.servers.neo4j import neo4j_community
from trace_prov.derive import derive as derive_natively
from trace_prov.finding import Finding, to_json
from trace_prov.model import Run
from trace_prov.neo4j.annotate import annotate
from trace_prov.neo4j.connection import Target, connected
from trace_prov.neo4j.load import graph_of_package, graphs_of_runs, load, prepare
from trace_prov.neo4j.palette import LOOKS
from trace_prov.package.build import Built, build
from trace_prov.package.condition import condition_named

GUIDE = Path(__file__).resolve().parents[2] / "docker" / "browser"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_here(), reason="Chromium and its driver are not installed"),
]


def test_style_guide_and_questions_in_the_classic_browser(tmp_path: Path, real_runs: list[Run]) -> None:
    """Log in as a person does: the style is applied, the guide opens, a click answers a question in our colours.

    Screenshots go to the folder that TRACE_PROV_SCREENSHOTS names, for the eye.
    """
    pictures = Path(os.environ.get("TRACE_PROV_SCREENSHOTS", tmp_path))
    cases = [(run, found) for run in real_runs for found in derive_natively(run) if isinstance(found, Finding)]
    run, finding = next(case for case in cases if case[1].q3.locators)
    package = build(run, condition_named("R10"))
    assert isinstance(package, Built)
    with neo4j_community(tmp_path / "home", guide=GUIDE) as server:
        with connected(Target(server.uri, server.user, server.password)) as connection:
            prepare(connection)
            load(connection, graphs_of_runs([run]))
            load(connection, [graph_of_package(package.package)])
            annotate(connection, [("finding", to_json(finding))])
        with logged_in(server, tmp_path / "profile") as browser:
            assert "From a value to a finding" in browser.wait_for_frame(":play http")
            assert "node.RequestTurn" in browser.wait_for_frame(":style http")
            browser.screenshot(pictures / "browser-1-start.png")
            browser.run(f":param literal => '{finding.target.literal}'")
            browser.answer(GUIDE / "saved" / "06_cited.cypher")
            browser.screenshot(pictures / "browser-2-cited.png")
            cited = browser.fills()
            browser.answer(GUIDE / "saved" / "10_finding.cypher")
            browser.screenshot(pictures / "browser-3-finding.png")
            found = browser.fills()
            browser.answer(GUIDE / "saved" / "11_withheld.cypher")
            browser.screenshot(pictures / "browser-4-withheld.png")
            withheld = browser.fills()
    assert {LOOKS[label].fill for label in ("Action", "Citation", "Binding", "Account")} <= cited
    assert {LOOKS[label].fill for label in ("Finding", "ListElement")} <= found
    assert LOOKS["Hidden"].fill in withheld
    known = {look.fill for look in LOOKS.values()}
    assert cited | found | withheld <= known | {"NONE"}, "Browser invented a colour"
