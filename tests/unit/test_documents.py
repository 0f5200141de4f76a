"""Files of folders: found below each folder that holds them, in the form they have now."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from library.documents import record_document, unlist_document
from library.page_index import PageIndex
from library.page_retrieval import find_pages, run_search
from library.page_rows import NewPage
from library.store import read_page_texts, store_pages
from library.tables import pages
from storage.engine import read_rows

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"


def read_as(sha256: str, code: str = "") -> dict[str, Any]:
    return {"size": 1, "modified": 1, "sha256": sha256, "reader": 1, "code": code, "reason": ""}


async def put(path: str, sha256: str, *bodies: str, root: str = "/docs") -> list[str]:
    new = [NewPage(title="", place=f"page={n}", text=body) for n, body in enumerate(bodies, 1)]
    ids = await store_pages(ME, "file", sha256, new)
    await record_document(ME, root, path, read_as(sha256))
    return ids


async def found(query: str, *roots: str) -> list[str]:
    return sorted(page.text for page in await find_pages(ME, query, 10, roots or None))


async def test_what_a_changed_file_said_before_is_found_nowhere_and_can_still_be_read():
    old = await put("/docs/a.md", "one", "bee old")
    new = await put("/docs/a.md", "two", "bee new")

    assert await found("bee") == await found("bee", "/docs") == ["bee new"]
    assert await read_page_texts(ME, old) == {old[0]: "bee old"}
    after = select(pages.c.superseded_by).where(pages.c.id == old[0])
    assert (await read_rows(after)).scalar() == new[0]


async def test_what_another_file_still_says_is_found_where_that_file_is():
    await put("/docs/a.md", "one", "bee old")
    await put("/more/b.md", "one", "bee old", root="/more")
    await put("/docs/a.md", "two", "bee new")

    assert await found("bee", "/docs") == ["bee new"]
    assert await found("bee", "/more") == ["bee old"]
    assert await found("bee") == ["bee new", "bee old"]


async def test_two_files_of_one_folder_with_one_content_are_there_as_long_as_one_is():
    await put("/docs/a.md", "one", "bee")
    await put("/docs/b.md", "one", "bee")

    await unlist_document(ME, "/docs", "/docs/a.md")
    assert await found("bee", "/docs") == ["bee"]
    await unlist_document(ME, "/docs", "/docs/b.md")
    assert await found("bee", "/docs") == []
    assert await found("bee") == ["bee"]


async def test_a_file_that_cannot_be_read_any_more_is_not_found_below_its_folder():
    await put("/docs/a.md", "one", "bee")
    await record_document(ME, "/docs", "/docs/a.md", read_as("", "file_unreadable"))

    assert await found("bee", "/docs") == []
    assert await found("bee") == ["bee"]


async def test_a_folder_counts_its_own_pages():
    await put("/docs/a.md", "one", "bee hive")
    await put("/docs/sub/b.md", "two", "bee", root="/docs")
    await put("/docs/sub/b.md", "two", "bee", root="/docs/sub")

    async def counted(root: str) -> tuple[int, int]:
        stats = await run_search(ME, PageIndex.stats, ["file"], [root])
        counts = await run_search(ME, lambda i: i.counts(["bee"]), ["file"], [root])
        return stats.pages, counts["bee"]

    assert await counted("/docs") == (2, 2)
    assert await counted("/docs/sub") == (1, 1)


async def test_a_file_that_says_again_what_it_said_before_is_found_below_every_folder():
    await put("/docs/a.md", "one", "bee old")
    await put("/docs/a.md", "two", "bee new")
    await put("/docs/a.md", "one", "bee old")

    assert await found("bee") == await found("bee", "/docs") == ["bee old"]
