"""CASE/UCO graphs: do they follow the ontology's rules, and do they say what they seem to say?

reading (file -> triples, and what was lost) -> shacl (the rules of CASE, same verdict as case_validate) and
extra (what case_validate lets pass) -> check (both, reported apart).
"""

from trace_prov.case.check import CaseReport, check_case
from trace_prov.case.findings import Finding

__all__ = ["CaseReport", "Finding", "check_case"]
