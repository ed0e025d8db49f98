"""Start Neo4j Community without containers: `python docker/local/start_neo4j.py`, or `make neo4j`.

The server is the one that users install: HTTP, Browser and Bolt, authentication on, loopback only. Data, password
and logs stay in --home; the jars come from Maven once. Ctrl-C or --stop ends it.
"""

from __future__ import annotations

import argparse
import functools
import http
import http.client
import http.server
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from pathlib import Path

import launch

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
PID_FILE = "start_neo4j.pid"
START_SECONDS = 120
#: what the distribution's own launcher passes, but for AlwaysPreTouch, which would claim the heap at once
JVM_OPTIONS = [
    "-XX:+UseG1GC",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+TrustFinalNonStaticFields",
    "-XX:+DisableExplicitGC",
    "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
]


def settings(home: Path, bolt_port: int, http_port: int, extra: list[str]) -> dict[str, str]:
    """Return neo4j.conf as a table: loopback, folders below `home`, nothing sent anywhere; `extra` wins."""
    table = {
        "server.default_listen_address": launch.LOOPBACK,
        "server.bolt.listen_address": f"{launch.LOOPBACK}:{bolt_port}",
        "server.bolt.advertised_address": f"{launch.LOOPBACK}:{bolt_port}",
        "server.http.listen_address": f"{launch.LOOPBACK}:{http_port}",
        "server.http.advertised_address": f"{launch.LOOPBACK}:{http_port}",
        "server.https.enabled": "false",
        "server.http_enabled_modules": "TRANSACTIONAL_ENDPOINTS,BROWSER",
        **{f"server.directories.{name}": str(home / name) for name in ("data", "logs", "run", "import", "plugins")},
        "server.memory.pagecache.size": "128m",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
    }
    for item in extra:
        name, equals, value = item.partition("=")
        if not equals:
            raise launch.LaunchError(f"--set wants name=value, found {item!r}")
        table[name] = value
    return table


def prepare_home(home: Path, table: dict[str, str]) -> None:
    """Create the folders and write conf/neo4j.conf."""
    for name in ("conf", "data", "logs", "run", "import", "plugins"):
        (home / name).mkdir(parents=True, exist_ok=True)
    lines = [f"{name}={value}\n" for name, value in table.items()]
    (home / "conf" / "neo4j.conf").write_text("".join(lines), encoding="utf-8")


def password_of(home: Path) -> str:
    """Return NEO4J_PASSWORD, else the password kept in home/password, else a new random one, then kept there."""
    kept = home / "password"
    if not os.environ.get("NEO4J_PASSWORD") and kept.is_file():
        return kept.read_text(encoding="utf-8").strip()
    password = os.environ.get("NEO4J_PASSWORD") or secrets.token_hex(16)
    descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(password + "\n")
    return password


