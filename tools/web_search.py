"""Search the web for the queries of a run: without private words, once, reading what is found."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from config.errors import Problem
from graph.context import Context
from memory.pages.store import Page
from retrieval.secrets import masked
from runs.ledger import Call, Said, hits_in, once
from runs.place import Here, anywhere
from runs.trace import REDACTED, WITHHELD, trace
from tools.fetch import canonical
from tools.outgoing import cleared
from tools.reading import read_all
from tools.search import search

HITS = 5
"""How many web pages are read for one query."""

SHORTENED = (
    "The web was searched for {}: words of the person's files or memory, which must not leave this "
    "machine, were removed. Search for public words if that finds too little."
)

NOT_SEARCHED = (
    "The web was not searched: the query contains words of the person's files or memory, or a "
    "secret, which must not leave this machine. Search for public words instead."
)


class WebSearch:
    """The web searches of one step, what failed in them, and which queries were shortened."""

    def __init__(self, here: Here, context: Context, providers: Sequence[str]) -> None:
        self.here, self.context, self.providers = here, context, list(providers)
        self.problems: list[Problem] = []
        self.sent: dict[str, str] = {}
        """The queries that were sent in other words, by how they were written; "" if not sent."""

    async def pages(self, query: str) -> list[Page]:
        """Search the web and read what is found; what fails is told, never raised."""
        # A search is recorded under the query as it was written, whatever was removed from it.
        call = Call(anywhere(self.here), "search", "web", [self.providers, query])
        written = masked(query).text
        try:
            result = await once(call, partial(self._searched, query), partial(self._said, query))
        except Problem as problem:
            self.problems.append(problem)
            if problem.code == WITHHELD:
                self.sent[query] = ""
            await trace(self.here, "search", "web", problem.code, query=written)
            return []
        hits = hits_in(result)
        # What an older version has recorded does not contain the query.
        if isinstance(result, dict) and result["query"] != query:
            self.sent[query] = result["query"]
        await trace(self.here, "search", "web", "ok", query=written, hits=len(hits))
        return await read_all(self.here, [canonical(hit["url"]) for hit in hits], self.problems)

    async def _searched(self, query: str) -> dict[str, Any]:
        """Search for a query without its private words; the trace lists those."""
        left = await cleared(self.here, self.context, query)
        if left.dropped:
            kept_back = [masked(one).text for one in left.dropped]
            await trace(self.here, "search", "web", REDACTED, query=left.text, withheld=kept_back)
        found = await search(self.providers, left.text, HITS, os.environ)
        return {"query": left.text, "hits": [dict(hit) for hit in found]}

    def _said(self, query: str, result: Mapping[str, Any]) -> Said:
        titles = "; ".join(str(hit["title"]) for hit in hits_in(result))
        return Said(query, titles, self.here.step)


def as_sent(queries: Sequence[str], sent: Mapping[str, str]) -> list[str]:
    """Return queries as they were sent, without those that were not.

    Args:
        queries: The queries as they were written.
        sent: Those that were sent in other words, by how they were written.
    """
    return [left for one in queries if (left := sent.get(one, one))]


def notice(sent: Mapping[str, str]) -> str:
    """Tell a model that its queries were shortened or not sent, so that it can use other words."""
    shortened = ", ".join(f"“{one}”" for one in sent.values() if one)
    refused = NOT_SEARCHED if not all(sent.values()) else ""
    return "\n".join(filter(None, [shortened and SHORTENED.format(shortened), refused]))
