"""Show what a memory holds in two levels, groups and pages, short at any size of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from config.counted import counted
from memory.pages.abstracts import Brief, about, newest
from memory.pages.describing import described
from memory.pages.groups import Group, Size, best_of, dated, group_of, sizes, title_of
from retrieval.text import in_one_line
from retrieval.tokens import count, warm

MOST = 2_000
"""The most tokens of an outline, as it stands in a prompt."""

FOR_PAGES = 0.75
"""The share of them that is for what fits the request; the rest is for the newest groups."""

LOOKED_AT = 40
"""How many fitting pages, and how many of the newest, are looked at."""

SHOWN = 24
"""How many pages are shown at most; the abstracts of more are not made for it."""

EACH = 5
"""How many pages of one group are shown, and how many are read when it is opened."""

SHORT = 220
"""How many characters of an abstract are shown."""

TITLE = 100
"""How many characters of a title are shown."""

WORDS = {"file": "document", "web": "site", "session": "chat", "report": "report"}


class Outline(NamedTuple):
    """What is shown of a memory, and what the ids in it stand for.

    `P3` is a page, by its id in the store; `G2` is a group of pages.
    """

    text: str = ""
    pages: Mapping[str, str] = {}
    groups: Mapping[str, Group] = {}


class Entry(NamedTuple):
    """A group in an outline, with the pages of it that are shown."""

    group: Group
    title: str
    pages: list[Brief]


async def outline(
    owner: str,
    request: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    most: int = MOST,
) -> Outline:
    """Return the groups and pages that fit a request, best first, then the newest groups.

    Args:
        owner: Whose memory.
        request: What is to be found out.
        kinds: Pages of these kinds only.
        groups: Pages of these groups only, such as a conversation.
        most: How many tokens it may have.
    """
    await warm()
    found = _entries(await about(owner, request, LOOKED_AT, kinds, groups, bare=True))
    fitting = await _described(owner, found)
    shown = {entry.group for entry in fitting}
    recent = _entries(await newest(owner, LOOKED_AT, kinds, groups, bare=True))
    others = [entry._replace(pages=[]) for entry in recent if entry.group not in shown]
    entries = [*fitting, *others]
    counted = await sizes(owner, [entry.group for entry in entries])
    return await asyncio.to_thread(_written, entries, counted, most)


async def read_out(owner: str, shown: Outline, named: Iterable[str], request: str) -> list[str]:
    """Return the ids of the pages that some ids of an outline stand for; others are dropped.

    A group stands for those of its pages that fit the request best.
    """
    ids: list[str] = []
    for name in dict.fromkeys(named):
        if name in shown.pages:
            ids.append(shown.pages[name])
        elif name in shown.groups:
            ids += [one.id for one in await best_of(owner, shown.groups[name], request, EACH)]
    return list(dict.fromkeys(ids))


def _entries(found: Iterable[Brief]) -> list[Entry]:
    entries: dict[Group, Entry] = {}
    for page in found:
        group = group_of(page)
        entry = entries.setdefault(group, Entry(group, title_of(page), []))
        if len(entry.pages) < EACH:
            entry.pages.append(page)
    return list(entries.values())


async def _described(owner: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the groups that fit with as many of their pages as are shown, and the abstracts."""
    first = [page for entry in entries for page in entry.pages][:SHOWN]
    pages = {page.id: page for page in await described(owner, first)}
    return [
        entry._replace(pages=[pages[page.id] for page in entry.pages if page.id in pages])
        for entry in entries
    ]


def _written(entries: Sequence[Entry], counted: Mapping[Group, Size], most: int) -> Outline:
    """Write as many lines as fit; pages before the groups that are only recent."""
    lines: list[str] = []
    pages: dict[str, str] = {}
    groups: dict[str, Group] = {}
    left = most
    for entry in entries:
        name = f"G{len(groups) + 1}"
        line = _of_group(name, entry, counted[entry.group])
        cost = _tokens(line)
        if cost > left:
            break
        lines, groups[name], left = [*lines, line], entry.group, left - cost
        for page in entry.pages:
            line = _of_page(f"P{len(pages) + 1}", page)
            cost = _tokens(line)
            if left - cost < most * (1 - FOR_PAGES):
                break
            pages[f"P{len(pages) + 1}"] = page.id
            lines, left = [*lines, line], left - cost
    return Outline("\n".join(lines), pages, groups)


def _tokens(line: str) -> int:
    return count(f"{escape(line, quote=False)}\n")


def _of_group(name: str, entry: Entry, size: Size) -> str:
    days = " – ".join(dict.fromkeys(filter(None, (size.first, size.last))))
    kind = WORDS.get(entry.group.kind, entry.group.kind)
    pages = counted(size.pages, "page")
    return f"{name} {kind} “{in_one_line(entry.title, TITLE)}”, {pages}, {days}"


def _of_page(name: str, page: Brief) -> str:
    title = in_one_line(page.title, TITLE)
    return (
        f"- {name} {title} ({dated(page.said, page.created)}): {in_one_line(page.abstract, SHORT)}"
    )
