"""The compose file without an engine: its schema, its loopback ports, and its settings on the real server."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import neo4j
import pytest
import yaml

from tests.servers.neo4j import Neo4jServer, neo4j_community

DOCKER = Path(__file__).resolve().parents[2] / "docker"
COMPOSE = DOCKER / "compose.yaml"
#: names that the image reads itself and does not write to neo4j.conf (its entry point, `not_configs` and *_FILE)
IMAGE_VARIABLES = {"NEO4J_AUTH_FILE"}


def _services() -> dict[str, Any]:
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    assert isinstance(services, dict)
    return services


def _default(value: str) -> str:
    """Replace ${NAME:-default} by its default, as compose does when the environment has no NAME."""
    before, dollar, rest = value.partition("${")
    if not dollar:
        return value
    inside, _, after = rest.partition("}")
    return before + inside.partition(":-")[2] + _default(after)


def _settings() -> dict[str, str]:
    """The neo4j.conf that the image makes of the environment: `_` is `.`, `__` is `_`."""
    environment = _services()["neo4j"]["environment"]
    return {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): _default(value)
        for name, value in environment.items()
        if name not in IMAGE_VARIABLES
    }


def test_compose_file_is_valid_by_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_check_of_the_specification_can_fail(tmp_path: Path) -> None:
    broken = tmp_path / "compose.yaml"
    broken.write_text(COMPOSE.read_text(encoding="utf-8").replace("ports:", "portz:"), encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(broken)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "portz" in answer.stdout


def test_yamllint_is_content() -> None:
    command = [sys.executable, "-m", "yamllint", "--strict", "-c", str(DOCKER / ".yamllint"), str(COMPOSE)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout


def test_docker_compose_reads_it(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("no docker compose here; it needs no engine for this")
    command = [docker, "compose", "--file", str(COMPOSE), "config", "--quiet"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


def test_every_port_is_published_on_loopback_only() -> None:
    ports = [port for service in _services().values() for port in service["ports"]]
    assert len(ports) == 4
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_mounted_file_exists_or_is_made_by_init() -> None:
    sources = [volume.split(":")[0] for service in _services().values() for volume in service["volumes"]]
    folders = [source for source in sources if source.startswith("./")]
    assert folders == ["./browser", "./guide.conf", "./import"]
    assert (DOCKER / "guide.conf").is_file()
    assert {path.name for path in (DOCKER / "browser").iterdir()} >= {"guide.html", "trace.grass"}


def test_the_settings_exist_in_the_real_server(neo4j_server: Neo4jServer) -> None:
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        known = {record["name"] for record in driver.execute_query("SHOW SETTINGS YIELD name").records}
    assert len(_settings()) == 8
    assert set(_settings()) <= known


@pytest.mark.slow
def test_the_same_settings_boot_the_real_server(tmp_path: Path) -> None:
    wanted = _settings()
    # Java takes the heap from its command line here; the advertised port must be the one that is free
    given = {name: value for name, value in wanted.items() if "heap" not in name and "advertised" not in name}
    with neo4j_community(tmp_path, settings=tuple(f"{name}={value}" for name, value in given.items())) as server:
        with neo4j.GraphDatabase.driver(server.uri, auth=server.auth) as driver:
            rows = driver.execute_query("SHOW SETTINGS YIELD name, value").records
        found = {row["name"]: row["value"] for row in rows}
    changed = {"server.memory.pagecache.size": "512.00MiB"}  # how the server writes 512M
    assert {name: found[name] for name in given} == {name: changed.get(name, given[name]) for name in given}


def _init(folder: Path, password: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "NEO4J_PASSWORD"}
    if password is not None:
        environment["NEO4J_PASSWORD"] = password
    script = folder / "init.sh"
    shutil.copy(DOCKER / "init.sh", script)
    return subprocess.run(["sh", str(script)], env=environment, capture_output=True, text=True, check=False)


def test_init_makes_a_random_password_and_keeps_it(tmp_path: Path) -> None:
    assert _init(tmp_path).returncode == 0
    auth = tmp_path / "secrets" / "neo4j_auth"
    first = auth.read_text(encoding="ascii")
    user, _, password = first.strip().partition("/")
    assert (user, len(password)) == ("neo4j", 32)
    assert _init(tmp_path).returncode == 0
    assert auth.read_text(encoding="ascii") == first
    shutil.rmtree(tmp_path / "secrets")
    _init(tmp_path)
    assert auth.read_text(encoding="ascii") != first


def test_the_secret_is_readable_for_the_image_and_for_no_other_user(tmp_path: Path) -> None:
    _init(tmp_path)
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "secrets" / "neo4j_auth").stat().st_mode) == 0o644


@pytest.mark.parametrize("password", ["short", "neo4j", "with/slash/inside"])
def test_init_refuses_what_the_image_would_refuse(password: str, tmp_path: Path) -> None:
    answer = _init(tmp_path, password)
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")
    assert not (tmp_path / "secrets" / "neo4j_auth").exists()
