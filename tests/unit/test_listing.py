"""Lists of pages: the owner's own, newest first, and what each namespace holds."""

from __future__ import annotations

import pytest

from memory.pages.listing import Shelf, listed, shown, stats, superseded
from memory.pages.store import NewPage, keep

pytestmark = pytest.mark.usefixtures("either")

ME, OTHER = "me/", "other/"


async def put(
    origin: str, *bodies: str, owner: str = ME, kind: str = "web", group: str = ""
) -> list[str]:
    new = [NewPage(title=f"On {body}", place="", text=body) for body in bodies]
    return await keep(owner, kind, origin, new, group=group)


async def test_every_namespace_says_how_many_pages_it_has():
    await put("u", "bee hive", "wasp")
    await put("c", "bee", kind="chat", group="c")
    await put("u", "bee", owner=OTHER)

    assert await stats(ME) == [
        Shelf("chat", "", 1, 1),
        Shelf("web", "", 2, 3),
        Shelf("chat", "c", 1, 1),
    ]


async def test_what_was_superseded_is_counted_apart():
    await put("u", "bee hive")
    await put("u", "bee")

    assert await stats(ME) == [Shelf("web", "", 1, 1)]
    assert await superseded(ME) == 1


async def test_pages_are_listed_newest_first_in_parts():
    await put("u", *(f"bee {number}" for number in range(5)))
    await put("u", "bee", owner=OTHER)

    first = await listed(ME, limit=2)
    then = await listed(ME, limit=9, before=first[-1].number)

    assert [row.title for row in first] == ["On bee 4", "On bee 3"]
    assert [row.title for row in then] == ["On bee 2", "On bee 1", "On bee 0"]


async def test_a_list_is_of_kinds_or_of_groups():
    await put("u", "one")
    await put("c", "two", kind="chat", group="c")
    await put("d", "three", kind="chat", group="d")

    assert [row.title for row in await listed(ME, ["web"])] == ["On one"]
    assert [row.title for row in await listed(ME, ["chat"])] == ["On three", "On two"]
    assert [row.title for row in await listed(ME, None, ["c"])] == ["On two"]


async def test_one_page_is_shown_to_its_owner_only():
    (one,) = await put("u", "bee")

    page = await shown(ME, one)
    assert page is not None
    assert (page["text"], page["origin"], page["provenance"]) == ("bee", "u", "web")
    assert await shown(OTHER, one) is None
