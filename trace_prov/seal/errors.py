"""What can go wrong with seals.

InputError
├── SealError         a package cannot be sealed, or a seal cannot be read
└── SigningKeyError   a key or secret file cannot be used
"""

from __future__ import annotations

from trace_prov.errors import InputError


class SealError(InputError):
    """A package cannot be sealed, or what should be a seal is none."""


class SigningKeyError(InputError):
    """A key or secret file cannot be used."""
