"""A chat model that needs no network and invents nothing.

It quotes its prompt, as text, as a tool call or in the form of a JSON schema.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from models.extractive.answer_ranking import row_subject, select_quotes
from models.extractive.finding_review import review_coverage, review_finding
from models.extractive.memory_tasks import (
    abstract_page,
    check_notes,
    digest_conversation,
    plan_lookup,
    skip_learning,
    take_notes,
)
from models.extractive.planning import draft_plan, remove_unwanted
from models.extractive.prompt_parser import ParsedPrompt, parse_prompt
from models.extractive.query_rewriting import rewrite_question, triage_message
from models.extractive.writing import write_finding, write_report
from text.answerability import is_answerable
from text.background_threads import run_abandonable
from text.question_types import asks_why_too
from text.tokens import count_tokens
from text.topics import extract_topic, key_phrase, key_terms


def make_minimal_value(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return the emptiest value that fits a JSON schema: its default, null, "", 0, false, [] or {}.

    Of an object only the required properties are filled. `root` holds the definitions that a
    `$ref` points to.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return make_minimal_value(_definition(schema["$ref"], root), root)
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    if "enum" in schema:
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        null = any(choice.get("type") == "null" for choice in choices)
        return None if null else make_minimal_value(choices[0], root)
    return _of_type(schema, root)


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = ("null" if "null" in kind else kind[0]) if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            name: make_minimal_value(properties.get(name, {}), root)
            for name in schema.get("required", [])
        }
    if kind == "array":
        items = schema.get("items", {})
        return [make_minimal_value(items, root) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return "-" * schema.get("minLength", 0)
    if kind in ("integer", "number"):
        return _least(schema)
    return False if kind == "boolean" else None


def _least(schema: Mapping[str, Any]) -> float:
    """Return 0, or the number nearest to it that is allowed."""
    low = schema.get("minimum", schema.get("exclusiveMinimum", -math.inf) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", math.inf) - 1)
    nearest: float = min(max(0, low), high)
    return nearest


def _definition(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found  # type: ignore[no-any-return]


_ANSWERS: dict[str, Callable[[ParsedPrompt], dict[str, Any]]] = {
    "Triage": triage_message,
    "Rewrite": rewrite_question,
    "Draft": draft_plan,
    "Verdict": review_finding,
    "Enough": review_coverage,
    "Lookup": plan_lookup,
    "Notes": take_notes,
    "Complete": check_notes,
    "Abstract": abstract_page,
    "Learnt": skip_learning,
}
"""What answers a schema, by the schema's name."""


def _requested_schema(asked: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the JSON schema of the answer that is asked for, if one is."""
    if isinstance(asked, type) and issubclass(asked, BaseModel):
        return asked.__name__, asked.model_json_schema()
    if not isinstance(asked, Mapping) or asked.get("type") == "text":
        return None
    form = asked.get("json_schema", asked)
    schema = form.get("schema", {})
    return form.get("name") or schema.get("title", ""), schema


def _fill_schema(name: str, schema: Mapping[str, Any], prompt: ParsedPrompt) -> Any:
    """Return the answer to a schema: what its role says, or the emptiest values."""
    return _ANSWERS[name](prompt) if name in _ANSWERS else make_minimal_value(schema)


def _choose_tool_call(
    prompt: ParsedPrompt, messages: Sequence[BaseMessage], bound: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the one tool call that is made: an answer in the form of a tool, or a search."""
    tools = {tool["function"]["name"]: tool["function"] for tool in bound.get("tools") or ()}
    if not tools or any(isinstance(message, ToolMessage) for message in messages):
        return None
    name = _required_tool(tools, bound.get("tool_choice"))
    if name:
        return _call(name, _fill_schema(name, tools[name].get("parameters", {}), prompt))
    wanted = _search(prompt) if "search" in tools and prompt.step else ""
    return _call("search", {"query": wanted}) if wanted else None


def _search(prompt: ParsedPrompt) -> str:
    """Return what to search for: the step if there are no pages, the reason of a row if asked."""
    title = prompt.step[0] if prompt.step else ""
    asked = title if key_terms(title) else prompt.question
    if not prompt.pages:
        return key_phrase(asked)
    if not asks_why_too(asked) or not is_answerable(asked, prompt.pages):
        return ""
    answer = select_quotes(extract_topic(asked), asked, prompt.pages, 1)
    named = row_subject(answer[0].text) if answer else ""
    return f"{named} {key_phrase(asked)}" if named else ""


def _required_tool(tools: Mapping[str, Any], choice: Any) -> str | None:
    """Return the tool that must be called, or that is an answer in the form of a tool."""
    named = choice.get("function", choice).get("name") if isinstance(choice, Mapping) else choice
    if named in tools:
        return str(named)
    if named in ("any", "required"):
        return next(iter(tools))
    return next((name for name in tools if name in _ANSWERS), None)


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": "call_1", "type": "tool_call"}


_END = {"finish_reason": "stop", "model_name": "extractive"}


class ExtractiveChatModel(BaseChatModel):
    """Answers by classical methods: key terms, sentence ranking, coverage; quotes are verbatim.

    It reads the marked blocks of the newest message (`prompt_parser.py`) and plays the role that
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
        message = await run_abandonable(_answer, messages, kwargs, seconds=inf)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for part in _parts(await run_abandonable(_answer, messages, kwargs, seconds=inf)):
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
    prompt = parse_prompt(messages)
    prompt = prompt._replace(
        pages=tuple(remove_unwanted(prompt.pages, prompt.wishes, prompt.question))
    )
    called = _choose_tool_call(prompt, messages, bound)
    form = _requested_schema(bound.get("response_format"))
    unsure = None
    if called:
        text = ""
    elif form:
        text = json.dumps(_fill_schema(*form, prompt), ensure_ascii=False)
    elif prompt.transcript:
        text = digest_conversation(prompt.transcript)
    elif prompt.step:
        text, unsure = write_finding(prompt)
    elif prompt.question:
        text, unsure = write_report(prompt)
    else:
        text = triage_message(prompt)["reply"] or write_report(prompt).text
    usage = _usage(messages, text or json.dumps(called))
    calls = [called] if called else []
    end = _END if unsure is None else {**_END, "unsure": unsure}
    return AIMessage(text, tool_calls=calls, response_metadata=dict(end), usage_metadata=usage)


def _usage(messages: Sequence[BaseMessage], answer: str) -> UsageMetadata:
    """Return the tokens as counted here, so that budgets and traces have something to count."""
    read_tokens = sum(count_tokens(str(message.text)) for message in messages)
    written = count_tokens(answer)
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
