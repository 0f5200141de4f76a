"""A chat model that needs no network and invents nothing.

It quotes its prompt, as text, as a tool call or in the form of a JSON schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from models.extractive.answer_ranking import row_subject, select_quotes
from models.extractive.memory_tasks import digest_conversation
from models.extractive.planning import remove_unwanted
from models.extractive.prompt_parser import ParsedPrompt, parse_prompt
from models.extractive.query_rewriting import triage_message
from models.extractive.revising import revise_report
from models.extractive.schema_answers import (
    SchemaAnswer,
    declared_answers,
    make_minimal_value,
    requested_schema,
)
from models.extractive.writing import WrittenAnswer, write_finding, write_report
from text.answerability import is_answerable
from text.background_threads import run_abandonable
from text.question_types import asks_why_too
from text.tokens import estimate_tokens
from text.topics import extract_topic, key_phrase, key_terms

_END = {"finish_reason": "stop", "model_name": "extractive"}


class ExtractiveChatModel(BaseChatModel):
    """Answers by classical methods: key terms, sentence ranking, coverage; quotes are verbatim.

    It reads the marked blocks of the newest message (`prompt_parser.py`). A schema gets its answer
    from `answers`, or the emptiest values where there is none. Without a schema it writes a finding
    if the prompt has a step, else a report.
    """

    answers: Mapping[type[BaseModel], SchemaAnswer] = Field(default_factory=declared_answers)
    """What answers each schema; a request names a schema by the name of its class."""

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
        message = self._answer(messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = await run_abandonable(self._answer, messages, kwargs, seconds=inf)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        message = await run_abandonable(self._answer, messages, kwargs, seconds=inf)
        for chunk in _split_into_chunks(message):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _split_into_chunks(self._answer(messages, kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _answer(self, messages: Sequence[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:
        """Return the whole answer to a prompt, under the settings that were bound."""
        prompt = parse_prompt(messages)
        pages = remove_unwanted(prompt.pages, prompt.wishes, prompt.question)
        prompt = prompt._replace(pages=tuple(pages))
        calls = self._tool_calls(prompt, messages, bound)
        form = requested_schema(bound.get("response_format"))
        unsure = None
        if calls:
            text = ""
        elif form:
            text = json.dumps(self._fill_schema(*form, prompt), ensure_ascii=False)
        else:
            text, unsure = _write(prompt)
        usage = _count_usage(messages, text or json.dumps(calls))
        end = _END if unsure is None else {**_END, "unsure": unsure}
        return AIMessage(text, tool_calls=calls, response_metadata=dict(end), usage_metadata=usage)

    def _fill_schema(self, name: str, schema: Mapping[str, Any], prompt: ParsedPrompt) -> Any:
        answer = self._answers_by_name().get(name)
        return answer(prompt) if answer else make_minimal_value(schema)

    def _answers_by_name(self) -> dict[str, SchemaAnswer]:
        return {schema.__name__: answer for schema, answer in self.answers.items()}

    def _tool_calls(
        self, prompt: ParsedPrompt, messages: Sequence[BaseMessage], bound: Mapping[str, Any]
    ) -> list[ToolCall]:
        """Return at most one tool call: an answer in the form of a tool, or a search."""
        tools = {tool["function"]["name"]: tool["function"] for tool in bound.get("tools") or ()}
        if not tools or any(isinstance(message, ToolMessage) for message in messages):
            return []
        if name := self._required_tool(tools, bound.get("tool_choice")):
            return [_call(name, self._fill_schema(name, tools[name].get("parameters", {}), prompt))]
        query = _choose_search(prompt) if "search" in tools and prompt.step else ""
        return [_call("search", {"query": query})] if query else []

    def _required_tool(self, tools: Mapping[str, Any], choice: Any) -> str | None:
        """Return the tool that must be called, or that is an answer in the form of a tool."""
        name = choice.get("function", choice).get("name") if isinstance(choice, Mapping) else choice
        if name in tools:
            return str(name)
        if name in ("any", "required"):
            return next(iter(tools))
        return next((name for name in tools if name in self._answers_by_name()), None)


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(name=name, args=arguments, id="call_1", type="tool_call")


def _choose_search(prompt: ParsedPrompt) -> str:
    """Return what to search for: the step if there are no pages, the reason of a row if asked."""
    title = prompt.step[0] if prompt.step else ""
    question = title if key_terms(title) else prompt.question
    if not prompt.pages:
        return key_phrase(question)
    if not asks_why_too(question) or not is_answerable(question, prompt.pages):
        return ""
    quotes = select_quotes(extract_topic(question), question, prompt.pages, 1)
    subject = row_subject(quotes[0].text) if quotes else ""
    return f"{subject} {key_phrase(question)}" if subject else ""


def _write(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return what is written for a prompt without a schema."""
    if prompt.transcript:
        return WrittenAnswer(digest_conversation(prompt.transcript))
    if prompt.step:
        return write_finding(prompt)
    if prompt.version:
        return revise_report(prompt)
    if prompt.question:
        return write_report(prompt)
    return WrittenAnswer(triage_message(prompt)["reply"] or write_report(prompt).text)


def _count_usage(messages: Sequence[BaseMessage], answer: str) -> UsageMetadata:
    """Return the tokens as estimated here, so that budgets and traces have something to count."""
    read = sum(estimate_tokens(str(message.text)) for message in messages)
    written = estimate_tokens(answer)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _split_into_chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Yield an answer word by word, and its metadata with an empty last chunk."""
    for word in re.findall(r"\s*\S{1,12}|\s+$", message.text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    calls = [
        tool_call_chunk(name=one["name"], args=json.dumps(one["args"]), id=one["id"], index=at)
        for at, one in enumerate(message.tool_calls)
    ]
    last = AIMessageChunk(
        content="",
        tool_call_chunks=calls,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
    )
    yield ChatGenerationChunk(message=last)
