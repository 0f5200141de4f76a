"""How many tokens a model can read, as far as LangChain, its server or a refusal tells."""

from __future__ import annotations

import re

from langchain_core.language_models import BaseChatModel

from calls.output_limit import chat_model_name
from calls.run_budget import USUAL_ANSWER_TOKENS
from config.errors import ErrorCode, Problem
from config.resources import Resource
from config.settings import settings
from text.regex import regex

LEAST = 4_000
"""The smallest window that a refusal may tell of."""

TOLD_SHARE = 0.7
"""The share of a refused request that is taken for the window if the server names none."""

_SIZE = regex(r"(?:context|window|maximum|limit|n_ctx)\D{0,60}?(\d[\d,]{3,})", re.IGNORECASE)
"""Such as "maximum context length is 32768 tokens" of vLLM and OpenAI."""

_refused = Resource(dict[str, int])
"""By the name of a model: the window that a refusal told of."""


def input_window(model: BaseChatModel) -> int:
    """Return how many tokens a model can read, less those of the memories and of its answer."""
    known = (getattr(model, "profile", None) or {}).get("max_input_tokens")
    whole = known if isinstance(known, int) else settings().context_tokens
    whole = min(whole, _refused.get().get(chat_model_name(model), whole))
    return max(whole - settings().memory_tokens - USUAL_ANSWER_TOKENS, whole // 2)


def learn_window(model: BaseChatModel, problem: Problem, sent: int) -> None:
    """Remember the window of a model whose server refused a request as too long.

    Args:
        model: The model.
        problem: What the server said.
        sent: The tokens of the request.
    """
    if problem.code != ErrorCode.MODEL_CONTEXT:
        return
    named = _SIZE.search(problem.hint)
    size = int(named[1].replace(",", "")) if named else 0
    told = size if LEAST <= size < sent else int(TOLD_SHARE * sent)
    name = chat_model_name(model)
    _refused.get()[name] = max(LEAST, min(told, _refused.get().get(name, told)))
