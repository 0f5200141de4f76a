"""Which sources each step of a turn cites."""

from __future__ import annotations

from typing_extensions import TypedDict

from graph.records import of_steps
from graph.state import State


class StepSources(TypedDict):
    """A step and what its finding rests on."""

    title: str
    sources: list[str]
    """The ids of the sources that its finding cites; empty for a step that found nothing."""


def list_step_sources(state: State) -> list[StepSources]:
    """Return the steps of this turn, in order, each with the sources that its finding cites."""
    findings = of_steps(state.get("findings"), state["turn"])
    return [StepSources(title=one["title"], sources=one["sources"]) for one in findings.values()]
