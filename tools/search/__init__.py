"""Web search: one provider after the other, until one has found something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from config.errors import Problem
from tools.search import brave, searxng, tavily
from tools.search.base import Hit, Provider

__all__ = ["PROVIDERS", "Hit", "Provider", "Unanswered", "available", "check_names", "search"]

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


class Unanswered(Problem):
    """No provider answered."""

    def __init__(self, code: str, failures: Mapping[str, str], *, hint: str) -> None:
        what = "; ".join(f"{name}: {why}" for name, why in failures.items())
        super().__init__(code, what or "no search provider is chosen", hint=hint)
        self.failures = failures
        """Why not, by the name of the provider."""


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
        Unanswered: `search_unavailable` if none of them answers; `unknown_provider`.
    """
    check_names(names)
    wanted = " ".join(query.split())
    if not wanted:
        return []
    failures: dict[str, str] = {}
    for name in names:
        try:
            found = await PROVIDERS[name](environ).search(wanted, limit)
        except Problem as problem:
            failures[name] = problem.what
        else:
            if found:
                return found
    if len(failures) == len(names):
        hint = f"set one of {', '.join(_VARIABLES.values())}, or look at what each of them says"
        raise Unanswered("search_unavailable", failures, hint=hint)
    return []


def check_names(names: Sequence[str]) -> None:
    """Make sure that there are providers of these names.

    Raises:
        Unanswered: `unknown_provider`.
    """
    unknown = dict.fromkeys(set(names) - set(PROVIDERS), "there is no such search provider")
    if unknown:
        hint = f"choose from {', '.join(PROVIDERS)}"
        raise Unanswered("unknown_provider", unknown, hint=hint)
