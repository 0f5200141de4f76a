"""Pages lead to those they mention, and parts of one document not to each other."""

from __future__ import annotations

from library.page_retrieval import search_pages
from library.page_rows import NewPage
from library.store import store_pages

ME = "me/"


async def put(*new: tuple[str, str]) -> None:
    pages = [
        NewPage(title=title, place=f"L{at}", text=text) for at, (title, text) in enumerate(new)
    ]
    await store_pages(ME, "file", "some files", pages)


async def found(question: str) -> list[tuple[str, float]]:
    return [
        (one.page.text, one.parts.get("links", 0.0))
        for one in await search_pages(ME, question, limit=3)
    ]


async def test_a_page_leads_to_one_whose_title_it_mentions():
    await put(("Falcons", "Zorp flies beside the Kestrel Manual."), ("Kestrel Manual", "Wings."))

    assert [text for text, links in await found("zorp") if links] == ["Wings."]


async def test_a_part_of_a_document_is_not_lifted_over_the_one_that_holds_the_words():
    first = "# Kestrel Manual\n\nThe zorp is under the left wing."
    await put(("Kestrel Manual", first), ("Kestrel Manual", "Here the wing is oiled."))

    (text, _), *others = await found("zorp")

    assert text == first
    assert not any(links for _, links in others)
