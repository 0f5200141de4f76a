"""Build the rows of pages from what was read."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from library.page_metadata import NO_METADATA, PageMetadata
from text.regex import regex
from text.sentences import split_sentences
from text.words import LONGEST_WORD, search_words

Provenance = Literal["user", "model", "tool", "web"]

PROVENANCE_OF_KIND: dict[str, Provenance] = {"file": "user", "chat": "user", "web": "web"}
"""The default provenance of kinds of pages; that of all others is `model`."""

LONGEST_FIRST_ABSTRACT = 300
"""The most characters of an abstract made of first sentences."""

WORDS_VERSION = 1
"""The version of `text.words` and `text.title_mentions`; pages of older ones are tokenized again.

`pages.indexed` is the version that a page was tokenized with, or 0 if it is not in the index yet.
"""

RETIRED = -1
"""The value of `pages.indexed` for a page that searches no longer find."""

UNSTORABLE = regex("[\x00\ud800-\udfff]")
"""The characters that PostgreSQL cannot store: NUL and surrogates."""


class NewPage(TypedDict):
    """A page to be stored; `place` is its location in the origin."""

    title: str
    place: str
    text: str
    abstract: NotRequired[str]
    """The first sentences by default; an empty abstract is written when it is first needed."""
    session: NotRequired[str]
    """The dialogue or document that it is a part of, by a name unique for the owner."""
    position: NotRequired[int]
    """Its position in the session; by default among the pages stored with it."""
    speaker: NotRequired[str]
    said: NotRequired[str]
    """When it was said, as an ISO date or time."""
    links: NotRequired[list[str]]
    metadata: NotRequired[PageMetadata]
    words: NotRequired[str]
    """Its search words, as `join_search_words` returns them by default; likewise `title_words`."""
    title_words: NotRequired[str]


class PageOrigin(NamedTuple):
    """The origin, owner and expiry of some pages.

    `group` is a namespace beside that of the kind, such as a conversation; `expires` is in seconds
    since 1970.
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
        """Return the hash of kind and name, since a name may be too long for an index."""
        return short_hash(self.kind, self.name)


def short_hash(*parts: str) -> str:
    """Return a short hash of some texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def strip_unstorable(text: str) -> str:
    """Return a text without the characters that a database cannot store."""
    return UNSTORABLE.sub("", text)


def build_page_rows(
    origin: PageOrigin, new: Sequence[NewPage], first: int = 0
) -> list[dict[str, Any]]:
    """Return the rows of pages, in their order; `first` is the position of the first one."""
    return [_row(origin, page, at) for at, page in enumerate(new, start=first)]


def join_search_words(text: str) -> str:
    """Return the search words of a text, joined by spaces."""
    words = search_words(text)
    if max(map(len, words), default=0) > LONGEST_WORD:
        words = [word for word in words if len(word) <= LONGEST_WORD]
    return " ".join(words)


def hash_text(text: str) -> str:
    """Return the hash of a page's text, as it is stored."""
    return hashlib.sha256(text.encode()).hexdigest()


def _row(origin: PageOrigin, page: NewPage, at: int) -> dict[str, Any]:
    title, text = strip_unstorable(page["title"]), strip_unstorable(page["text"])
    session = strip_unstorable(page.get("session", ""))
    position = page.get("position", at)
    name = [origin.owner, origin.kind, origin.name, *([session] if session else [])]
    abstract = page["abstract"] if "abstract" in page else abstract_first_sentences(text)
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
        "abstract": strip_unstorable(abstract),
        "text": text,
        "sha256": hash_text(text),
        "speaker": strip_unstorable(page.get("speaker", "")),
        "said": page.get("said", ""),
        "links": json.dumps(page.get("links", [])),
        **_metadata_columns(page.get("metadata", NO_METADATA)),
        "provenance": origin.provenance or PROVENANCE_OF_KIND.get(origin.kind, "model"),
        "run": origin.run,
        "created": time.time(),
        "expires": origin.expires,
        "superseded_by": "",
        "words": page["words"] if "words" in page else join_search_words(text),
        "title_words": page["title_words"] if "title_words" in page else join_search_words(title),
        "indexed": WORDS_VERSION,
    }


def _metadata_columns(known: PageMetadata) -> dict[str, str]:
    return {name: strip_unstorable(value) for name, value in known._asdict().items()}


def abstract_first_sentences(text: str) -> str:
    """Return as many first sentences as fit into an abstract."""
    abstract = ""
    for sentence in split_sentences(text[: 4 * LONGEST_FIRST_ABSTRACT]):
        longer = f"{abstract} {sentence.text}".strip()
        if len(longer) > LONGEST_FIRST_ABSTRACT:
            break
        abstract = longer
    return abstract or text[:LONGEST_FIRST_ABSTRACT]


PROVENANCE_BY_TRUST: tuple[Provenance, ...] = ("user", "model", "tool", "web")
"""All provenances, the most trusted first."""
