"""Make pages of a sensible size, each with one abstract, of what was read, said or found out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from config.errors import Problem
from library import store as pages
from library.page_outline import find_briefs
from library.page_rows import NewPage, Provenance, strip_unstorable
from library.page_sizing import split_page
from text.keyword_ranking import rank_texts
from text.summaries import extract_abstract

RELATED = 5
"""How many earlier abstracts are shown to whoever writes the next one."""

QUERY = 1_000
"""With how many characters of a page the earlier abstracts are searched."""

LONGEST = 1_000
"""The longest abstract, in characters; a longer answer is cut."""

log = logging.getLogger(__name__)

AbstractWriter = Callable[[NewPage, Sequence[str]], Awaitable[str]]
"""Writes the abstract of a page, with some earlier abstracts that are about the same."""


async def store_with_abstracts(
    owner: str,
    kind: str,
    origin: str,
    new: Sequence[NewPage],
    *,
    group: str = "",
    provenance: Provenance | Literal[""] = "",
    run: str = "",
    abstracter: AbstractWriter | None = None,
) -> list[str]:
    """Keep the pages of one origin, each with an abstract, and return their ids.

    A page that is kept already keeps its abstract. Where the abstracter says nothing or fails, or
    there is none, the abstract is made of the page's own sentences.

    Args:
        owner: Who they belong to.
        kind: As for `library.store.store_pages`.
        origin: As for `library.store.store_pages`.
        new: The pages, in their order; one that is too long becomes several.
        group: A namespace beside that of the kind.
        provenance: Who is behind them; by default what the kind tells.
        run: The run that read them.
        abstracter: Asks a model; it is asked for one page after the other.
    """
    sized = await asyncio.to_thread(lambda: [part for page in new for part in split_page(page)])
    bare = [page for page in sized if not page.get("abstract")]
    if bare:
        before = await pages.list_page_ids(owner, kind, origin)
        known = set((await pages.read_page_texts(owner, before)).values())
        fresh = [page for page in bare if strip_unstorable(page["text"]) not in known]
        await _describe(owner, fresh, sized, abstracter)
    return await pages.store_pages(
        owner, kind, origin, sized, group=group, provenance=provenance, run=run
    )


async def _describe(
    owner: str, bare: Sequence[NewPage], sized: Sequence[NewPage], abstracter: AbstractWriter | None
) -> None:
    """Give pages their abstracts: a model's, or else one of their own sentences."""
    if abstracter:
        for page in bare:
            earlier = [one.get("abstract", "") for one in sized]
            page["abstract"] = await _written(owner, page, earlier, abstracter)
    unwritten = [page for page in bare if not page.get("abstract")]
    made = await asyncio.to_thread(lambda: [extract_abstract(page["text"]) for page in unwritten])
    for page, abstract in zip(unwritten, made, strict=True):
        page["abstract"] = abstract


async def _written(
    owner: str, page: NewPage, earlier: Sequence[str], abstracter: AbstractWriter
) -> str:
    """Return the abstract that a model has written; nothing where it fails."""
    try:
        written = await abstracter(page, await _related(owner, page, earlier))
    except Problem as problem:
        log.warning("no model wrote the abstract of %r: %s", page["title"], problem)
        return ""
    return " ".join(written.split())[:LONGEST]


async def _related(owner: str, page: NewPage, earlier: Sequence[str]) -> list[str]:
    """Return the abstracts that are about the same, of those that are kept and those to be."""
    query = f"{page['title']}\n{page['text'][:QUERY]}"
    found = [one.abstract for one in await find_briefs(owner, query, RELATED)]
    texts = [one for one in dict.fromkeys([*earlier, *found]) if one]
    best = await asyncio.to_thread(rank_texts, query, texts)
    return [texts[at] for at, _ in best[:RELATED]]
