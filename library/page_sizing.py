"""Make pages of a sensible size, with all that can be done before they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from library.page_rows import (
    NewPage,
    abstract_first_sentences,
    join_search_words,
    strip_unstorable,
)
from text.passage_splitting import split_passages
from text.sentences import Span
from text.tokens import count_tokens, estimate_tokens

MOST = 2_000
"""How many tokens a page may have."""

NEARLY = 0.9
"""A page whose passages have less than this part of its tokens, counted one by one, has room."""


def prepare_pages(new: Sequence[NewPage]) -> list[NewPage]:
    """Return pages of a sensible size, each with its search words and no abstract yet."""
    bare: list[NewPage] = [{**page, "abstract": page.get("abstract", "")} for page in new]
    return size_pages(bare)


def size_pages(new: Sequence[NewPage]) -> list[NewPage]:
    """Return pages of a sensible size, each with its search words and its abstract.

    This is most of the work on a page. It needs no database, so any process can do it.
    """
    return [_complete(part) for page in new for part in split_page(page)]


def complete_short_page(page: NewPage) -> NewPage | None:
    """Return a page with its search words and its abstract; `None` if it has to be split."""
    return _complete(page.copy()) if fits_one_page(page["text"]) else None


def _complete(page: NewPage) -> NewPage:
    """Add the search words and the abstract to a page that lacks them, and return it."""
    text = strip_unstorable(page["text"])
    page["words"] = join_search_words(text)
    page["title_words"] = join_search_words(strip_unstorable(page["title"]))
    if "abstract" not in page:
        page["abstract"] = abstract_first_sentences(text)
    return page


def split_page(page: NewPage) -> Iterator[NewPage]:
    """Yield a page, or as many as it takes to keep each of a sensible size."""
    text = page["text"]
    if fits_one_page(text):
        yield page.copy()
        return
    bounds = _bounds(text, split_passages(text))
    for number, (start, end) in enumerate(zip(bounds, [*bounds[1:], None], strict=True), start=1):
        part = page.copy()
        part["text"] = text[start:end].strip()
        if number > 1:
            part.pop("links", None)
            place = f"part={number}"
            part["title"] = f"{page['title']} ({number})"
            part["place"] = f"{page['place']}&{place}" if page["place"] else place
        yield part


def fits_one_page(text: str) -> bool:
    """Tell whether a text needs no splitting."""
    return estimate_tokens(text) <= MOST


def _bounds(text: str, spans: Sequence[Span]) -> list[int]:
    """Return where the pages of a text begin, each with as many passages as it may have tokens.

    The tokens of passages add up to about those of a page, so few pages are counted in vain.
    """
    bounds, about, done = [0], 0, 0
    for span in spans:
        alone = count_tokens(text[done : span.end])
        about, done = about + alone, span.end
        if span.start > bounds[-1] and (
            about > MOST * NEARLY and count_tokens(text[bounds[-1] : span.end]) > MOST
        ):
            bounds.append(span.start)
            about = alone
    return bounds
