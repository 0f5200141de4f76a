"""Make the row of a page from what was read."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from text.regex import regex
from text.sentences import split_sentences
from text.words import LONGEST_WORD, search_words

Provenance = Literal["user", "model", "tool", "web"]

PROVENANCE_OF_KIND: dict[str, Provenance] = {"file": "user", "chat": "user", "web": "web"}
"""Who is behind a kind of page where nothing else is said; a model behind all others."""

LONGEST_FIRST_ABSTRACT = 300
"""The longest abstract, in characters."""

WORDS_VERSION = 1
"""Raised when `text.words` or `text.title_mentions` cut differently, so that pages are cut again.

`pages.indexed` is the number a page was cut with; 0 says it is not in the index yet.
"""

RETIRED = -1
"""What `pages.indexed` is for a page that is not to be found any more."""

UNSTORABLE = regex("[\x00\ud800-\udfff]")
"""What PostgreSQL cannot store: NUL, and halves of a character."""


class NewPage(TypedDict):
    """A page that is about to be kept; `place` is where in its origin it stands."""

    title: str
    place: str
    text: str
    abstract: NotRequired[str]
    """Its first sentences when it is missing; an empty one is made when it is looked at."""
    session: NotRequired[str]
    """The dialogue or document it is a part of, by a name of its own for the owner."""
    position: NotRequired[int]
    """Its place in that session; else its place among the pages that are kept with it."""
    speaker: NotRequired[str]
    said: NotRequired[str]
    """When it was said, as an ISO date or date and time."""
    links: NotRequired[list[str]]
    words: NotRequired[str]
    """Its search words and those of its title (`join_search_words`); cut when they are missing."""
    title_words: NotRequired[str]


class PageOrigin(NamedTuple):
    """Where some pages are from, whose they are, and how long they are to be found.

    `group` is a namespace of its own beside that of the kind, such as a conversation; `expires` is
    in seconds since 1970.
    """

    owner: str
    kind: str
    name: str
    group: str = ""
    provenance: Provenance | Literal[""] = ""
    run: str = ""
    expires: float | None = None

    @property
    def id(self) -> str:
        """Return the hash of kind and name; a name may be longer than an index takes."""
        return short_hash(self.kind, self.name)


def short_hash(*parts: str) -> str:
    """Return a short hash of some texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def strip_unstorable(text: str) -> str:
    """Return a text without what a database cannot store."""
    return UNSTORABLE.sub("", text)


def build_page_rows(
    origin: PageOrigin, new: Sequence[NewPage], first: int = 0
) -> list[dict[str, Any]]:
    """Return the rows of some pages, in their order; `first` is the place of the first one."""
    return [_row(origin, page, at) for at, page in enumerate(new, start=first)]


def join_search_words(text: str) -> str:
    """Return the search words of a text, joined by spaces."""
    return " ".join(word for word in search_words(text) if len(word) <= LONGEST_WORD)


def _row(origin: PageOrigin, page: NewPage, at: int) -> dict[str, Any]:
    title, text = strip_unstorable(page["title"]), strip_unstorable(page["text"])
    session = strip_unstorable(page.get("session", ""))
    position = page.get("position", at)
    name = [origin.owner, origin.kind, origin.name, *([session] if session else [])]
    return {
        "id": short_hash(*name, str(position), text)[:24],
        "owner": origin.owner,
        "kind": origin.kind,
        "origin": origin.name,
        "origin_id": origin.id,
        "place": strip_unstorable(page["place"]),
        "session": session,
        "session_id": short_hash(session) if session else "",
        "position": position,
        "title": title,
        "abstract": strip_unstorable(page["abstract"]) if "abstract" in page else _abstract(text),
        "text": text,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "speaker": strip_unstorable(page.get("speaker", "")),
        "said": page.get("said", ""),
        "links": json.dumps(page.get("links", [])),
        "provenance": origin.provenance or PROVENANCE_OF_KIND.get(origin.kind, "model"),
        "run": origin.run,
        "created": time.time(),
        "expires": origin.expires,
        "superseded_by": "",
        "words": page["words"] if "words" in page else join_search_words(text),
        "title_words": page["title_words"] if "title_words" in page else join_search_words(title),
        "indexed": WORDS_VERSION,
    }


def _abstract(text: str) -> str:
    """Return the first sentences, as many as fit."""
    abstract = ""
    for sentence in split_sentences(text[: 4 * LONGEST_FIRST_ABSTRACT]):
        longer = f"{abstract} {sentence.text}".strip()
        if len(longer) > LONGEST_FIRST_ABSTRACT:
            break
        abstract = longer
    return abstract or text[:LONGEST_FIRST_ABSTRACT]


PROVENANCE_BY_TRUST: tuple[Provenance, ...] = ("user", "model", "tool", "web")
"""The classes of provenance, the most trusted first."""
