"""What can go wrong on the way out.

InputError
└── ExportError   a format cannot carry what it is given; names the format, the place and the thing
"""

from __future__ import annotations

from trace_prov.errors import InputError


class ExportError(InputError):
    """A format cannot carry something; nothing was written rather than something else."""
