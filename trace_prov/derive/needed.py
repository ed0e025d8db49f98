"""The smallest additional evidence that would answer an open question (CONTRACT §6), in the order to ask for it.

A set of evidence is enough when, whatever it turns out to say, the question is then answered; it is the smallest when
no part of it can be left out. Evidence that only might help is never named. Where the account is withheld, what is
named is enough unless the account turns out to hold a malformed Basis, which nothing can mend. All engines share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trace_prov.model import BasisState, Locator

#: All rows of the table, where it cannot be known yet which of them matter.
WHOLE_TABLE = "binding table"


def account_of(action: str) -> str:
    return f"account of {action}"


def binding_of(local_id: str) -> str:
    return f"binding of {local_id}"


def needed_records(hidden: Iterable[Locator]) -> tuple[str, ...]:
    """Each hidden record may hold the literal while no other does, so all are needed, elements within their whole."""
    wanted = sorted(set(hidden))
    return tuple(
        str(locator) for locator in wanted if locator.element == 0 or locator.is_request or locator.whole not in wanted
    )


def needed_for_cited(
    action: str,
    basis: BasisState,
    *,
    table_complete: bool,
    matched: Iterable[Locator],
    hidden: Iterable[Locator],
    bound: Iterable[Locator] = (),
    unbound: Iterable[str] = (),
) -> tuple[str, ...]:
    """For an open Q3. `matched` hold the literal visibly, `hidden` are the others that may hold it.

    `bound` are the locators of the cited ids' rows, `unbound` the cited ids that may name any record. These matter
    only where they may name a record that may hold the literal and that no bound id covers.
    """
    matched, hidden, bound, unbound = list(matched), list(hidden), list(bound), list(unbound)
    if basis is BasisState.WITHHELD:
        rows = () if table_complete or not (matched or hidden) else (WHOLE_TABLE,)
        return (account_of(action), *rows, *needed_records(hidden))
    if basis is BasisState.MALFORMED:
        return ()
    uncovered = [locator for locator in (*matched, *hidden) if not any(other.covers(locator) for other in bound)]
    if unbound and uncovered:
        return (*needed_records(hidden), *map(binding_of, unbound))
    return needed_records(part_bound(hidden, bound))


def part_bound(hidden: Iterable[Locator], bound: Iterable[Locator]) -> Iterator[Locator]:
    """What of the hidden locators the bound ones address; a hidden whole stands for any of its elements too."""
    bound = list(bound)
    for locator in hidden:
        if any(other.covers(locator) for other in bound):
            yield locator
        else:
            yield from (other for other in bound if locator.covers(other))
