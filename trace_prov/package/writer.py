"""From runs to a folder of packages with its inventory: what became of every run, and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trace_prov.derive.target import Question
from trace_prov.errors import PackageError
from trace_prov.finding import NotApplicable
from trace_prov.model import Run
from trace_prov.package.bag import is_package, write_package
from trace_prov.package.build import Built, build, case_id
from trace_prov.package.condition import Condition
from trace_prov.package.folders import (
    NOT_APPLICABLE,
    PACKAGED,
    REFUSED,
    Entry,
    case_folder,
    write_inventory,
)
from trace_prov.package.redact import Rule, redact


@dataclass
class PackageWriter:
    """Writes one package a case below `out`.

    With `strict`, a run in which one of the rules finds nothing is refused: a mistyped rule must not let a package
    out that shows what was to be hidden. Else such rules are collected in `unused`.
    """

    out: Path
    condition: Condition
    question: Question
    rules: Sequence[Rule] = ()
    strict: bool = False
    overwrite: bool = False
    used: set[Rule] = field(default_factory=set)
    _folders: dict[str, str] = field(default_factory=dict)

    def write(self, runs: Iterable[Run]) -> Iterator[Entry]:
        """The inventory's entries, each once its package is written; the inventory itself at the end."""
        if self.out.exists() and not self.out.is_dir():
            raise PackageError(str(self.out), expected="a folder to write packages to", found="a file")
        if is_package(self.out):
            raise PackageError(str(self.out), expected="a folder of packages", found="a package")
        entries = []
        for run in runs:
            entry = self._entry(run)
            entries.append(entry)
            yield entry
        self.out.mkdir(parents=True, exist_ok=True)
        write_inventory(self.out, entries)

    @property
    def unused(self) -> list[Rule]:
        """The rules that found nothing in any run."""
        return [rule for rule in (*self.condition.redact, *self.rules) if rule not in self.used]

    def _entry(self, run: Run) -> Entry:
        case = case_id(run.source)

        def entry(status: str, **more: str | None) -> Entry:
            return Entry(case, run.source.name, self.condition.name, status, **more)

        built = build(run, self.condition, self.question, self.rules)
        if isinstance(built, NotApplicable):
            # A rule that hides the target of the case has found something, though nothing is written.
            self.used |= redact(run, (*self.condition.redact, *self.rules)).used
            return entry(NOT_APPLICABLE, reason=built.reason)
        missed = [rule.text for rule in self.rules if rule not in built.used]
        if self.strict and missed:
            return entry(REFUSED, reason=f"there is nothing to redact for {', '.join(missed)}")
        self.used |= built.used
        try:
            folder = self._written(built, case)
        except PackageError as error:
            return entry(REFUSED, reason=str(error))
        target = built.package.target
        return entry(PACKAGED, folder=folder, action=target.action, argument=target.argument)

    def _written(self, built: Built, case: str) -> str:
        below = self._place(case)
        if below in self._folders:
            raise PackageError(case, expected="one log for each case", found="two", hint="package them one by one")
        self._folders[below] = case
        write_package(built.package, self.out / below, overwrite=self.overwrite)
        return below

    def _place(self, case: str) -> str:
        """The folder of a case below `out`: never through a link, inside another package, or around other packages."""
        below = case_folder(case)
        step = self.out
        parts = below.split("/")
        for part in parts:
            step = step / part
            if step.is_symlink():
                raise PackageError(str(step), expected="a folder", found="a link")
        crowded = step.is_dir() and any(step.iterdir()) and not is_package(step)
        within = any(is_package(self.out.joinpath(*parts[:k])) for k in range(1, len(parts)))
        taken = any(other.startswith(f"{below}/") or below.startswith(f"{other}/") for other in self._folders)
        if crowded or within or taken:
            digest = hashlib.sha256(case.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            below = f"{parts[0]}~{digest}" + "".join(f"/{part}" for part in parts[1:])
        return below
