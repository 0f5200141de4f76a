"""The sections of one document: where each begins, how long it is, and how it is found."""

from __future__ import annotations

import pytest

from library import store
from library.document_sections import (
    OutlinedDocument,
    PagePart,
    find_section,
    match_section,
    outline_document,
)
from library.documents import ReadDocument, store_files
from library.page_rows import NewPage
from library.store import read_page_texts

pytestmark = pytest.mark.usefixtures("either")

OWNER = "me/"
FIRST = "# Bees\n\nThey fly.\n\n## Dance\n\nThey dance."
SECOND = "They dance on.\n\n## Stores\n\nThey store.\n\n### Honey\n\nIt is sweet."


async def keep(*pages: tuple[str, str, str], path: str = "/docs/bees.md") -> None:
    new = [NewPage(title=title, place=place, text=text) for title, place, text in pages]
    row = {"size": 9, "modified": 9, "sha256": path, "reader": 1, "code": "", "reason": ""}
    await store_files(OWNER, "/docs", [ReadDocument(path, new, row)])


async def bees() -> OutlinedDocument:
    await keep(("Bees — Bees … Dance", "bees", FIRST), ("Bees — Stores", "stores", SECOND))
    found = await outline_document(OWNER, "/docs/bees.md")
    assert found
    return found


async def read(parts: tuple[PagePart, ...]) -> str:
    texts = await read_page_texts(OWNER, [part.page for part in parts])
    return "".join(texts[part.page][part.start : part.end] for part in parts)


async def test_every_section_says_where_it_begins_and_how_long_it_is():
    found = await bees()

    assert found.title == "Bees"
    assert [(one.title, one.level, one.place) for one in found.sections] == [
        ("Bees", 1, "bees"),
        ("Dance", 2, "bees"),
        ("Stores", 2, "stores"),
        ("Honey", 3, "stores"),
    ]
    assert sum(one.size for one in found.sections) == len(FIRST) + len(SECOND)


async def test_a_section_holds_lower_ones_and_goes_on_across_pages():
    found = await bees()

    _, dance, stores, honey = found.sections

    assert await read(dance.parts) == "## Dance\n\nThey dance.They dance on.\n\n"
    assert (await read(stores.parts)).endswith("It is sweet.")
    assert stores.whole == stores.size + honey.size
    assert found.sections[0].whole == len(FIRST) + len(SECOND)


async def test_a_document_is_found_by_a_page_a_path_an_address_or_a_hash():
    by_path = await bees()
    page = by_path.pages[1].page
    (web,) = await store.store_pages(
        OWNER, "web", "https://a.org/x", [NewPage(title="A — B", place="", text="No heading.")]
    )

    assert await outline_document(OWNER, page) == by_path
    found = await outline_document(OWNER, "https://a.org/x")
    assert found
    assert found == await outline_document(OWNER, web)
    assert [one.title for one in found.sections] == ["A — B"]
    assert await outline_document(OWNER, "nothing") is None
    assert await outline_document("you/", page) is None


async def test_pages_without_headings_are_sections_by_their_titles_or_places():
    await keep(("T — One", "a", "Text."), ("T — Two", "b", "Text."), path="/docs/t.txt")
    await keep(("P", "page=1", "Text."), ("P", "page=2", "Text."), path="/docs/p.pdf")
    await keep(("L", "", "Text."), ("L (2)", "part=2", "More."), path="/docs/l.md")

    titles = {}
    for path in ("/docs/t.txt", "/docs/p.pdf", "/docs/l.md"):
        found = await outline_document(OWNER, path)
        assert found
        titles[path] = [one.title for one in found.sections]

    assert titles["/docs/t.txt"] == ["One", "Two"]
    assert titles["/docs/p.pdf"] == ["page=1", "page=2"]
    assert titles["/docs/l.md"] == ["L", "part=2"]


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("Stores", "Stores"),
        ("## stores", "Stores"),
        ("dan", "Dance"),
        ("one", "Honey"),
        ("How is honey made?", "Honey"),
    ],
)
async def test_a_section_is_found_by_its_title_a_part_of_it_or_its_words(words: str, title: str):
    await bees()

    found = await find_section(OWNER, "/docs/bees.md", words)

    assert found
    assert found.title == title


async def test_words_that_name_no_section_find_none():
    found = await bees()

    assert match_section(found, "taxes") is None
    assert match_section(found, "  ") is None
    assert await find_section(OWNER, "nothing", "Dance") is None
