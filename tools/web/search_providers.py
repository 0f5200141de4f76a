"""Search the web with one provider after the other, until one has found something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from config.errors import ErrorCode, Problem
from tools.web.providers.provider import SearchHit
from tools.web.providers.provider_registry import (
    DECLARATIONS,
    SEARCH_PROVIDERS,
    SearchUnanswered,
    check_provider_names,
)


async def search_web(
    names: Sequence[str], query: str, limit: int, environ: Mapping[str, str]
) -> list[SearchHit]:
    """Return the hits of the first provider that has any; none if all that answer have none.

    Args:
        names: The providers to ask, in this order.
        query: What to search for.
        limit: How many hits are wanted at most.
        environ: Where addresses and keys are read from.

    Raises:
        SearchUnanswered: `search_unavailable` if none of them answers; `unknown_provider`.
    """
    check_provider_names(names)
    wanted = " ".join(query.split())
    if not wanted:
        return []
    failures: dict[str, str] = {}
    for name in names:
        try:
            found = await SEARCH_PROVIDERS[name](environ).search(wanted, limit)
        except Problem as problem:
            failures[name] = problem.what
        else:
            if found:
                return found
    if len(failures) == len(names):
        needed = [one for each in DECLARATIONS.values() for one in each.needed_variables]
        hint = f"set one of {', '.join(needed)}, or look at what each of them says"
        raise SearchUnanswered(ErrorCode.SEARCH_UNAVAILABLE, failures, hint=hint)
    return []
