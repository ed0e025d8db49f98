"""The CSV files, imported by the server's own admin tool, give the same graph as the driver."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers.neo4j import neo4j_community
from trace_prov.errors import SourceError
from trace_prov.graph.write import run_to_quads
from trace_prov.model import Content, Run
from trace_prov.neo4j.connection import Target, connected
from trace_prov.neo4j.csvexport import export
from trace_prov.neo4j.load import graphs_of_runs, load, prepare
from trace_prov.neo4j.readback import quads_of_run

ODD = ' lead\t"quoted" \\ back, comma; semi\r\nline\x1funit \u2028 e\u0301 \x00 ,'


def _with_odd_texts(run: Run) -> Run:
    """A run with texts that an importer could trim, split, unescape or take for nothing."""
    turns = tuple(replace(turn, content=Content(text)) for turn, text in zip(run.turns, (ODD, ""), strict=False))
    return replace(run, id="urn:trace-prov:run:" + "f" * 32, task="", agent=ODD, turns=turns)


def test_a_list_delimiter_is_one_that_no_value_holds(tmp_path: Path, real_runs: list[Run]) -> None:
    listed = next(run for run in real_runs if any(r.decoded for a in run.actions for r in a.records))
    assert "--array-delimiter=U+001F" in export(lambda: graphs_of_runs([listed]), tmp_path / "a", "neo4j").command
    action = next(a for a in listed.actions if any(r.decoded for r in a.records))
    assert action.result is not None
    text = '{"a": "x\\u001fy"}'
    changed = replace(action, result=replace(action.result, content=Content(text), elements=None))
    actions = tuple(changed if a is action else a for a in listed.actions)
    taken = replace(listed, actions=actions, table=replace(listed.table, rows=()), inputs=())
    assert "--array-delimiter=U+001E" in export(lambda: graphs_of_runs([taken]), tmp_path / "b", "neo4j").command


def test_a_folder_with_files_is_refused(tmp_path: Path, real_runs: list[Run]) -> None:
    (tmp_path / "mine.csv").write_text("x", encoding="utf-8")
    with pytest.raises(SourceError, match="a new or empty folder"):
        export(lambda: graphs_of_runs(real_runs[:1]), tmp_path, "neo4j")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


@pytest.mark.slow
def test_the_admin_tool_imports_the_same_graph(tmp_path: Path, real_runs: list[Run]) -> None:
    odd = _with_odd_texts(next(run for run in real_runs if run.turns))
    runs = [*real_runs, odd]
    home, files = tmp_path / "home", tmp_path / "files"
    with neo4j_community(home) as first:
        server = first
    written = export(lambda: graphs_of_runs(runs), files, "neo4j")
    arguments = shlex.split(written.command.replace("\\\n", " "))
    assert arguments[:3] == ["neo4j-admin", "database", "import"]
    command = [str(server.java), "-Xmx512m", "-cp", f"{server.jars}/*", "org.neo4j.cli.AdminTool", *arguments[1:]]
    environment = {**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    answer = subprocess.run(command, cwd=files, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-2000:]
    with neo4j_community(home) as again, connected(Target(again.uri, again.user, again.password)) as connection:
        prepare(connection)
        for run in runs:
            assert quads_of_run(connection, run.id) == set(run_to_quads(run)), run.source.name
        done = load(connection, graphs_of_runs(runs))
        assert (done.runs, done.unchanged) == (0, len(runs))
