"""Ask the real case_validate for its verdict on every mutation and write mutation_verdicts.tsv (some minutes)."""

from __future__ import annotations

import csv
import json
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from tests.case.mutations import MUTATIONS, mutated

DATA = Path(__file__).parent.parent / "data" / "case_examples"
VERDICTS = Path(__file__).parent / "mutation_verdicts.tsv"
COLUMNS = ("violations", "warnings", "infos", "undefined_terms", "conforms")


def real_verdict(path: Path) -> dict[str, str]:
    """Return what case_utils.case_validate.validate says of a file, by number of results of each severity."""
    from case_utils.case_validate import validate
    from rdflib import RDF, SH, Graph

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = validate([str(path)], inference="none")
    assert isinstance(result.graph, Graph)
    severities = Counter(
        str(result.graph.value(node, SH.resultSeverity)).removeprefix(str(SH))
        for node in result.graph.subjects(RDF.type, SH.ValidationResult)
    )
    counts = (severities["Violation"], severities["Warning"], severities["Info"], len(result.undefined_concepts))
    return dict(zip(COLUMNS, [*map(str, counts), str(result.conforms).lower()], strict=True))


def main() -> None:
    document = json.loads((DATA / "agent_run.jsonld").read_text())
    with VERDICTS.open("w", newline="") as out, tempfile.TemporaryDirectory() as folder:
        writer = csv.DictWriter(out, ("mutation", *COLUMNS), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for name in MUTATIONS:
            path = Path(folder) / f"{name}.jsonld"
            path.write_text(json.dumps(mutated(document, name)))
            writer.writerow({"mutation": name, **real_verdict(path)})
            out.flush()


if __name__ == "__main__":
    main()
