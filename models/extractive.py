"""A chat model that needs no network and invents nothing: it quotes its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from models.blocks import Prompt, read
from models.extract_plan import draft
from models.extract_review import enough, verdict
from models.extract_rewrite import rewrite
from models.extract_schema import emptiest
from models.extract_smalltalk import triage
from models.extract_topic import key_phrase
from models.extract_writing import finding, report
from retrieval.tokens import estimate

ROLES: dict[str, Callable[[Prompt], dict[str, Any]]] = {
    "Triage": triage,
    "Rewrite": rewrite,
    "Draft": draft,
    "Verdict": verdict,
    "Enough": enough,
}
"""What answers a schema, by the schema's name."""

_END = {"finish_reason": "stop", "model_name": "extractive"}


class Extractive(BaseChatModel):
    """Answers by classical methods: key terms, sentence ranking, coverage; quotes are verbatim.

    It reads the marked blocks of the newest message (`models/blocks.py`) and plays the role that
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
    called = _tool_call(prompt, messages, bound)
    form = _form(bound.get("response_format"))
    if called:
        text = ""
    elif form:
        text = json.dumps(_filled(*form, prompt), ensure_ascii=False)
    elif prompt.step:
        text = finding(prompt)
    elif prompt.question:
        text = report(prompt)
    else:
        text = triage(prompt)["reply"]
    usage = _usage(messages, text or json.dumps(called))
    calls = [called] if called else []
    return AIMessage(text, tool_calls=calls, response_metadata=dict(_END), usage_metadata=usage)


def _form(asked: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the JSON schema of the answer that is asked for, if one is."""
    if isinstance(asked, type) and issubclass(asked, BaseModel):
        return asked.__name__, asked.model_json_schema()
    if not isinstance(asked, Mapping) or asked.get("type") == "text":
        return None
    form = asked.get("json_schema", asked)
    schema = form.get("schema", {})
    return form.get("name") or schema.get("title", ""), schema


def _filled(name: str, schema: Mapping[str, Any], prompt: Prompt) -> Any:
    return ROLES[name](prompt) if name in ROLES else emptiest(schema)


def _tool_call(
    prompt: Prompt, messages: Sequence[BaseMessage], bound: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the one tool call that is made: an answer in the form of a tool, or a first search."""
    tools = {tool["function"]["name"]: tool["function"] for tool in bound.get("tools") or ()}
    if not tools or any(isinstance(message, ToolMessage) for message in messages):
        return None
    name = _chosen(tools, bound.get("tool_choice"))
    if name:
        return _call(name, _filled(name, tools[name].get("parameters", {}), prompt))
    if "search" in tools and prompt.step and not prompt.pages:
        wanted = key_phrase(prompt.step[0]) or key_phrase(prompt.question)
        return _call("search", {"query": wanted})
    return None


def _chosen(tools: Mapping[str, Any], choice: Any) -> str | None:
    """Return the tool that must be called, or that is an answer in the form of a tool."""
    named = choice.get("function", choice).get("name") if isinstance(choice, Mapping) else choice
    if named in tools:
        return str(named)
    if named in ("any", "required"):
        return next(iter(tools))
    return next((name for name in tools if name in ROLES), None)


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": "call_1", "type": "tool_call"}


def _usage(messages: Sequence[BaseMessage], answer: str) -> UsageMetadata:
    """Return an estimate of the tokens, so that budgets and traces have something to count."""
    read_tokens = sum(estimate(message.text) for message in messages)
    written = estimate(answer)
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
