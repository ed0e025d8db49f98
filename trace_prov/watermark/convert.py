"""From a run that a log loader read to a trajectory: group i is action i of the run, so evidence can point at it.

A log format gives one result a call, so a ghost record is not in it as such: the tally channel needs a trajectory file.
"""

from __future__ import annotations

from trace_prov import model
from trace_prov.watermark.trajectory import OBSERVATION, Group, Record, Run, call_record


def trajectory_of(run: model.Run, salt: str | None = None) -> Run:
    """Return `run` as a trajectory; its task is the first request turn, or the task that the log names."""
    turns = [turn.content.text for turn in run.turns if turn.content.text is not None]
    return Run(run.id, salt, turns[0] if turns else run.task, tuple(_group(action) for action in run.actions))


def _group(action: model.Action) -> Group:
    arguments = {argument.name: argument.value for argument in action.arguments}
    decision = call_record(
        action.tool,
        arguments if action.arguments_text is None else action.arguments_text,
        content=action.account.text or "",
        id=action.native_id,
    )
    if action.result is None or not action.has_records:
        return Group(decision)
    text = action.result.content.text or ""
    return Group(decision, (Record(OBSERVATION, text, action.tool, call=action.native_id),))
