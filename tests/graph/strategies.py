"""Generated runs with everything that a graph must hold and the logs of `tests.strategies` seldom have."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from trace_prov.model import Action, Argument, Content, Diagnostic, RecordedInput, RecordState, Run, Severity

from ..strategies import runs, withholdings

#: What RDF, N-Quads or IRIs could lose: lone surrogates, the characters that stand for them, controls, private use.
_ODD_CHARACTERS = (
    'ab"\\ \t\n\r\x00\x01\x0b\x1f\x7f\x85\u2028\ufeff\ufffe\ud800\udfff\udc80😀e\u0301é%:/<>{}'
    "\U0010f000\U0010f03f\U0010f040\U0010f041\U0010ffff"
)
ODD_TEXTS = st.text(st.sampled_from(_ODD_CHARACTERS), max_size=8)
_JSON = st.recursive(
    st.one_of(ODD_TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.just(10**40)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ODD_TEXTS, inner, max_size=3)),
    max_leaves=5,
)


def examples(count: int) -> settings:
    """So many generated runs; drawing one takes long, which is no fault on a busy machine."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def visible_runs(draw: st.DrawFn) -> Run:
    """Runs as logs give them and as packages show them, some with odd texts in every place that takes a text."""
    run = draw(runs(hidden=True))
    if draw(st.booleans()):
        run = draw(withholdings(run))
    return draw(_odd(run)) if draw(st.booleans()) else run


@st.composite
def _odd(draw: st.DrawFn, run: Run) -> Run:
    maybe = st.one_of(st.none(), ODD_TEXTS)
    actions = tuple(draw(_odd_action(action)) for action in run.actions)
    inputs = tuple(RecordedInput(draw(ODD_TEXTS), draw(ODD_TEXTS), row.locator, draw(maybe)) for row in run.table.rows)
    diagnostics = tuple(
        Diagnostic(draw(ODD_TEXTS), severity, draw(ODD_TEXTS), draw(ODD_TEXTS))
        for severity in draw(st.lists(st.sampled_from(Severity), max_size=2))
    )
    turns = tuple(
        replace(turn, content=Content(draw(ODD_TEXTS))) if turn.content.text is not None else turn for turn in run.turns
    )
    source = replace(
        run.source,
        name=draw(ODD_TEXTS),
        sidecar_name=draw(maybe),
        sidecar_size=draw(st.one_of(st.none(), st.integers(0, 9))),
    )
    return replace(
        run,
        source=source,
        turns=turns,
        actions=actions,
        inputs=inputs,
        agent=draw(maybe),
        task=draw(maybe),
        diagnostics=diagnostics,
    )


@st.composite
def _odd_action(draw: st.DrawFn, action: Action) -> Action:
    names = draw(st.lists(ODD_TEXTS, max_size=3))
    arguments = tuple(Argument(name, draw(_JSON)) for name in names)
    if draw(st.booleans()):
        arguments = (*arguments, Argument("hidden", None, RecordState.REDACTED))
    result = action.result
    if result is not None and result.content.state is RecordState.PRESENT and not result.elements:
        text = draw(st.one_of(ODD_TEXTS, st.lists(ODD_TEXTS, min_size=1).map(_yaml_list)))
        result = replace(result, content=Content(text), is_error=draw(st.booleans()))
        if draw(st.integers(0, 3)) == 0:
            result = replace(result, elements=tuple(Content(text) for text in draw(st.lists(ODD_TEXTS, max_size=3))))
    return replace(
        action,
        tool=draw(ODD_TEXTS),
        arguments=arguments,
        result=result,
        native_id=draw(st.one_of(st.none(), ODD_TEXTS)),
        arguments_text=draw(st.one_of(st.none(), ODD_TEXTS)),
    )


def _yaml_list(texts: list[str]) -> str:
    return "\n" + "".join(f'- "{text}"\n' for text in texts)
