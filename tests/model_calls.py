"""Ask a model as a node does, and the failures its client may answer with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai.chat_models import base
from pydantic import BaseModel

from calls.gateway import WorkResult, ask, work
from config.errors import Problem
from tests.places import runtime

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")

STATE = {"turn": 1, "language": "en"}


class Bee(BaseModel):
    """A typed answer."""

    title: str
    queries: list[str] = []


async def asked(question: str = "Which bee?", **choices: Any) -> str:
    """Ask for a bee; return its title, or the code of the problem."""
    try:
        return (await a_bee(question, **choices)).title
    except Problem as problem:
        return problem.code


async def a_bee(question: str = "Which bee?", **choices: Any) -> Bee:
    messages = [HumanMessage(question)]
    return await ask(STATE, runtime(**choices), "planner", "Name one.", messages, Bee)


async def written(question: str = "Which bee?", **choices: Any) -> WorkResult:
    """Let the model write about bees."""
    return await work(STATE, runtime(**choices), "reporter", "Write.", [HumanMessage(question)])


def models(file: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Make a text the operator's table of models."""
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("DOSSIER_MODELS", str(file))


def status(kind: type[openai.APIStatusError], code: int, **headers: str) -> Exception:
    """Return the error of a client that was answered with a status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return kind("no", response=httpx2.Response(code, headers=named, request=REQUEST), body=None)


SLOW_DOWN = status(base.OpenAIRateLimitError, 429)
DOWN = status(base.OpenAIAPIError, 503)
BAD_KEY = status(base.OpenAIAuthenticationError, 401)
BAD_REQUEST = status(base.OpenAIInvalidRequestError, 400)
TOO_LONG = status(base.OpenAIContextOverflowError, 400)
TIMEOUT = base.OpenAITimeoutError(request=REQUEST)
CUT = AIMessage('{"title": "half"}')
EMPTY = AIMessage("", response_metadata={"finish_reason": "stop"})
REFUSED = AIMessage("no", response_metadata={"finish_reason": "content_filter"})
