"""The context of a model call: where it is made, by which role, with which model and budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from calls.run_budget import RunBudget
from calls.tool_requests import HumanInput
from graph.context import Context
from graph.records import Source
from memory.middleware import BEGINNING
from runs.call_site import CallSite
from text.script import detect_language


@dataclass
class CompactedPrefix:
    """The older part of a conversation as it goes on: its first `upto` messages, made shorter."""

    messages: list[AnyMessage] = field(default_factory=list)
    upto: int = 0


@dataclass(frozen=True)
class CallContext:
    """Who calls from where, and what the call may cost; an agent itself knows nothing of this.

    So one agent serves every call of a role, and is made only once.
    """

    choices: Context
    site: CallSite
    role: str
    budget: RunBudget
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
    allow_web: bool = True
    """Whether its tools may search the web."""
    bases: tuple[str, ...] = ()
    """The names of the knowledge bases that its tools search."""
    fallback: BaseChatModel | None = None
    loaded: dict[str, BaseTool] = field(default_factory=dict)
    """The tools that only this call has, such as those of servers, by name."""
    recall: Callable[[str], Awaitable[Any]] | None = None
    """Answers a question from memory, for the tool of that name."""
    human: HumanInput | None = None
    """What its tools may ask a person; nothing where nobody can be asked."""
    compacted: CompactedPrefix = field(default_factory=CompactedPrefix)
    """What was made of the conversation, where it is too long for the model."""
    sources: dict[str, Source] = field(default_factory=dict)
    """The sources that the conversation knows, by id; tools add those that they show."""
    used: list[str] = field(default_factory=list)
    """The tools that were called, by name."""
    tool_answers: dict[str, asyncio.Future[str]] = field(default_factory=dict)
    """What each call of a tool has answered, or will, by `tool_answer_key`."""
    tool_results: list[Any] = field(default_factory=list)
    """What the tools found, for the node that let them be used."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let pydantic see one value in it.

        LangChain makes two models of the arguments of each tool, its runtime among them; pydantic
        would go through all that lies in this class each time, for half a second at the start.
        """
        del handler
        return core_schema.is_instance_schema(cls)

    @property
    def language(self) -> str:
        """The language of what the role is told, in which its tools answer."""
        return detect_language(self.system[:BEGINNING])


CallHandler = Callable[[ModelRequest[CallContext]], Awaitable[ModelResponse[Any]]]
