"""Models as actors, over the real wire protocols against a local server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpus.provider import Reply, serving
from trace_prov.corpus.make import CorpusPlan, make_corpus
from trace_prov.derive import derive
from trace_prov.finding import Finding
from trace_prov.language_model import ModelOptions
from trace_prov.load import load_paths
from trace_prov.model import BasisState, Locator, Run

pytest.importorskip("agentdojo")
pytest.importorskip("inspect_ai")

IBAN = "UK12345678901234567890"
RENT = {"recipient": IBAN, "amount": 98.7, "subject": "Car Rental", "date": "2022-01-01"}


def pays_the_bill(messages: list[tuple[str, str]]) -> Reply:
    """Reads the bill, pays it and cites what it read, as a model would that follows the instructions."""
    results = [text for role, text in messages if role == "tool"]
    if not results:
        text = "Action: I read the bill.\nNote: the name is in the request.\nBasis: [in-1]"
        return Reply(text, (("read_file", {"file_path": "bill-december-2023.txt"}),))
    if len(results) == 1:
        assert "[in-2] Bill for the month" in results[0]
        text = "Action: I pay it and look at the list.\nNote: the IBAN is in in-2.\nBasis: [in-2]"
        return Reply(text, (("send_money", RENT), ("get_most_recent_transactions", {"n": 2})))
    assert "[in-3]" in results[1]
    assert "[in-4]" in results[2]
    assert "[in-5]" in results[2]
    return Reply("The bill is paid.")


@pytest.mark.parametrize("name", ["openai-api/local/some-model", "anthropic/claude-some", "openai/gpt-4o"])
def test_models_of_compatible_endpoints_act(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOCAL_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "none")
    with serving(pays_the_bill) as provider:
        url = provider.url if name.startswith("anthropic") else provider.base_url
        plan = CorpusPlan((name,), attacks=0, tasks=("user_task_0",), model=ModelOptions(url))
        entries = make_corpus(plan, tmp_path)
    assert [(entry.completed, entry.reason) for entry in entries] == [(True, None)]
    (run,) = (item for item in load_paths([tmp_path / "runs"]) if isinstance(item, Run))
    assert [action.step for action in run.actions] == [1, 2, 2]
    assert run.actions[1].account.basis.ids == ("in-2",)
    (finding,) = (item for item in derive(run) if isinstance(item, Finding))
    assert finding.q3.locators == (Locator(1),)
    assert len(provider.requests) == 3
    if not name.startswith("anthropic"):  # whose API has no temperature any more; Inspect says so and leaves it out
        assert provider.requests[0]["temperature"] == 0
    assert len(provider.requests[0]["tools"]) == 11


def test_a_run_that_the_provider_refuses_is_kept_as_not_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")

    def refuses(messages: list[tuple[str, str]]) -> Reply:
        if any(role == "tool" for role, _ in messages):
            return Reply("no more", status=400)
        return pays_the_bill(messages)

    with serving(refuses) as provider:
        model = ModelOptions(provider.base_url)
        # An attacked run is made only beside a completed clean one, so none of the two that are planned.
        plan = CorpusPlan(("openai-api/local/m",), attacks=1, tasks=("user_task_0", "user_task_1"), model=model)
        entries = make_corpus(plan, tmp_path)
    assert [(entry.variant, entry.completed) for entry in entries] == [("A0", False), ("A0", False)]
    assert all(entry.reason for entry in entries)
    assert not list(tmp_path.rglob("*.native.json"))
    assert [item for item in load_paths([tmp_path / "runs"]) if isinstance(item, Run)] == []
    rows = [json.loads(line) for line in (tmp_path / "inventory.jsonl").read_text().splitlines()]
    assert [row["applicable"] for row in rows] == [False, False]


def test_forgotten_bases_of_a_model_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")

    def mute(messages: list[tuple[str, str]]) -> Reply:
        reply = pays_the_bill(messages)
        return Reply("" if reply.calls else reply.text, reply.calls)

    with serving(mute) as provider:
        model = ModelOptions(provider.base_url)
        make_corpus(CorpusPlan(("openai-api/local/m",), attacks=0, tasks=("user_task_0",), model=model), tmp_path)
    (run,) = (item for item in load_paths([tmp_path / "runs"]) if isinstance(item, Run))
    assert {action.account.basis.state for action in run.actions} == {BasisState.MISSING}
