"""A model of evaluations whose replies a function makes, at once and without a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from models.chat_models import chat_model_providers
from models.extractive.model import ExtractiveChatModel

Reply = Callable[[str, Sequence[BaseMessage]], AIMessage | None]
"""Makes a reply from the name of the schema that it must have, "" for none, and the messages; the
built-in model replies in the place of `None`."""


class ScriptedModel(BaseChatModel):
    """A model whose replies a function makes."""

    reply: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Take the tools; a reply calls them by name."""
        return self.bind(**kwargs)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        form = kwargs.get("response_format", {}).get("json_schema", {}).get("name", "")
        message = self.reply(form, messages)
        if message is None:
            return ExtractiveChatModel()._generate(messages, stop, run_manager, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=message)])


def script_models(provider: str, reply: Reply) -> None:
    """Let a function make the replies of all models of a provider."""
    chat_model_providers[provider] = lambda _: ScriptedModel(reply=reply)


def end_with(text: str) -> AIMessage:
    """Return a message that is the whole reply."""
    return AIMessage(text, response_metadata={"finish_reason": "stop"})
