"""What is forgotten is gone: the text, what it was found by, its counts, and soon its vector."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import func, select, text

from library.documents import record_document
from library.indexing import VECTOR_JOB
from library.page_embedding import embed_due
from library.page_erasure import forget_pages
from library.page_index import PageIndex
from library.page_retrieval import find_pages, run_search
from library.page_rows import NewPage
from library.scope import find_origin_pages
from library.store import list_page_ids, read_page_texts, store_pages
from library.tables import documents, members, pages, vectors
from storage.engine import read_rows
from storage.tables import events, outbox

pytestmark = pytest.mark.usefixtures("either")

ME, OTHER = "me/", "other/"


async def put(
    origin: str, *bodies: str, owner: str = ME, kind: str = "web", **more: Any
) -> list[str]:
    new = [NewPage(title="Bees", place="", text=body) for body in bodies]
    return await store_pages(owner, kind, origin, new, **more)


async def left() -> list[int]:
    """Return how many rows pages, members and the keyword index have."""
    counts = [select(func.count()).select_from(table) for table in (pages, members)]
    counts.append(text("SELECT COUNT(*) FROM page_words"))
    return [int((await read_rows(one)).scalar_one()) for one in counts]


async def test_a_page_is_forgotten_by_its_id():
    first, second = await put("u", "bee one", "bee two")

    assert await forget_pages(ME, [first, "unknown"]) == 1

    assert await read_page_texts(ME, [first, second]) == {second: "bee two"}
    assert [page.text for page in await find_pages(ME, "bee", 10)] == ["bee two"]
    assert await left() == [1, 1, 1]
    assert (await run_search(ME, PageIndex.stats)).pages == 1
    assert await run_search(ME, lambda i: i.counts(["bee"])) == {"bee": 1}


async def test_an_origin_is_forgotten_with_all_it_ever_said():
    old = await put("u", "bee one")
    new = await put("u", "bee two")
    other = await put("v", "bee three")

    assert await forget_pages(ME, (await find_origin_pages(ME, "u")).ids) == 2

    assert set(await read_page_texts(ME, [*old, *new, *other])) == set(other)


async def test_many_pages_are_forgotten_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr("library.indexing.UPKEEP_BATCH", 2)
    many = await put("a", *(f"bee {n}" for n in range(5)), kind="chat", group="a")
    await put("w", "bee w")

    assert await forget_pages(ME, many) == 5

    assert [page.text for page in await find_pages(ME, "bee", 10)] == ["bee w"]
    assert len((await read_rows(select(events))).all()) == 3


async def test_nobody_forgets_another_persons_pages():
    ids = await put("u", "bee", owner=OTHER)

    assert await forget_pages(ME, ids) == 0
    assert (await find_origin_pages(ME, "u")).ids == []
    assert (await read_rows(select(events))).all() == []
    assert len(await read_page_texts(OTHER, ids)) == 1


async def test_the_number_of_a_forgotten_page_is_never_given_again():
    ids = await put("u", "bee one", "bee two")
    await forget_pages(ME, ids)
    await put("u", "bee three")

    assert list((await read_rows(select(pages.c.number))).scalars()) == [3]


async def test_its_vector_is_gone_at_once():
    first, _ = await put("u", "bee one", "bee two")
    assert (await embed_due()).pages == 2

    await forget_pages(ME, [first])

    assert (await read_rows(select(func.count()).select_from(vectors))).scalar() == 1


async def test_its_vector_is_to_be_removed_and_the_log_says_so():
    ids = await put("u", "bee")
    await forget_pages(ME, ids)

    jobs = await read_rows(select(outbox.c.data).where(outbox.c.job == VECTOR_JOB))
    assert [json.loads(data) for data in jobs.scalars()] == [{"namespace": 1, "pages": [1]}] * 2
    (event,) = (await read_rows(select(events))).all()
    assert (event.owner, event.name, json.loads(event.before)) == (
        ME,
        "pages.forget",
        {"pages": ids},
    )


async def test_a_file_whose_pages_are_forgotten_counts_as_not_read():
    await put("ab", "bee", kind="file")
    await put("cd", "wasp", kind="file")
    seen = {"size": 1, "modified": 1, "reader": 1, "reason": ""}
    await record_document(ME, "/docs", "/docs/a.md", {**seen, "sha256": "ab", "code": ""})
    await record_document(ME, "/docs", "/docs/b.md", {**seen, "sha256": "cd", "code": ""})
    await record_document(ME, "/docs", "/docs/c.md", {**seen, "sha256": "ef", "code": "broken"})

    await forget_pages(ME, await list_page_ids(ME, "file", "ab"))

    known = await read_rows(select(documents.c.path).order_by(documents.c.path))
    assert list(known.scalars()) == ["/docs/b.md", "/docs/c.md"]
