"""Find and load the chat model that plays a role, and list the models that a server has."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio.to_thread
import httpx
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from config.errors import ErrorCode, Problem
from config.model_table import (
    API_KEY_VARIABLES,
    MODEL_ROLES,
    check_model_roles,
    is_extractive,
    load_model_table,
)
from config.resources import LoopResource, process_cached
from config.settings import settings
from graph.context import Context
from models.embeddings import list_paid_embedders
from models.extractive.model import ExtractiveChatModel
from text.regex import regex

DEFAULT_SERVER = "https://api.openai.com/v1"

PATIENCE = 5.0
"""The seconds that a server may take to list its models."""

SHOWN_MODELS = 8
"""How many models of a server are named at most."""


def _model_server_url() -> str:
    """Return where the server is: `OPENAI_BASE_URL`, or OpenAI itself.

    Raises:
        Problem: `config_value` when it is no address.
    """
    written = os.environ.get("OPENAI_BASE_URL") or DEFAULT_SERVER
    try:
        parts = httpx.URL(written)
        whole = parts.scheme in ("http", "https") and parts.host and (parts.port or 1) < 65_536
    except (httpx.InvalidURL, UnicodeError):
        whole = False
    if not whole:
        hint = "write it as http://host:port/v1"
        # Nobody knows where a password ends in what is no address.
        what = f"{'this' if '@' in written else repr(written)} is not the address of a server"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="OPENAI_BASE_URL", hint=hint)
    return written


async def check_model_server() -> None:
    """Make sure that the server answers and takes the key, within seconds.

    Raises:
        Problem: What `_list_served_models` tells of.
    """
    async with httpx.AsyncClient() as client:
        await _list_served_models(client)


WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Where servers say how many tokens a model can read: vLLM, OpenRouter, Groq, LM Studio."""


async def _list_served_models(client: httpx.AsyncClient) -> dict[str, int]:
    """Return how many tokens each model can read that the server lists, or 0 if it does not say.

    There are none if it does not list them.

    Raises:
        Problem: `model_unavailable` when it does not answer, `model_auth` when it refuses the key,
            or `config_value`.
    """
    headers = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    place = f"{_model_server_url().rstrip('/')}/models"
    try:
        answer = await client.get(place, headers=headers, timeout=PATIENCE)
    except (httpx.HTTPError, UnicodeError) as error:
        what = f"the model server does not answer: {str(error) or type(error).__name__}"
        hint = "start the server, or set OPENAI_BASE_URL to where it is (it ends in /v1)"
        raise _server_problem(ErrorCode.MODEL_UNAVAILABLE, what, hint) from error
    if answer.status_code in (401, 403):
        what = f"the model server refuses the key ({answer.status_code})"
        raise _server_problem(ErrorCode.MODEL_AUTH, what, "set OPENAI_API_KEY to a valid key")
    if answer.status_code >= 500:
        what = f"the model server fails ({answer.status_code})"
        raise _server_problem(ErrorCode.MODEL_UNAVAILABLE, what, "look at the server's log")
    try:
        listed = answer.raise_for_status().json()["data"]
        return {str(one["id"]): _window(one) for one in listed}
    except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _window(listed: Mapping[str, object]) -> int:
    told = (listed.get(field) for field in WINDOWS)
    return next((size for size in told if isinstance(size, int) and size > 0), 0)


def _server_problem(code: ErrorCode, what: str, hint: str) -> Problem:
    return Problem(code, what, where=_model_server_url(), hint=hint)


NOT_CHAT = regex(
    r"embed|rerank|whisper|transcri|tts|speech|audio|realtime|dall-e|image|diffusion|flux|sora"
    r"|moderation|guard|(?:^|[/_-])(?:bge|gte|e5|minilm|clip)(?:[_:-]|$)",
    re.IGNORECASE,
)
"""What the names of models say that do not chat."""

chat_model_providers: dict[str, Callable[[str], BaseChatModel]] = {
    "extractive": lambda _: ExtractiveChatModel()
}
"""Providers of our own; every other name is LangChain's to know."""


