"""The plan as a message of the conversation, as long as it waits or is researched."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage

from graph.records import Plan
from graph.state import State
from prompts.loader import render

NAME = "plan"
"""What the ids of such messages begin with."""


def plan_message(state: State, plan: Plan) -> AnyMessage:
    """Return the message that shows the plan of a turn; another plan of the turn replaces it.

    Chat pages show a review only below a message of the assistant.
    """
    asked = render("plan_shown", language=state["language"]).strip()
    turn, fork = state["turn"], state.get("fork", 1)
    return AIMessage(f"{outline(plan)}\n\n{asked}", id=f"{NAME}-{turn}.{fork}")


def plans_away(state: State) -> list[Any]:
    """Return what takes every shown plan out of the conversation: an answer stands for itself."""
    said = state.get("messages", [])
    ids = [one.id for one in said if one.type == "ai" and (one.id or "").startswith(f"{NAME}-")]
    return [RemoveMessage(id=one) for one in ids if one]


def outline(plan: Plan) -> str:
    """Return a plan as text that a person reads."""
    lines = [plan["title"], *([plan["thought"]] if plan["thought"] else []), ""]
    places = {step["id"]: str(place) for place, step in enumerate(plan["steps"], start=1)}
    for step in plan["steps"]:
        after = ", ".join(places.get(need, need) for need in step["needs"])
        told = f" (after {after})" if after else ""
        lines.append(f"{places[step['id']]}. {step['title']}{told}")
        if step["description"].casefold() not in ("", step["title"].casefold()):
            lines.append(f"   {step['description']}")
    return "\n".join(lines).strip()
