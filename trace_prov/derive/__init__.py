"""Derivation: from a visible run to findings. `native` and the query files must agree (docs/architecture.md)."""

from trace_prov.derive.native import derive
from trace_prov.derive.target import Question

__all__ = ["Question", "derive"]
