"""What every model call of an agent needs to know, handed to it as its context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage

from graph.context import Context
from runs.budget import Budget
from runs.place import Here


@dataclass
class Shortened:
    """The older part of a conversation as it goes on: its first `upto` messages, made shorter."""

    messages: list[AnyMessage] = field(default_factory=list)
    upto: int = 0


@dataclass(frozen=True)
class Around:
    """Who calls from where, and what the call may cost; an agent itself knows nothing of this.

    So one agent serves every call of a role, and is made only once.
    """

    choices: Context
    here: Here
    role: str
    budget: Budget
    model: BaseChatModel
    system: str
    """What the role is told about its work."""
    about: str = ""
    """What the call is about: the question, and the step where there is one."""
    question: str = ""
    """The question of the run, as far as it is known at this point."""
    turns: tuple[str, ...] = ()
    """The last turns of the conversation."""
    turn: int = 1
    """The question's number in its thread."""
    web: bool = True
    """Whether its tools may search the web."""
    fallback: BaseChatModel | None = None
    recall: Callable[[str], Awaitable[Any]] | None = None
    """Answers a question from memory, for the tool of that name."""
    shortened: Shortened = field(default_factory=Shortened)
    """What was made of the conversation, where it is too long for the model."""
    found: list[Any] = field(default_factory=list)
    """What the tools found, for the node that let them be used."""
