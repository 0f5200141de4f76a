"""Ask a server that speaks OpenAI's protocol which models it offers."""

from __future__ import annotations

import os

import httpx

from config.errors import Problem

USUAL_SERVER = "https://api.openai.com/v1"

PATIENCE = 5.0
"""The seconds that a server may take to list its models."""

SHOWN = 8
"""How many models of a server are named at most."""


def address() -> str:
    """Return where the server is: `OPENAI_BASE_URL`, or OpenAI itself.

    Raises:
        Problem: `config_value` when it is no address.
    """
    written = os.environ.get("OPENAI_BASE_URL") or USUAL_SERVER
    try:
        parts = httpx.URL(written)
        whole = parts.scheme in ("http", "https") and parts.host and (parts.port or 1) < 65_536
    except (httpx.InvalidURL, UnicodeError):
        whole = False
    if not whole:
        hint = "write it as http://host:port/v1"
        # Nobody knows where a password ends in what is no address.
        what = f"{'this' if '@' in written else repr(written)} is not the address of a server"
        raise Problem("config_value", what, where="OPENAI_BASE_URL", hint=hint)
    return written


async def check_server() -> None:
    """Make sure that the server answers and takes the key, within seconds.

    Raises:
        Problem: What `offered` tells of.
    """
    async with httpx.AsyncClient() as client:
        await offered(client)


async def offered(client: httpx.AsyncClient) -> list[str]:
    """Return the names of the models that the server lists; none if it does not list them.

    Raises:
        Problem: `model_unavailable` when it does not answer, `model_auth` when it refuses the key,
            or `config_value`.
    """
    headers = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    place = f"{address().rstrip('/')}/models"
    try:
        answer = await client.get(place, headers=headers, timeout=PATIENCE)
    except (httpx.HTTPError, UnicodeError) as error:
        what = f"the model server does not answer: {str(error) or type(error).__name__}"
        hint = "start the server, or set OPENAI_BASE_URL to where it is (it ends in /v1)"
        raise Problem("model_unavailable", what, where=address(), hint=hint) from error
    if answer.status_code in (401, 403):
        what = f"the model server refuses the key ({answer.status_code})"
        raise Problem("model_auth", what, where=address(), hint="set OPENAI_API_KEY to a valid key")
    if answer.status_code >= 500:
        what = f"the model server fails ({answer.status_code})"
        raise Problem("model_unavailable", what, where=address(), hint="look at the server's log")
    try:
        return [str(one["id"]) for one in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return []


def offers(names: list[str], model: str) -> bool:
    """Say whether a server has a model; one that lists nothing may have any.

    Ollama lists `qwen3:latest` and answers to `qwen3` too.
    """
    return not names or any(name in (model, f"{model}:latest") for name in names)


def in_short(names: list[str]) -> str:
    """Return the names of models for a person, not too many of them."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