async def _close_clients(models: dict[tuple[str, bool], BaseChatModel]) -> None:
    for model in models.values():
        for name in ("http_async_client", "http_client"):
            client = getattr(model, name, None)
            if isinstance(client, httpx.AsyncClient):
                await client.aclose()
            elif isinstance(client, httpx.Client):
                client.close()


_loaded = LoopResource(dict[tuple[str, bool], BaseChatModel], _close_clients)
"""The models that this event loop has loaded, by name and by whether a person named them."""


def model_for_role(role: str, context: Context) -> str:
    """Return the name of the model that plays a role in a run, as `provider:name`.

    What the run chose comes first, then `DOSSIER_MODEL`, then the table of models. Nobody who set
    no key gets an error for a model they never named: `extractive:` plays instead of the table that
    ships, and never instead of the operator's own.
    """
    if requested := _requested_model(role, context):
        return requested
    usual = load_model_table().roles.get(role, load_model_table().default)
    return usual if settings().models or has_api_key(usual) else "extractive:"


def built_in(role: str, context: Context) -> bool:
    """Tell whether the built-in model plays a role in a run: it costs nothing."""
    return is_extractive(model_for_role(role, context))


def _requested_model(role: str, context: Context) -> str | None:
    check_model_roles(context.models)
    chosen = context.models.get(role) or context.models.get("default")
    return chosen or os.environ.get("DOSSIER_MODEL")


async def load_role_model(role: str, context: Context) -> BaseChatModel:
    """Return the model that plays a role in a run.

    Where nobody named one, a compatible server that lacks the usual one plays with what it has.

    Raises:
        Problem: What `load_chat_model` tells of.
    """
    chosen = _requested_model(role, context) or settings().models
    return await load_chat_model(model_for_role(role, context), explicit=bool(chosen))


def fallback_model(name: str) -> str | None:
    """Return the model that is asked when `name` is down, if there is another."""
    other = load_model_table().fallback
    return other if other and other != name and has_api_key(other) else None


def list_unpriced_models(names: Iterable[str]) -> list[str]:
    """Return the models without a known price; built-in ones cost nothing."""
    prices = load_model_table().prices
    unpriced = (name for name in dict.fromkeys(names) if name not in prices)
    return [name for name in unpriced if name.partition(":")[0] not in chat_model_providers]


def check_model_prices(context: Context, names: Iterable[str] = ()) -> None:
    """Make sure that a cap on money can be enforced for every model of a run, embedders included.

    Args:
        context: The choices of the run; a person has set the cap.
        names: The models; by default those of its roles, and their fallback.

    Raises:
        Problem: `model_without_price`.
    """
    playing = list(names) or [model_for_role(role, context) for role in MODEL_ROLES]
    others = [other for one in playing if (other := fallback_model(one))]
    if unknown := list_unpriced_models([*playing, *others, *list_paid_embedders()]):
        what = f"max_cost cannot be enforced: no price is known for {', '.join(unknown)}"
        hint = (
            "add it under [prices] in the file that DOSSIER_MODELS names ([0, 0] where it costs "
            "nothing), or omit max_cost: max_tokens and max_calls apply to every model"
        )
        raise Problem(
            ErrorCode.MODEL_WITHOUT_PRICE,
            what,
            where=f"max_cost = {context.limits.max_cost}",
            hint=hint,
        )


async def load_chat_model(name: str, *, explicit: bool = True) -> BaseChatModel:
    """Return the model of a name; the same one each time within an event loop.

    Args:
        name: As `provider:name`.
        explicit: Whether a person named it; then no other ever takes its place.

    Raises:
        Problem: `unknown_model`, with what the server offers instead, or `model_key_missing`.
    """
    here = _loaded.get()
    if (name, explicit) not in here:
        provider, _, model = name.partition(":")
        own = chat_model_providers.get(provider)
        made = own(model) if own else await _init(name, explicit)
        if own:
            made.metadata = {"model": f"{provider}:{model}"}
        here[name, explicit] = made
    return here[name, explicit]


