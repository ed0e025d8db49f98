"""Everything that a user's input can make go wrong, one class for each thing a caller would handle differently.

TraceProvError
├── UsageError            the call asks for something that does not exist (action, query, format, condition)
└── InputError            a file is not what it was taken for; has `source`, `place`, `expected`, `found`, `hint`
    ├── SourceError       it cannot be opened or read at all
    ├── FormatError       no loader recognises it, or it breaks the format that it claims
    ├── SidecarError      a native sidecar contradicts its log
    ├── GraphError        a run graph is not well formed
    └── PackageError      an evidence package is not what its contract says

A programmer's mistake is never one of these: it stays a built-in exception.
"""

from __future__ import annotations


class TraceProvError(Exception):
    """Root of all errors that are the input's fault; the command line prints them without a traceback."""


class UsageError(TraceProvError):
    """The call names something that does not exist; the message says what does."""


class InputError(TraceProvError):
    """A piece of input is wrong: where, what was expected, what was found, what to do.

    `source` is the file as the user named it, `place` a position in it ("line 3", "message 7", "byte 120").
    """

    def __init__(
        self,
        source: str,
        *,
        place: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.source = source
        self.place = place
        self.expected = expected
        self.found = found
        self.hint = hint
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        where = self.source if self.place is None else f"{self.source}, {self.place}"
        middle = []
        if self.expected is not None:
            middle.append(f"expected {self.expected}")
        if self.found is not None:
            middle.append(f"found {self.found}")
        text = f"{where}: {', '.join(middle) or 'cannot be used'}"
        return text if self.hint is None else f"{text} ({self.hint})"


class SourceError(InputError):
    """The file cannot be opened or read."""


class FormatError(InputError):
    """No loader recognises the file, or the file breaks the format that it claims."""


class SidecarError(InputError):
    """A native sidecar contradicts the log that it stands beside."""


class GraphError(InputError):
    """A run graph is not well formed."""


class PackageError(InputError):
    """An evidence package is not what its contract says."""
