"""Find the model that plays a role."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import anyio.to_thread
import httpx
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from config.errors import Problem
from config.models import KEYS, ROLES, check_roles, table
from config.settings import settings
from graph.context import Context
from models.embeddings import paid
from models.extractive.model import Extractive
from models.offered import address, in_short, offered, offers
from retrieval.regex import regex

NOT_CHAT = regex(
    r"embed|rerank|whisper|transcri|tts|speech|audio|realtime|dall-e|image|diffusion|flux|sora"
    r"|moderation|guard|(?:^|[/_-])(?:bge|gte|e5|minilm|clip)(?:[_:-]|$)",
    re.IGNORECASE,
)
"""What the names of models say that do not chat."""

providers: dict[str, Callable[[str], BaseChatModel]] = {"extractive": lambda _: Extractive()}
"""Providers of our own; every other name is LangChain's to know."""

_loaded: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, bool], BaseChatModel]]
_loaded = WeakKeyDictionary()


def model_name(role: str, context: Context) -> str:
    """Return the name of the model that plays a role in a run, as `provider:name`.

    What the run chose comes first, then `DOSSIER_MODEL`, then the table of models. Nobody who set
    no key gets an error for a model they never named: `extractive:` plays instead of the table that
    ships, and never instead of the operator's own.
    """
    if said := _said(role, context):
        return said
    usual = table().roles.get(role, table().default)
    return usual if settings().models or has_key(usual) else "extractive:"


def built_in(role: str, context: Context) -> bool:
    """Tell whether the built-in model plays a role in a run: it costs nothing."""
    return model_name(role, context).startswith("extractive:")


def _said(role: str, context: Context) -> str | None:
    check_roles(context.models)
    chosen = context.models.get(role) or context.models.get("default")
    return chosen or os.environ.get("DOSSIER_MODEL")


async def playing(role: str, context: Context) -> BaseChatModel:
    """Return the model that plays a role in a run.

    Where nobody named one, a compatible server that lacks the usual one plays with what it has.

    Raises:
        Problem: What `load` tells of.
    """
    chosen = _said(role, context) or settings().models
    return await load(model_name(role, context), named=bool(chosen))


def fallback_name(name: str) -> str | None:
    """Return the model that is asked when `name` is down, if there is another."""
    other = table().fallback
    return other if other and other != name and has_key(other) else None


def without_price(names: Iterable[str]) -> list[str]:
    """Return the models without a known price; built-in ones cost nothing."""
    prices = table().prices
    paid = (one for one in dict.fromkeys(names) if one.partition(":")[0] not in providers)
    return [one for one in paid if one not in prices]


def check_prices(context: Context, names: Iterable[str] = ()) -> None:
    """Make sure that a cap on money can be enforced for every model of a run, embedders included.

    Args:
        context: The choices of the run; a person has set the cap.
        names: The models; by default those of its roles, and their fallback.

    Raises:
        Problem: `model_without_price`.
    """
    playing = list(names) or [model_name(role, context) for role in ROLES]
    others = [other for one in playing if (other := fallback_name(one))]
    if unknown := without_price([*playing, *others, *paid()]):
        what = f"max_cost cannot be enforced: no price is known for {', '.join(unknown)}"
        hint = (
            "add it under [prices] in the file that DOSSIER_MODELS names ([0, 0] where it costs "
            "nothing), or omit max_cost: max_tokens and max_calls apply to every model"
        )
        raise Problem(
            "model_without_price", what, where=f"max_cost = {context.max_cost}", hint=hint
        )


async def load(name: str, *, named: bool = True) -> BaseChatModel:
    """Return the model of a name; the same one each time within an event loop.

    Args:
        name: As `provider:name`.
        named: Whether a person named it; then no other ever takes its place.

    Raises:
        Problem: `unknown_model`, with what the server offers instead, or `model_key_missing`.
    """
    here = _loaded.setdefault(asyncio.get_running_loop(), {})
    if (name, named) not in here:
        provider, _, model = name.partition(":")
        own = providers.get(provider)
        made = own(model) if own else await _init(name, named)
        if own:
            made.metadata = {"model": f"{provider}:{model}"}
        here[name, named] = made
    return here[name, named]


async def _init(name: str, named: bool) -> BaseChatModel:
    provider, _, model = name.partition(":")
    if not model:
        raise _unknown(name, "it has the form provider:name")
    if not has_key(name):
        hint = f"set {KEYS[provider]}, or leave the model away to use extractive:"
        raise Problem("model_key_missing", f"no key for {provider}", where=name, hint=hint)
    options = _options(provider)
    if provider == "openai" and os.environ.get("OPENAI_BASE_URL"):
        name = await _served(name, named, options["http_async_client"])
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


async def _served(name: str, named: bool, client: httpx.AsyncClient) -> str:
    """Return the model to ask of a compatible server that may not have the one of a name.

    The name stays if the server has it or will not list what it has. One that nobody named gives
    way to the first that chats by its name, or the very first where none does.

    Raises:
        Problem: `unknown_model` when a person named it and the server has it not, or
            `config_value`.
    """
    try:
        ids = await offered(client)
    except Problem as problem:
        if problem.code == "config_value":
            raise
        return name  # A call tells it in its turn, and another model may stand in.
    if offers(ids, name.partition(":")[2]):
        return name
    if named:
        what = f"the model server does not offer {name!r}"
        hint = f"it offers {in_short(ids)}; name one as openai:NAME"
        raise Problem("unknown_model", what, where=address(), hint=hint)
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


def has_key(name: str) -> bool:
    """Say whether the key that a model needs is set."""
    variable = KEYS.get(name.partition(":")[0])
    return variable is None or bool(os.environ.get(variable))


def _unknown(name: str, hint: str) -> Problem:
    return Problem("unknown_model", f"there is no model {name!r}", hint=hint)