def admin(java: Path, jars: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the server's own admin tool (what `neo4j-admin` starts) on `home`."""
    environment = {**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    command = [str(java), "-Xmx512m", "-cp", f"{jars}/*", "org.neo4j.cli.AdminTool", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def set_first_password(java: Path, jars: Path, home: Path, password: str) -> None:
    """Set the password of user neo4j before the first start; later it is the database that keeps it."""
    if (home / "data" / "databases" / "system").exists():
        return
    answer = admin(java, jars, home, "dbms", "set-initial-password", "--", password)
    if answer.returncode != 0:
        raise launch.LaunchError(f"the first password was not accepted:\n{(answer.stdout + answer.stderr)[-1500:]}")


def server_command(java: Path, jars: Path, home: Path, heap: str) -> list[str]:
    """Return the command line that the distribution's launcher composes."""
    class_path = f"{home}/plugins/*:{home}/conf:{jars}/*"
    memory = [f"-Xms{heap}", f"-Xmx{heap}"]
    entry = ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}", f"--config-dir={home}/conf"]
    return [str(java), *memory, *JVM_OPTIONS, "-cp", class_path, *entry]


def discovery(http_port: int) -> dict[str, str] | None:
    """Return the server's answer to GET /, None while it does not answer."""
    connection = http.client.HTTPConnection(launch.LOOPBACK, http_port, timeout=5)
    try:
        connection.request("GET", "/", headers={"Accept": "application/json"})
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) and "neo4j_version" in answer else None


class GuideHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the Browser guide and style; Browser asks from another origin, and asks leave to (OPTIONS)."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def do_OPTIONS(self) -> None:
        self.send_response(http.HTTPStatus.NO_CONTENT)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not news."""


def guide_server(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Return a bound but not yet running server of `folder` on loopback."""
    handler = functools.partial(GuideHandler, directory=str(folder))
    return http.server.ThreadingHTTPServer((launch.LOOPBACK, port), handler)


def stop_running(home: Path) -> int:
    """End the server that was started with `home`; its pid file is believed only if the command line agrees."""
    pid_file = home / PID_FILE
    if not pid_file.is_file():
        print(f"no server was started with {home}", file=sys.stderr)
        return 1
    pid = int(pid_file.read_text(encoding="ascii"))
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
    if "start_neo4j" not in shown.stdout:
        pid_file.unlink()
        print(f"the server with {home} is no longer running", file=sys.stderr)
        return 1
    os.kill(pid, signal.SIGTERM)
    print(f"stopping the server with {home}")
    return 0


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=BUILD / "neo4j", help="folder for data, password and logs")
    parser.add_argument("--cache", type=Path, default=BUILD / "servers", help="folder for the server's jars")
    parser.add_argument("--bolt-port", type=int, default=7687, help="0 = any free port")
    parser.add_argument("--http-port", type=int, default=7474, help="0 = any free port")
    parser.add_argument("--guide", type=Path, default=HERE.parent / "browser", help="folder with guide and style")
    parser.add_argument("--guide-port", type=int, default=8088, help="0 = any free port")
    parser.add_argument("--heap", default="512m", help="Java heap")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a further setting")
    parser.add_argument("--json", action="store_true", help="say where it listens as one line of JSON")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when standard input closes")
    parser.add_argument("--stop", action="store_true", help="stop the server that runs with --home")
    return parser.parse_args()


def announce(options: argparse.Namespace, found: dict[str, object]) -> None:
    """Say where the server listens."""
    if options.json:
        print(json.dumps(found), flush=True)
        return
    print(
        f"Neo4j {found['version']} (Community) is ready\n"
        f"  Browser  {found['http']}/browser\n"
        f"  Bolt     {found['uri']}\n"
        f"  user     neo4j, password in {found['password_file']}\n"
        f"  guide    {found['guide'] or 'not found, see docker/README.md'}\n"
        "Ctrl-C stops it, the data stays.",
        flush=True,
    )


def start(options: argparse.Namespace) -> None:
    """Start the server, say where it listens, wait for its end."""
    home = options.home.resolve()
    java = launch.find_java(17, 21)
    jars = launch.fetch_jars(HERE / "neo4j.xml", options.cache.resolve())
    bolt_port = options.bolt_port or launch.free_port()
    http_port = options.http_port or launch.free_port()
    extra = list(options.set)
    guide, pages = None, None
    if (options.guide / "guide.html").is_file():
        pages = guide_server(options.guide, options.guide_port)
        guide = f"http://localhost:{pages.server_address[1]}"
        extra.insert(0, f"browser.post_connect_cmd=style {guide}/trace.grass; play {guide}/guide.html")
    prepare_home(home, settings(home, bolt_port, http_port, extra))
    set_first_password(java, jars, home, password_of(home))
    log = home / "logs" / "console.log"
    process = launch.spawn(server_command(java, jars, home, options.heap), log)
    (home / PID_FILE).write_text(str(os.getpid()), encoding="ascii")
    if pages is not None:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
    try:
        launch.wait_until(lambda: discovery(http_port) is not None, process, log, START_SECONDS)
        answer = discovery(http_port) or {}
        found: dict[str, object] = {
            "uri": f"bolt://{launch.LOOPBACK}:{bolt_port}",
            "http": f"http://{launch.LOOPBACK}:{http_port}",
            "user": "neo4j",
            "password_file": str(home / "password"),
            "database": "neo4j",
            "version": answer.get("neo4j_version"),
            "pid": process.pid,
            "jars": str(jars),
            "java": str(java),
            "guide": guide,
        }
        announce(options, found)
        launch.run_until_told(process, watch_stdin=options.until_stdin_closes)
    finally:
        launch.stop(process)
        (home / PID_FILE).unlink(missing_ok=True)


def main() -> int:
    """Run the command; 0 fine, 1 it cannot be started."""
    options = arguments()
    if options.stop:
        return stop_running(options.home.resolve())
    try:
        launch.stop_on_sigterm()
        start(options)
    except launch.LaunchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
