"""From logs to a study that can be asked: cases, one package for each condition, supported answers, shuffled order.

Everything that the scores rest on, the strata included, is computed here, before any reader is asked (CONTRACT §7).
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from trace_prov import __version__
from trace_prov.derive import derive
from trace_prov.errors import UsageError
from trace_prov.finding import Finding, NotApplicable, Status
from trace_prov.load import Ignored, Problem, load_paths
from trace_prov.model import Run
from trace_prov.package.bag import read_package, write_package
from trace_prov.package.build import build, case_id
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import BUILT_IN, Condition, condition_named
from trace_prov.package.evidence import package_to_bytes
from trace_prov.package.model import Package
from trace_prov.study.answers import answers_of
from trace_prov.study.folder import MANIFEST_FORMAT, Case, Question, StudyFolder
from trace_prov.study.lines import write_lines
from trace_prov.study.prompt import (
    INSTRUCTIONS,
    MAX_INPUT_TOKENS,
    MAX_OUTPUT_TOKENS,
    TEMPERATURE,
    TOKENIZER,
    count_tokens,
    question_text,
    response_schema,
)

SEED = 42


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """What a study asks: its logs, the conditions (none: the built-in ones), how many cases at most (None: all).

    What is left out when a study is there already is taken from it.
    """

    logs: tuple[Path, ...] = ()
    conditions: tuple[str, ...] = ()
    cases: int | None = None

    @property
    def shown(self) -> tuple[Condition, ...]:
        """The conditions; raises UsageError where two have one name."""
        shown = tuple(condition_named(name) for name in self.conditions or BUILT_IN)
        names = [condition.name for condition in shown]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise UsageError(f"two conditions have the name {twice[0]}; give each once")
        return shown


def prepare(
    plan: StudyPlan, folder: StudyFolder, *, on_case: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Any]:
    """Make the study's folder unless it is there; returns the manifest. `on_case` hears of each case of how many.

    A folder that was prepared from other logs or for other conditions is refused with UsageError: answers to
    different questions never mix. One in which a package is not as it was prepared is refused with FormatError.
    """
    shown = plan.shown
    if folder.manifest.exists():
        manifest = folder.require()
        _refuse_other_plan(manifest, plan, folder)
        for question in folder.questions():
            folder.evidence(question)
        return manifest
    folder.path.mkdir(parents=True, exist_ok=True)
    runs, inventory = _applicable(plan)
    if not runs:
        raise UsageError(_no_case(inventory))
    prompt = count_tokens(INSTRUCTIONS)
    cases, questions, supported, compared = [], [], [], []
    on_case(0, len(runs))
    for done, run in enumerate(runs, start=1):
        case, packages = _packages(run, shown)
        cases.append(case)
        for condition, package in packages.items():
            where = folder.package(case.id, condition)
            write_package(package, where, overwrite=True)
            data = package_to_bytes(package)
            tokens = prompt + count_tokens(question_text(data))
            questions.append((case.id, condition, hashlib.sha256(data).hexdigest(), tokens))
            supported.append((case.id, condition, answers_of(finding_of(package))))
            compared.append((case.id, condition, answers_of(finding_of(read_package(where)))))
        on_case(done, len(runs))
    ordered = shuffled(questions)
    folder.write_cases(cases)
    folder.write_questions(ordered)
    folder.write_answers("supported", supported)
    folder.write_answers("comparator", compared)
    write_lines(folder.path / "inventory.jsonl", inventory)
    manifest = _manifest(plan, [condition.name for condition in shown], cases, ordered)
    manifest |= {"files_sha256": folder.prepared_files(), "readers": {}}
    folder.write_manifest(manifest)  # last: a folder with a manifest is complete
    return manifest


def shuffled(questions: Iterable[tuple[str, str, str, int]]) -> list[Question]:
    """The serial order of the questions: sorted by case and condition, then shuffled with the seed."""
    rows = sorted(questions)
    random.Random(SEED).shuffle(rows)
    return [Question(number, *row) for number, row in enumerate(rows, start=1)]


def _applicable(plan: StudyPlan) -> tuple[list[Run], list[dict[str, Any]]]:
    """The runs that are cases, and the inventory of all logs with the reason where one is none."""
    runs: dict[str, Run] = {}
    inventory: dict[str, dict[str, Any]] = {}
    for loaded in load_paths(list(plan.logs)):
        if isinstance(loaded, Ignored):
            continue
        if isinstance(loaded, Problem):
            name = loaded.error.source
            inventory[name] = {"case": name, "applicable": False, "reason": str(loaded.error)}
            continue
        case = case_id(loaded.source)
        if case in inventory:
            raise UsageError(f"two runs have the case {case}; give the folder that holds them both instead")
        (finding,) = derive(loaded)
        applicable = isinstance(finding, Finding)
        reason = finding.reason if isinstance(finding, NotApplicable) else None
        inventory[case] = {"case": case, "task": loaded.task, "applicable": applicable, "reason": reason}
        if applicable:
            runs[case] = loaded
    chosen = choose_cases(runs, plan.cases)
    for case, row in inventory.items():
        row["asked"] = case in chosen
    return [runs[case] for case in chosen], [inventory[case] for case in sorted(inventory)]


def _no_case(inventory: Sequence[dict[str, Any]]) -> str:
    if not inventory:
        return "no case: there is no log; give files or folders of agent logs"
    (reason, count), *_ = Counter(str(row["reason"]) for row in inventory).most_common(1)
    return f"no case: none of the {len(inventory)} logs has a target; {count} of them: {reason}"


def choose_cases(cases: Iterable[str], count: int | None) -> list[str]:
    """All cases, or the `count` with the smallest SHA-256 of their ids; sorted."""
    by_hash = sorted(cases, key=lambda case: hashlib.sha256(case.encode("utf-8", "surrogatepass")).hexdigest())
    return sorted(by_hash[:count])


def _packages(run: Run, conditions: Iterable[Condition]) -> tuple[Case, dict[str, Package]]:
    packages = {condition.name: _built(run, condition) for condition in conditions}
    (finding,) = derive(run)
    assert isinstance(finding, Finding)
    case = Case(
        id=case_id(run.source),
        task=run.task or case_id(run.source),
        log_sha256=run.source.sha256,
        sidecar_sha256=run.source.sidecar_sha256,
        action=finding.target.action,
        argument=finding.target.argument,
        needs_table=needs_table(run),
        complete=answers_of(finding),
    )
    return case, packages


def _built(run: Run, condition: Condition) -> Package:
    built = build(run, condition)
    if isinstance(built, NotApplicable):
        raise UsageError(f"{run.source.name}: no package under {condition.name}: {built.reason}")
    return built.package


def needs_table(run: Run) -> bool:
    """The stratum of a case: whether Q3 is open without the table and answered with it."""
    without, with_table = (finding_of(_built(run, BUILT_IN[name])).q3 for name in ("C00", "C10"))
    return without.status is Status.ABSTAIN and with_table.status is not Status.ABSTAIN


def _manifest(
    plan: StudyPlan, conditions: Sequence[str], cases: Sequence[Case], questions: Sequence[Question]
) -> dict[str, Any]:
    return {
        "format": MANIFEST_FORMAT,
        "versions": dict(_versions()),
        "logs": [str(path) for path in plan.logs],
        "conditions": list(conditions),
        "cases_at_most": plan.cases,
        "cases": len(cases),
        "seed": SEED,
        "instructions": INSTRUCTIONS,
        "instructions_sha256": hashlib.sha256(INSTRUCTIONS.encode()).hexdigest(),
        "response_schema": response_schema(),
        "temperature": TEMPERATURE,
        "max_output_tokens": MAX_OUTPUT_TOKENS,
        "max_input_tokens": MAX_INPUT_TOKENS,
        "input_counted_with": TOKENIZER,
        "retries": 0,
        "logs_sha256": {case.id: [case.log_sha256, case.sidecar_sha256] for case in cases},
        "packages_sha256": {f"{row.condition}/{row.case}": row.package_sha256 for row in questions},
    }


def _versions() -> Iterator[tuple[str, str]]:
    yield "trace-prov", __version__
    for name in ("inspect-ai", "numpy", "bpe-openai"):
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _refuse_other_plan(manifest: dict[str, Any], plan: StudyPlan, folder: StudyFolder) -> None:
    """Raises UsageError where the folder holds a study of something else."""
    asked: dict[str, Any] = {"instructions_sha256": hashlib.sha256(INSTRUCTIONS.encode()).hexdigest()}
    if plan.logs:
        asked["logs"] = [str(path) for path in plan.logs]
    if plan.conditions:
        asked["conditions"] = [condition.name for condition in plan.shown]
    if plan.cases is not None:
        asked["cases_at_most"] = plan.cases
    for name, value in asked.items():
        if manifest.get(name) != value:
            raise UsageError(
                f"{folder.path} holds a study with other {name.removesuffix('_sha256').replace('_', ' ')}; "
                "give the same again, or another folder"
            )
