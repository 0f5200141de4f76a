"""The operator's limits on what a user of a server may choose for a run.

A choice beyond them is refused, and defaults beyond them are lowered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from config.errors import ErrorCode, Problem
from config.model_table import load_model_table
from config.settings import Settings, settings
from graph.context import Context, build_context
from graph.depth import LIMITS
from library.uploads import is_upload_id
from tools.mcp.server_config import NO_SERVERS
from tools.web.provider_choice import list_run_providers

CAPS = ("max_cost", "max_tokens", "max_calls", "max_minutes")
"""The choices with a maximum, which is the setting `caller_…` of the same name."""

MAX_PROJECT_CHARS = 69
"""The most characters of a project's name, as `project_name` makes it."""

ALL = "*"

_CHOICES = frozenset(one.name for one in fields(Context)) | {"deep", "private_queries"}
"""The names of choices, including those of earlier versions."""

_MODEL_VARIABLE = "DOSSIER_MODEL"


class _Limit(NamedTuple):
    """A choice whose values are names, of which the operator allows some."""

    choice: str
    list_allowed: Callable[[Settings], Sequence[str]]
    """Returns the patterns of allowed names."""
    none: str = ""
    """The value for no name at all, which is always allowed."""


def check_run_request(request: Mapping[str, Any], user: str) -> None:
    """Make sure that the choices of a run, or of the runs of a cron, are allowed.

    Args:
        request: The request of a client, with `context`, `config` and `webhook`.
        user: The name of the user.

    Raises:
        Problem: `choice_refused`, or another problem with the choices.
    """
    configurable = (request.get("config") or {}).get("configurable") or {}
    given = {**configurable, **(request.get("context") or {})}
    check_caller_choices(_read_choices(given), user)
    if webhook := request.get("webhook"):
        check_caller_webhook(str(webhook))


def check_caller_choices(chosen: Context, user: str) -> None:
    """Make sure that the operator allows these choices.

    Raises:
        Problem: `choice_refused`, with what is allowed.
    """
    if chosen.user and chosen.user != user:
        raise _refusal("user", chosen.user, "leave it out: the login says who asks")
    if _is_path(chosen.project) or len(chosen.project) > MAX_PROJECT_CHARS:
        hint = f"the name of a project has no slash and at most {MAX_PROJECT_CHARS} characters"
        raise _refusal("project", chosen.project, hint)
    for path in chosen.files:
        _check_path(path)
    for name in CAPS:
        value, most = getattr(chosen, name), largest_cap(name)
        if value is not None and value > most:
            raise _refusal(name, f"{value:g}", f"at most {most:g}")
    for named, value in _named_choices(chosen):
        allowed = named.list_allowed(settings())
        if value != named.none and not _matches(value, allowed):
            listed = ", ".join(allowed) or "none is allowed"
            raise _refusal(named.choice, value, f"choose from: {listed}")


def fit_defaults(choices: Any) -> Any:
    """Return choices whose defaults are lowered to what the operator allows.

    Args:
        choices: A context, or the same as a mapping, which may have other keys as well; or `None`.
    """
    chosen = choices if isinstance(choices, Context) else _read_choices(choices or {})
    fitted: dict[str, Any] = {
        name: largest_cap(name)
        for name in CAPS
        if getattr(chosen, name) is None and getattr(LIMITS[chosen.depth], name) > largest_cap(name)
    }
    allowed = settings().caller_mcp
    if not chosen.mcp and ALL not in allowed:
        fitted["mcp"] = list(allowed) or [NO_SERVERS]
    if isinstance(choices, Context):
        return replace(choices, **fitted)
    return {**(choices or {}), **fitted}


def _read_choices(given: Mapping[str, Any]) -> Context:
    """Return the choices in what a client sent; a server adds keys of its own."""
    return build_context({name: value for name, value in given.items() if name in _CHOICES})


def largest_cap(name: str) -> float:
    """Return the maximum that a user may choose for a cap."""
    named: float | None = getattr(settings(), f"caller_{name}")
    most: float = max(getattr(one, name) for one in LIMITS.values()) if named is None else named
    return most


def _own_models(named: Settings) -> list[str]:
    """Return the models that the operator configured, and those that users may choose besides."""
    table = load_model_table()
    own = [table.default, *table.roles.values(), table.fallback, os.environ.get(_MODEL_VARIABLE)]
    return [*dict.fromkeys(one for one in own if one), *named.caller_models]


def _own_providers(named: Settings) -> list[str]:
    """Return the default search providers, and those that users may choose besides."""
    return [*list_run_providers(Context(web="on"), os.environ), *named.caller_search]


_MODELS = _Limit("models", _own_models)
_LISTS = (
    _Limit("search", _own_providers),
    _Limit("mcp", lambda named: named.caller_mcp, NO_SERVERS),
)


def _named_choices(chosen: Context) -> Iterator[tuple[_Limit, str]]:
    """Yield each chosen name with the limit that applies to it."""
    for one in _LISTS:
        yield from ((one, value) for value in getattr(chosen, one.choice))
    yield from ((_MODELS, value) for value in chosen.models.values())


def _matches(value: str, allowed: Sequence[str]) -> bool:
    """Say whether a name matches an allowed pattern; `*` stands for any characters."""
    return any(fnmatchcase(value, one.replace("[", "[[]").replace("?", "[?]")) for one in allowed)


def _check_path(path: str) -> None:
    """Make sure that a path is an upload, or in a folder that users may choose.

    Raises:
        Problem: `choice_refused`.
    """
    if is_upload_id(path):
        return
    plain = os.path.normpath(path)
    allowed = [os.path.normpath(os.path.expanduser(one)) for one in settings().caller_folders]
    inside = any(plain == one or plain.startswith(one.rstrip(os.sep) + os.sep) for one in allowed)
    if not (os.path.isabs(path) and inside):
        raise _refusal("files", path, "upload what is to be searched")


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or text in (".", "..") or text.startswith("~")


def check_caller_webhook(address: str) -> None:
    """Make sure that a webhook is at a host that the operator allows.

    Raises:
        Problem: `choice_refused`.
    """
    host = (urlsplit(address).hostname or "").lower()
    if host not in settings().caller_webhooks:
        raise _refusal("webhook", address, "the operator of the server allows hosts of webhooks")


def check_caller_receiver(receiver: str) -> None:
    """Make sure that the operator allows a receiver of a watch: `webhook:URL` or `mail:ADDRESS`.

    Raises:
        Problem: `choice_refused`.
    """
    channel, _, to = receiver.partition(":")
    if channel == "webhook":
        check_caller_webhook(to)
    elif to.rpartition("@")[2].lower() not in settings().caller_mail:
        raise _refusal("notify", receiver, "the operator of the server allows domains of mail")


def _refusal(where: str, value: str, hint: str) -> Problem:
    what = f"{value[:200]!r} may not be chosen on this server"
    return Problem(ErrorCode.CHOICE_REFUSED, what, where=where, hint=hint)
