"""A chat model that needs no network and invents nothing: it quotes its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from models.extractive.blocks import read
from models.extractive.calls import filled, form_of, tool_call
from models.extractive.digest import digest
from models.extractive.feedback import without
from models.extractive.smalltalk import triage
from models.extractive.writing import finding, report
from retrieval.aside import aside
from retrieval.tokens import count

_END = {"finish_reason": "stop", "model_name": "extractive"}


class Extractive(BaseChatModel):
    """Answers by classical methods: key terms, sentence ranking, coverage; quotes are verbatim.

    It reads the marked blocks of the newest message (`blocks.py`) and plays the role that
    the name of the schema asked for says; a schema it does not know is filled with the emptiest
    values. Without a schema it writes a finding if the prompt has a step, else a report.
    """

    @property
    def _llm_type(self) -> str:
        return "extractive"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools; only `search`, and a tool named like a schema, are ever called."""
        formed = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=formed, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = _answer(messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = await aside(_answer, messages, kwargs, seconds=inf)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for part in _parts(await aside(_answer, messages, kwargs, seconds=inf)):
            chunk = ChatGenerationChunk(message=part)
            if run_manager:
                await run_manager.on_llm_new_token(str(part.content), chunk=chunk)
            yield chunk

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for part in _parts(_answer(messages, kwargs)):
            chunk = ChatGenerationChunk(message=part)
            if run_manager:
                run_manager.on_llm_new_token(str(part.content), chunk=chunk)
            yield chunk


def _answer(messages: Sequence[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:
    """Return the whole answer to a prompt."""
    prompt = read(messages)
    prompt = prompt._replace(pages=tuple(without(prompt.pages, prompt.wishes, prompt.question)))
    called = tool_call(prompt, messages, bound)
    form = form_of(bound.get("response_format"))
    unsure = None
    if called:
        text = ""
    elif form:
        text = json.dumps(filled(*form, prompt), ensure_ascii=False)
    elif prompt.talk:
        text = digest(prompt.talk)
    elif prompt.step:
        text, unsure = finding(prompt)
    elif prompt.question:
        text, unsure = report(prompt)
    else:
        text = triage(prompt)["reply"] or report(prompt).text
    usage = _usage(messages, text or json.dumps(called))
    calls = [called] if called else []
    end = _END if unsure is None else {**_END, "unsure": unsure}
    return AIMessage(text, tool_calls=calls, response_metadata=dict(end), usage_metadata=usage)


def _usage(messages: Sequence[BaseMessage], answer: str) -> UsageMetadata:
    """Return the tokens as counted here, so that budgets and traces have something to count."""
    read_tokens = sum(count(str(message.text)) for message in messages)
    written = count(answer)
    return UsageMetadata(
        input_tokens=read_tokens, output_tokens=written, total_tokens=read_tokens + written
    )


def _parts(message: AIMessage) -> Iterator[AIMessageChunk]:
    """Yield an answer word by word, and what is said about it with the last part."""
    for word in re.findall(r"\s*\S{1,12}|\s+$", message.text):
        yield AIMessageChunk(content=word)
    calls = [
        tool_call_chunk(name=one["name"], args=json.dumps(one["args"]), id=one["id"], index=at)
        for at, one in enumerate(message.tool_calls)
    ]
    yield AIMessageChunk(
        content="",
        tool_call_chunks=calls,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
    )
