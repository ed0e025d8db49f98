"""Start Apache Jena Fuseki without containers: `python docker/local/start_fuseki.py`.

A second, independent SPARQL 1.1 server beside Oxigraph. The data set is in memory and called /prov:
/prov/query, /prov/update, /prov/data (Graph Store). Loopback only; Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
from pathlib import Path

import launch

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
START_SECONDS = 60


def answers(port: int) -> bool:
    """Return whether the server answers its ping."""
    connection = http.client.HTTPConnection(launch.LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/$/ping")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def start(options: argparse.Namespace) -> None:
    """Start the server, say where it listens, wait for its end."""
    java = launch.find_java(17, 99)
    jars = launch.fetch_jars(HERE / "fuseki.xml", options.cache.resolve())
    port = options.port or launch.free_port()
    command = [
        str(java),
        f"-Xmx{options.heap}",
        "-cp",
        f"{jars}/*",
        "org.apache.jena.fuseki.main.cmds.FusekiMainCmd",
    ]
    command += ["--localhost", "--port", str(port), "--ping", "--mem", "--update", "/prov"]
    with tempfile.TemporaryDirectory(prefix="fuseki-") as folder:
        log = Path(folder, "console.log")
        process = launch.spawn(command, log)
        try:
            launch.wait_until(lambda: answers(port), process, log, START_SECONDS)
            base = f"http://{launch.LOOPBACK}:{port}/prov"
            found = {
                "query": f"{base}/query",
                "update": f"{base}/update",
                "data": f"{base}/data",
                "pid": process.pid,
            }
            print(json.dumps(found) if options.json else f"Fuseki is ready: {base}/query", flush=True)
            launch.run_until_told(process, watch_stdin=options.until_stdin_closes)
        finally:
            launch.stop(process)


def main() -> int:
    """Run the command; 0 fine, 1 it cannot be started."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=BUILD / "servers", help="folder for the server's jars")
    parser.add_argument("--port", type=int, default=3030, help="0 = any free port")
    parser.add_argument("--heap", default="1g", help="Java heap")
    parser.add_argument("--json", action="store_true", help="say where it listens as one line of JSON")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when standard input closes")
    try:
        launch.stop_on_sigterm()
        start(parser.parse_args())
    except launch.LaunchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
