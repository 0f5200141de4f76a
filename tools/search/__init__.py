"""Web search: one provider after the other, until one has found something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from config.errors import Problem
from tools.search import brave, searxng, tavily
from tools.search.base import Hit, Provider

__all__ = ["PROVIDERS", "Hit", "Provider", "available", "check_names", "search"]

PROVIDERS: dict[str, Callable[[Mapping[str, str]], Provider]] = {
    "searxng": searxng.configured,
    "tavily": tavily.configured,
    "brave": brave.configured,
}
"""How each provider is made from the environment; a new one is a file and a line here."""

_VARIABLES = {
    "searxng": searxng.VARIABLE,
    "tavily": tavily.VARIABLE,
    "brave": brave.VARIABLE,
}


def available(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the providers that the environment has an address or a key for."""
    return [name for name, variable in _VARIABLES.items() if environ.get(variable, "").strip()]


async def search(
    names: Sequence[str], query: str, limit: int, environ: Mapping[str, str]
) -> list[Hit]:
    """Return the hits of the first provider that has any; none if all that answer have none.

    Args:
        names: The providers to ask, in this order.
        query: What to search for.
        limit: How many hits are wanted at most.
        environ: Where addresses and keys are read from.

    Raises:
        Problem: `search_unavailable` if none of them answers; `unknown_provider`.
    """
    check_names(names)
    wanted = " ".join(query.split())
    if not wanted:
        return []
    failures = []
    for name in names:
        try:
            found = await PROVIDERS[name](environ).search(wanted, limit)
        except Problem as problem:
            failures.append(f"{name}: {problem.what}")
        else:
            if found:
                return found
    if len(failures) == len(names):
        what = "; ".join(failures) or "no search provider is chosen"
        hint = f"set one of {', '.join(_VARIABLES.values())}, or look at what each of them says"
        raise Problem("search_unavailable", what, hint=hint)
    return []


def check_names(names: Sequence[str]) -> None:
    """Make sure that there are providers of these names.

    Raises:
        Problem: `unknown_provider`.
    """
    unknown = [name for name in names if name not in PROVIDERS]
    if unknown:
        hint = f"choose from {', '.join(PROVIDERS)}"
        raise Problem("unknown_provider", f"there is no search provider {unknown[0]!r}", hint=hint)
