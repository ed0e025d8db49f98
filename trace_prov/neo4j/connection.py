"""One connection to a server, checked at once, and its errors in words.

`bolt+s` and `neo4j+s` mean TLS with a certificate of a known authority, `+ssc` one that nobody vouches for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions

from trace_prov import __version__
from trace_prov.neo4j.errors import (
    AddressError,
    CredentialsError,
    DatabaseError,
    DatabaseNameError,
    InterruptedLoad,
    VersionError,
)

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
#: how long a transaction is tried again while the server is away, in seconds
RETRY_SECONDS = 120.0
CONNECT_SECONDS = 15.0
OLDEST = (5, 26)


@dataclass(frozen=True)
class Target:
    """Where to connect and as whom; the password is never shown."""

    uri: str
    user: str = "neo4j"
    password: str = field(default="", repr=False)
    database: str = "neo4j"

    @property
    def shown(self) -> str:
        """The address without anything that stands before an `@`."""
        scheme, _, rest = self.uri.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"


@dataclass(frozen=True)
class Connection:
    """An open driver with the database that every statement goes to."""

    driver: neo4j.Driver
    target: Target
    version: str

    def session(self, *, read: bool = False) -> neo4j.Session:
        """Return a session on the database; `read` is where to send it in a cluster, not a protection."""
        access = neo4j.READ_ACCESS if read else neo4j.WRITE_ACCESS
        return self.driver.session(database=self.target.database, default_access_mode=access)


@contextmanager
def connected(target: Target, *, retry_seconds: float = RETRY_SECONDS) -> Iterator[Connection]:
    """Open a driver, check server, credentials, database and version, and close it in the end.

    Errors of the driver inside the block come out as those of `trace_prov.neo4j.errors`.
    """
    _check_address(target)
    with in_words(target):
        driver = neo4j.GraphDatabase.driver(
            target.uri,
            auth=(target.user, target.password),
            user_agent=f"trace-prov/{__version__}",
            connection_timeout=CONNECT_SECONDS,
            max_transaction_retry_time=retry_seconds,
            notifications_min_severity="OFF",
        )
        with driver:
            yield Connection(driver, target, _version(driver, target))


def _check_address(target: Target) -> None:
    try:
        parts = urlsplit(target.uri)
        port = parts.port
    except ValueError as error:
        raise AddressError(target.shown, f"not an address: {error}", "such as bolt://localhost:7687") from None
    if parts.scheme not in SCHEMES:
        found = f"scheme {parts.scheme!r}" if parts.scheme else "no scheme"
        hint = f"one of {', '.join(SCHEMES)}; Browser's http address has Bolt on another port, mostly 7687"
        raise AddressError(target.shown, f"not a Bolt address: {found}", hint)
    if not parts.hostname:
        raise AddressError(target.shown, "no host in the address", "such as bolt://localhost:7687")
    if "@" in parts.netloc:
        raise AddressError(target.shown, "user and password do not belong in the address", "use --user")
    assert port is None or port >= 0


def _version(driver: neo4j.Driver, target: Target) -> str:
    """Return the server's version; raises VersionError where the statements would not be understood."""
    statement = "CALL dbms.components() YIELD name, versions RETURN name, versions[0] AS version"
    with driver.session(database=target.database, default_access_mode=neo4j.READ_ACCESS) as session:
        components = list(session.run(statement))  # not in a transaction that is tried again for minutes
    kernel = [str(row["version"]) for row in components if row["name"] == "Neo4j Kernel"]
    if not kernel:
        names = ", ".join(str(row["name"]) for row in components) or "nothing"
        raise VersionError(target.shown, f"not a Neo4j server, it calls itself {names}")
    numbers = tuple(int(part) for part in kernel[0].split("-")[0].split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        raise VersionError(target.shown, f"Neo4j {kernel[0]} is too old", "5.26 or newer is needed")
    return kernel[0]


@contextmanager
def in_words(target: Target) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except exceptions.AuthError:
        hint = "user from --user or NEO4J_USERNAME, password from NEO4J_PASSWORD or asked for"
        raise CredentialsError(target.shown, f"user {target.user!r} or the password is wrong", hint) from None
    except exceptions.Forbidden as error:
        raise CredentialsError(target.shown, f"user {target.user!r} may not do this: {error.message}") from None
    except exceptions.ConfigurationError as error:
        raise AddressError(target.shown, str(error)) from None
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired) as error:
        raise _unavailable(target, error) from None
    except exceptions.TransientError as error:
        hint = "try again when the server is less busy, or give it more memory"
        raise DatabaseError(target.shown, f"the server gave up: {error.message}", hint) from None
    except exceptions.ClientError as error:
        raise _client_error(target, error) from None
    except exceptions.Neo4jError as error:
        raise DatabaseError(target.shown, f"the server failed: {error.message}", f"code {error.code}") from None
    except OSError as error:
        raise _unavailable(target, error) from None


def _unavailable(target: Target, error: Exception) -> DatabaseError:
    reason = str(error).splitlines()[-1] if str(error) else type(error).__name__
    if "+s" in urlsplit(target.uri).scheme:
        hint = "a server without TLS refuses this address: try bolt:// or neo4j://"
    else:
        hint = "is the server running, and is this its Bolt port?"
    return AddressError(target.shown, f"no answer: {reason}", hint)


def _client_error(target: Target, error: exceptions.ClientError) -> DatabaseError:
    code = error.code or ""
    if code.endswith("DatabaseNotFound"):
        hint = "Community has one database, its name is neo4j unless set otherwise"
        return DatabaseNameError(target.shown, f"no database {target.database!r}", hint)
    if "Security" in code:
        return CredentialsError(target.shown, f"user {target.user!r}: {error.message}")
    return DatabaseError(target.shown, f"the server refused: {error.message}", f"code {code}")


@contextmanager
def resumable(target: Target) -> Iterator[None]:
    """Inside a load: a connection that does not come back is an interruption, not a wrong address."""
    try:
        yield
    except AddressError as error:
        hint = "run the same command again: what is complete is kept, the rest goes on"
        raise InterruptedLoad(target.shown, f"the connection broke: {error.problem}", hint) from None
