"""A chat model that says what a test tells it to, and what the extractive model says otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict

from models.chat_models import chat_model_providers
from models.extractive.model import ExtractiveChatModel

Reply = str | dict[str, Any] | BaseModel | AIMessage | Exception


class UnscriptedCall(AssertionError):
    """A test lets a model be asked for something that it has not scripted."""


class Script:
    """What the model answers, by the name of the schema asked for or by `researcher`, `reporter`,
    `summary`.

    A list is answered one by one, its last entry again and again; a function is called with the
    messages, and returns `None` where the extractive model answers. Everything else fails the test,
    unless it is left to the extractive model by name.
    """

    def __init__(self) -> None:
        self.rules: dict[str, list[Reply] | Callable[[list[BaseMessage]], Reply | None]] = {}
        self.on("Learnt", {})
        self.asked: list[tuple[str, list[BaseMessage]]] = []
        self.unscripted: list[str] = []
        self.limits: list[int | None] = []
        self.seconds = 0.0
        self._extractive: set[str] = set()

    def on(self, name: str, *replies: Reply | Callable[[list[BaseMessage]], Reply | None]) -> None:
        if len(replies) == 1 and callable(replies[0]):
            self.rules[name] = replies[0]
        else:
            self.rules[name] = list(replies)

    def extractive(self, *names: str) -> None:
        """Leave schemas or roles to the extractive model where no rule answers them."""
        self._extractive.update(names)

    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    def prompts(self, name: str) -> list[str]:
        return [str(messages[-1].text) for asked, messages in self.asked if asked == name]

    def reply(self, name: str, messages: list[BaseMessage]) -> Reply | None:
        """Return the scripted answer; `None` where the extractive model answers.

        Raises:
            UnscriptedCall: Where neither a rule nor the extractive model answers.
        """
        self.asked.append((name, messages))
        rule = self.rules.get(name)
        if callable(rule):
            return rule(messages)
        if rule:
            return rule.pop(0) if len(rule) > 1 else rule[0]
        if name not in self._extractive:
            self.unscripted.append(name)
            self.check()
        return None

    def check(self) -> None:
        """Fail if the model was asked for something that is not scripted.

        Raises:
            UnscriptedCall: With the names of what was asked for.
        """
        if self.unscripted:
            names = ", ".join(dict.fromkeys(self.unscripted))
            what = f"no rule answers {names}: use script.on(…), or leave it to script.extractive(…)"
            raise UnscriptedCall(what)


@contextmanager
def scripted(patch: pytest.MonkeyPatch, *extractive: str) -> Iterator[Script]:
    """Let a script speak for the models that are named `fake:`; check it at the end.

    A node may have turned the error of an unscripted call into a failed finding.
    """
    script = Script()
    script.extractive(*extractive)
    patch.setitem(chat_model_providers, "fake", lambda _: FakeModel(script=script))
    yield script
    script.check()


class FakeModel(BaseChatModel):
    """A chat model that a script speaks for."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    script: Script
    max_tokens: int | None = None
    """How long an answer may be; the script is told, and keeps to it or not."""

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any):
        form = kwargs.get("response_format")
        text = str(messages[-1].text)
        talk = "\n".join(str(one.text) for one in messages if one.type == "human")
        name = (
            form["json_schema"]["name"] if form else "researcher" if "<step" in talk else "reporter"
        )
        if messages[-1].type == "tool":
            name = "researcher"
        if "<talk>" in text:
            name = "summary"
        self.script.limits.append(self.max_tokens)
        reply = self.script.reply(name, messages)
        if isinstance(reply, Exception):
            raise reply
        if reply is None:
            said = ExtractiveChatModel()._generate(messages, stop, run_manager, **kwargs)
            # It stands for a language model, and only the extractive one says that it is not sure.
            said.generations[0].message.response_metadata.pop("unsure", None)
            return said
        return ChatResult(generations=[ChatGeneration(message=_message(reply))])

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any):
        await asyncio.sleep(self.script.seconds)
        return self._generate(messages, *args, **kwargs)


def _message(reply: Reply) -> AIMessage:
    if isinstance(reply, AIMessage):
        return reply
    if isinstance(reply, BaseModel):
        reply = reply.model_dump()
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    return AIMessage(text, response_metadata={"finish_reason": "stop"}, usage_metadata=usage)
