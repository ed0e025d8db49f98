"""Is a PROV document valid? W3C PROV-CONSTRAINTS (Recommendation 30 April 2013), clause by clause.

reading -> statements -> normal_form (Definitions 1-4, Inferences 5-21, Constraints 22-29)
        -> ordering (30-49) and typing (50-56) -> check (one report for the document and each of its bundles)

What each clause became stands in `docs/conformance-prov.md`.
"""

from trace_prov.prov_constraints.check import Report, check_document, check_file, check_instance
from trace_prov.prov_constraints.statements import Instance, Statement
from trace_prov.prov_constraints.terms import PLACEHOLDER, Name, Variable
from trace_prov.prov_constraints.violations import Violation

__all__ = [
    "PLACEHOLDER",
    "Instance",
    "Name",
    "Report",
    "Statement",
    "Variable",
    "Violation",
    "check_document",
    "check_file",
    "check_instance",
]
