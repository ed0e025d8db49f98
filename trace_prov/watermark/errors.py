"""What a user's input can make go wrong in the watermark commands.

InputError
├── SchemeError      a scheme file or value is not one that this version understands
├── KeyFileError     a key, commitment, reveal or ledger file cannot be used
├── TrajectoryError  a trajectory file breaks the documented JSON format
├── CandidateError   the candidates or probabilities of a decision are no distribution
└── EnvironmentMissingError  an optional package that an experiment or adapter needs is not installed
"""

from __future__ import annotations

from trace_prov.errors import InputError


class SchemeError(InputError):
    """A scheme is not one that this version understands."""


class KeyFileError(InputError):
    """A key, commitment, reveal or ledger file cannot be used."""


class TrajectoryError(InputError):
    """A trajectory file breaks the documented JSON format."""


class CandidateError(InputError):
    """The candidates or probabilities of a decision are no distribution."""


class EnvironmentMissingError(InputError):
    """An optional package that an experiment or adapter needs is not installed."""