async def _init(name: str, named: bool) -> BaseChatModel:
    provider, _, model = name.partition(":")
    if not model:
        raise _unknown(name, "it has the form provider:name")
    if not has_api_key(name):
        hint = f"set {API_KEY_VARIABLES[provider]}, or leave the model away to use extractive:"
        raise Problem(ErrorCode.MODEL_KEY_MISSING, f"no key for {provider}", where=name, hint=hint)
    options = _options(provider)
    windows: dict[str, int] = {}
    if provider == "openai" and os.environ.get("OPENAI_BASE_URL"):
        name, windows = await _served(name, named, options["http_async_client"])
    try:
        # Importing a provider's package takes seconds, and reads many files.
        loaded: BaseChatModel = await anyio.to_thread.run_sync(
            lambda: init_chat_model(name, **options)
        )
    except ImportError as error:
        raise _unknown(name, f"install the package of {provider}: {error.name}") from error
    except ValueError as error:
        known = ", ".join([*chat_model_providers, *API_KEY_VARIABLES])
        raise _unknown(name, f"{known} and others") from error
    loaded.metadata = {"model": name}
    if window := windows.get(name.partition(":")[2]):
        loaded.profile = {**(loaded.profile or {}), "max_input_tokens": window}
    return loaded


async def _served(name: str, named: bool, client: httpx.AsyncClient) -> tuple[str, dict[str, int]]:
    """Return the model to ask of a compatible server that may not have the one of a name.

    The name stays if the server has it or will not list what it has. One that nobody named gives
    way to the first that chats by its name, or the very first where none does.

    Returns:
        The name, and how many tokens the models of the server can read, by their names there.

    Raises:
        Problem: `unknown_model` when a person named it and the server has it not, or
            `config_value`.
    """
    try:
        served = await _list_served_models(client)
    except Problem as problem:
        if problem.code == ErrorCode.CONFIG_VALUE:
            raise
        return name, {}  # A call tells it in its turn, and another model may stand in.
    # Ollama lists `qwen3:latest` and answers to `qwen3` too.
    ids, model = list(served), name.partition(":")[2]
    if not ids or not {model, f"{model}:latest"}.isdisjoint(ids):
        return name, served
    if named:
        more = f" and {len(ids) - SHOWN_MODELS} more" if len(ids) > SHOWN_MODELS else ""
        hint = f"it offers {', '.join(ids[:SHOWN_MODELS])}{more}; name one as openai:NAME"
        what = f"the model server does not offer {name!r}"
        raise _server_problem(ErrorCode.UNKNOWN_MODEL, what, hint)
    chatting = (one for one in ids if not NOT_CHAT.search(one))
    return f"openai:{next(chatting, ids[0])}", served


def _options(provider: str) -> dict[str, Any]:
    """Return what a client is made with; it never tries again, for that is our own retry's work."""
    limits = settings()
    options: dict[str, Any] = {"max_retries": 0, "timeout": limits.idle_seconds}
    if provider == "openai":
        timeout = httpx.Timeout(limits.idle_seconds, connect=limits.connect_seconds)
        # A client of ours ends with its event loop; the package would share one between loops.
        # The package makes a client for synchronous calls anyway; this one shares the certificates.
        options |= {
            "timeout": timeout,
            "http_client": httpx.Client(timeout=timeout, verify=_load_certificates()),
            "http_async_client": httpx.AsyncClient(timeout=timeout, verify=_load_certificates()),
            "stream_usage": True,
        }
    return options


@process_cached
def _load_certificates() -> ssl.SSLContext:
    """Return what the environment trusts; reading it takes longer than making a client."""
    return httpx.create_ssl_context()


def has_api_key(name: str) -> bool:
    """Say whether the key that a model needs is set."""
    variable = API_KEY_VARIABLES.get(name.partition(":")[0])
    return variable is None or bool(os.environ.get(variable))


def _unknown(name: str, hint: str) -> Problem:
    return Problem(ErrorCode.UNKNOWN_MODEL, f"there is no model {name!r}", hint=hint)
