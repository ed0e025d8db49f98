"""What can go wrong with a server, in words that say what to do.

TraceProvError
└── DatabaseError           the server refused, or something about it is not as needed; `hint` says what to do
    ├── AddressError        the address is no Bolt address, or nothing answers there
    ├── CredentialsError    user or password are wrong, or the user may not do this
    ├── DatabaseNameError   the server has no such database
    ├── VersionError        the server is none that the statements were written for
    ├── InterruptedLoad     the connection broke during a load and did not come back in time
    ├── ContentError        what is in the database is not what was loaded
    └── QueryFileError      the server does not accept a query file of this package
"""

from __future__ import annotations

from trace_prov.errors import TraceProvError


class DatabaseError(TraceProvError):
    """`server` is the address without credentials, `hint` what to do."""

    def __init__(self, server: str, problem: str, hint: str | None = None) -> None:
        self.server = server
        self.problem = problem
        self.hint = hint
        super().__init__(f"{server}: {problem}" if hint is None else f"{server}: {problem} ({hint})")


class AddressError(DatabaseError):
    """The address is no Bolt address, or nothing answers there."""


class CredentialsError(DatabaseError):
    """User or password are wrong, or the user may not do this."""


class DatabaseNameError(DatabaseError):
    """The server has no such database."""


class VersionError(DatabaseError):
    """The server is none that the statements were written for."""


class InterruptedLoad(DatabaseError):  # noqa: N818 - an interruption, which the next load mends
    """The connection broke during a load and did not come back in time; loading again goes on from there."""


class ContentError(DatabaseError):
    """What is in the database is not what was loaded."""


class QueryFileError(DatabaseError):
    """The server does not accept a query file of this package: a fault of the file."""
