"""What was said in a thread lately, as far as a role needs it."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from config.settings import settings
from graph.state import State

LONGEST = 1_500
"""How many characters of a message are shown: its beginning and its end."""

WHOLE = 12_000
"""How many characters of the conversation are shown; the newest message always is."""


def recent(state: State) -> list[AnyMessage]:
    """Return the newest messages, oldest first; a report or a pasted text is shown in part."""
    said = [one for one in state["messages"] if one.type in ("human", "ai")]
    shown: list[AnyMessage] = []
    room = WHOLE
    for message in reversed(said[-settings().keep_messages :]):
        text = _cut(str(message.text))
        room -= len(text)
        if shown and room < 0:
            break
        shown.insert(0, HumanMessage(text) if message.type == "human" else AIMessage(text))
    return shown


def _cut(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"
