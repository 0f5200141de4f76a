"""Make the row of a page from what was read."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from retrieval.regex import regex
from retrieval.text import sentences
from retrieval.words import LONGEST, words

Provenance = Literal["user", "model", "tool", "web"]

PROVENANCE: dict[str, Provenance] = {"file": "user", "chat": "user", "web": "web"}
"""Who is behind a kind of page where nothing else is said; a model behind all others."""

ABSTRACT = 300
"""The longest abstract, in characters."""

CUT = 1
"""Raised when `retrieval.words` or `retrieval.names` cut differently, so that pages are cut again.

`pages.indexed` is the number a page was cut with; 0 says it is not in the index yet.
"""

GONE = -1
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
    """Its search words and those of its title, as `cut` returns them; cut when they are missing."""
    title_words: NotRequired[str]


class Origin(NamedTuple):
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
        return digest(self.kind, self.name)


def digest(*parts: str) -> str:
    """Return a short hash of some texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def storable(text: str) -> str:
    """Return a text without what a database cannot store."""
    return UNSTORABLE.sub("", text)


def rows(origin: Origin, new: Sequence[NewPage], first: int = 0) -> list[dict[str, Any]]:
    """Return the rows of some pages, in their order; `first` is the place of the first one."""
    return [_row(origin, page, at) for at, page in enumerate(new, start=first)]


def cut(text: str) -> str:
    """Return the search words of a text, joined by spaces."""
    return " ".join(word for word in words(text) if len(word) <= LONGEST)


def _row(origin: Origin, page: NewPage, at: int) -> dict[str, Any]:
    title, text = storable(page["title"]), storable(page["text"])
    session = storable(page.get("session", ""))
    position = page.get("position", at)
    name = [origin.owner, origin.kind, origin.name, *([session] if session else [])]
    return {
        "id": digest(*name, str(position), text)[:24],
        "owner": origin.owner,
        "kind": origin.kind,
        "origin": origin.name,
        "origin_id": origin.id,
        "place": storable(page["place"]),
        "session": session,
        "session_id": digest(session) if session else "",
        "position": position,
        "title": title,
        "abstract": storable(page["abstract"]) if "abstract" in page else _abstract(text),
        "text": text,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "speaker": storable(page.get("speaker", "")),
        "said": page.get("said", ""),
        "links": json.dumps(page.get("links", [])),
        "provenance": origin.provenance or PROVENANCE.get(origin.kind, "model"),
        "run": origin.run,
        "created": time.time(),
        "expires": origin.expires,
        "superseded_by": "",
        "words": page["words"] if "words" in page else cut(text),
        "title_words": page["title_words"] if "title_words" in page else cut(title),
        "indexed": CUT,
    }


def _abstract(text: str) -> str:
    """Return the first sentences, as many as fit."""
    abstract = ""
    for sentence in sentences(text[: 4 * ABSTRACT]):
        longer = f"{abstract} {sentence.text}".strip()
        if len(longer) > ABSTRACT:
            break
        abstract = longer
    return abstract or text[:ABSTRACT]
