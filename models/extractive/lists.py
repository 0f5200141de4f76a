"""Quote lists whole: what announces a list, and its items in their order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from models.extractive.asking import bare
from models.extractive.blocks import Page, Quote
from models.extractive.candidates import document
from models.extractive.kinds import PLURAL
from models.extractive.topic import Topic, share, topic
from retrieval.listing import Listing, listings
from retrieval.regex import regex
from retrieval.text import language, sentences
from retrieval.words import words

NAMED = {"en": 0.85, "zh": 0.65}
"""What a list and the headings above it say of a question, at least, to be called its answer."""

NEAR = 0.7
"""What they say of it, at least, to be quoted as a list that may answer it."""

OWN = 0.4
"""What a list says of a question itself, at least, without the title of its document."""

LONGEST = 400
"""Of a longer item, in characters, the first sentences are quoted."""

MOST = 80
"""A list of more items is a register, and not an answer."""

_THINGS = regex(
    r"^\W*(?:what|which|list|name|enumerate)(?: are)?(?: (?:all|of|the))*"
    rf" (?P<things>(?:[\w-]+ ){{0,3}}?({PLURAL}))\b",
    re.IGNORECASE,
)
"""The noun for what is to be listed."""

_FORM = regex(
    r"\b(?:list|name|values?|steps?|options?|kinds?|types?|sorts?|ways?|items?|names?|enumerate"
    r"|different|various|possible|available|main|all|take|exist)\b"
    r"|列[出举舉]|步[骤驟]|哪些|[种種]类?|主要|所有|可能",
    re.IGNORECASE,
)
"""Words for the form of the answer, which a page that gives it need not say."""


class Fitting(NamedTuple):
    """A list as a quote, how much of a question it and its headings name, and whether it is cut."""

    quote: Quote
    share: float
    own: float
    cut: bool


def best_list(question: str, pages: Sequence[Page]) -> Fitting | None:
    """Return the list that a question asks for, if one is near enough to it."""
    about = wanted(question)
    things = set(words(_FORM.sub("", _things(question))))
    found = [one for page in pages for one in _fitting(about, page, things)]
    good = [one for one in found if one.share >= NEAR and one.own >= OWN]
    return max(good, key=lambda one: one.share + one.own, default=None)


def answers_whole(question: str, quote: Quote, pages: Sequence[Page]) -> bool:
    """Tell whether a quoted list is one that names all that a question asks for."""
    found = best_list(question, pages)
    return bool(
        found
        and found.quote == quote
        and not found.cut
        and _announces(question, quote.text)
        and found.share >= NAMED[language(question)]
    )


def _announces(question: str, lead: str) -> bool:
    """Tell whether a sentence says itself that what is asked for follows.

    That its heading does is not enough: there may be a list of anything below it. Of "index
    types" it is "index" that tells.
    """
    found = _THINGS.search(bare(question.split("\n")[0]))
    telling = words(_FORM.sub(" ", found["things"])) if found else []
    return not telling or telling[-1] in words(lead)


def completed(quote: Quote, pages: Iterable[Page]) -> Quote:
    """Return a quote with the items of the list that it announces with a colon."""
    if quote.items or not quote.text.endswith((":", "：")):
        return quote
    lists = (one for page in pages if page.id == quote.source for one in listings(page.text))
    found = next((one for one in lists if _line(one.lead.text).endswith(quote.text)), None)
    return quote._replace(items=_items(found)) if found else quote


def wanted(question: str) -> Topic:
    """Return what a list has to be about, without the words for its form."""
    line = question.split("\n")[0]
    return topic(_FORM.sub(" ", line)) if words(_FORM.sub(" ", line)) else topic(line)


def _things(question: str) -> str:
    """Return the noun for what is to be listed, if the question has one."""
    found = _THINGS.search(bare(question.split("\n")[0]))
    return found[2] if found else ""


def _fitting(about: Topic, page: Page, things: Collection[str]) -> Iterator[Fitting]:
    """Yield the lists of a page that are announced as `things`."""
    section = page.title.removeprefix(document(page.title))
    for found in listings(page.text):
        if len(found.items) <= MOST:
            own = words(f"{section}\n{found.above}\n{found.lead.text}")
            if not set(things) <= set(own):
                continue
            every = [*words(document(page.title)), *own]
            quote = Quote(page.id, _line(found.lead.text), items=_items(found))
            yield Fitting(quote, _part(about, every), _part(about, own), found.cut)


def _part(about: Topic, said: Sequence[str]) -> float:
    return min(1.0, share(about._replace(pairs={}, names=()), said) / 1.5)


def _items(found: Listing) -> tuple[str, ...]:
    return tuple(_line(_short(one.text)) for one in found.items)


def _short(item: str) -> str:
    """Return an item, or the first sentences of a long one."""
    if len(item) <= LONGEST:
        return item
    spans = sentences(item)
    ends = [span.end for span in spans if span.end <= LONGEST] or [spans[0].end]
    return item[: max(ends)]


def _line(text: str) -> str:
    return " ".join(text.split())
