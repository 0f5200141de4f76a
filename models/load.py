"""Find the model that plays a role."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import anyio.to_thread
import httpx
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from config.errors import Problem
from config.models import KEYS, check_roles, table
from config.settings import settings
from graph.context import Context
from models.extractive.model import Extractive

NOT_CHAT = re.compile(
    r"embed|rerank|whisper|transcri|tts|speech|audio|realtime|dall-e|image|diffusion|flux|sora"
    r"|moderation|guard|(?:^|[/_-])(?:bge|gte|e5|minilm|clip)(?:[_:-]|$)",
    re.IGNORECASE,
)
"""What the names of models say that do not chat."""

providers: dict[str, Callable[[str], BaseChatModel]] = {"extractive": lambda _: Extractive()}
"""Providers of our own; every other name is LangChain's to know."""

_loaded: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, BaseChatModel]]
_loaded = WeakKeyDictionary()


def model_name(role: str, context: Context) -> str:
    """Return the name of the model that plays a role in a run, as `provider:name`.

    What the run chose comes first, then `DOSSIER_MODEL`, then `models.toml`. Nobody who set
    no key gets an error for a model they never named: `extractive:` plays instead.
    """
    check_roles(context.models)
    named = context.models.get(role) or context.models.get("default")
    named = named or os.environ.get("DOSSIER_MODEL")
    if named:
        return named
    usual = table().roles.get(role, table().default)
    return usual if _has_key(usual) else "extractive:"


def fallback_name(name: str) -> str | None:
    """Return the model that is asked when `name` is down, if there is another."""
    other = table().fallback
    return other if other and other != name and _has_key(other) else None


async def load(name: str) -> BaseChatModel:
    """Return the model of a name; the same one each time within an event loop.

    Raises:
        Problem: `unknown_model` or `model_key_missing`.
    """
    here = _loaded.setdefault(asyncio.get_running_loop(), {})
    if name not in here:
        provider, _, model = name.partition(":")
        own = providers.get(provider)
        here[name] = own(model) if own else await _init(name)
        if own:
            here[name].metadata = {"model": f"{provider}:{model}"}
    return here[name]


async def _init(name: str) -> BaseChatModel:
    provider, _, model = name.partition(":")
    if not model:
        raise _unknown(name, "it has the form provider:name")
    if not _has_key(name):
        hint = f"set {KEYS[provider]}, or leave the model away to use extractive:"
        raise Problem("model_key_missing", f"no key for {provider}", where=name, hint=hint)
    options = _options(provider)
    if provider == "openai" and name == table().default and os.environ.get("OPENAI_BASE_URL"):
        name = await _served(name, options["http_async_client"])
    try:
        # Importing a provider's package takes seconds, and reads many files.
        loaded: BaseChatModel = await anyio.to_thread.run_sync(
            lambda: init_chat_model(name, **options)
        )
    except ImportError as error:
        raise _unknown(name, f"install the package of {provider}: {error.name}") from error
    except ValueError as error:
        raise _unknown(name, f"{', '.join([*providers, *KEYS])} and others") from error
    loaded.metadata = {"model": name}
    return loaded


async def _served(name: str, client: httpx.AsyncClient) -> str:
    """Return the model to ask of a compatible server that may not have the usual one.

    The usual name stays if the server has it or will not list what it has; else the first is taken
    that chats by its name, or the very first where none does.
    """
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    try:
        address = f"{os.environ['OPENAI_BASE_URL'].rstrip('/')}/models"
        answer = await client.get(address, headers=headers)
        ids = [str(one["id"]) for one in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return name
    if not ids or name.partition(":")[2] in ids:
        return name
    chatting = (one for one in ids if not NOT_CHAT.search(one))
    return f"openai:{next(chatting, ids[0])}"


def _options(provider: str) -> dict[str, Any]:
    """Return what a client is made with; it never tries again, for that is our own retry's work."""
    limits = settings()
    options: dict[str, Any] = {"max_retries": 0, "timeout": limits.idle_seconds}
    if provider == "openai":
        timeout = httpx.Timeout(limits.idle_seconds, connect=limits.connect_seconds)
        # A client of ours ends with its event loop; the package would share one between loops.
        client = httpx.AsyncClient(timeout=timeout)
        options |= {"timeout": timeout, "http_async_client": client, "stream_usage": True}
    return options


def _has_key(name: str) -> bool:
    variable = KEYS.get(name.partition(":")[0])
    return variable is None or bool(os.environ.get(variable))


def _unknown(name: str, hint: str) -> Problem:
    return Problem("unknown_model", f"there is no model {name!r}", hint=hint)
