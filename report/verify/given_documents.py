"""Match the references of a report with the documents that were given."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from graph.records import Source
from report.checks.verification import plain_title
from report.citations import get_document_key, to_whole_document
from report.verify.cited_report import Reference
from report.verify.computed_references import parse_computed_reference
from text.regex import regex

_MIN_TITLE = 8
_MIN_PHRASE = 12
_MIN_STEM = 5
_FILE_NAME = regex(r"[\w.-]+\.(?:md|txt|pdf|docx?|xlsx?|csv|tsv|pptx?|epub|html?|json)\b")
_COMMON_STEMS = frozenset(["index", "readme", "report", "document", "default", "article", "notes"])


class GivenDocument(NamedTuple):
    """A document that a report may rest on."""

    name: str
    """The name of its file, with the folders below the one that was given."""
    title: str
    text: str
    addresses: tuple[str, ...] = ()
    """Its canonical addresses, and the path of its file."""
    published: str = ""
    """Its date as it declares it, or its beginning."""
    altered: bool | None = None
    """Whether its stored text has another hash than when it was stored; None without a hash."""


def build_cited_documents(
    sources: Mapping[str, Source],
    texts: Mapping[str, str],
    altered: Collection[str],
    canonicalise: Callable[[str], str],
) -> list[GivenDocument]:
    """Return the documents that a report of Dossier cites, with the texts of their cited pages.

    Args:
        sources: Its sources by id.
        texts: The texts of those that are cited, by id.
        altered: The ids of those whose text has another hash than when it was stored.
        canonicalise: Returns the one form of a web address.
    """
    grouped: dict[str, list[str]] = {}
    for name in texts:
        grouped.setdefault(get_document_key(sources[name]), []).append(name)
    documents: list[GivenDocument] = []
    for key, names in grouped.items():
        whole = to_whole_document(sources[names[0]])
        text = "\n\n".join(texts[name] for name in names)
        addresses = [canonicalise(whole["location"]), whole["location"], key]
        documents.append(
            GivenDocument(
                whole["location"],
                whole["title"],
                text,
                tuple(dict.fromkeys(addresses)),
                whole.get("published", ""),
                any(name in altered for name in names),
            )
        )
    return documents


def match_documents(
    references: Sequence[Reference],
    documents: Sequence[GivenDocument],
    canonicalise: Callable[[str], str],
) -> dict[str, GivenDocument]:
    """Return the document of each reference, by its id.

    A document is known by its address, else by the name of its file in the entry, else by its
    title. A name or a title that several documents have tells nothing. A computed result is known
    by its address alone: it does not stand in the file from which it was computed.
    """
    index = _DocumentIndex(documents)
    found = ((one.id, index.find(one, canonicalise)) for one in references)
    return {name: document for name, document in found if document}


def to_bare_address(address: str) -> str:
    """Return a canonical web address without its scheme and what makes no other host of it."""
    scheme, colon, rest = address.partition("://")
    if not colon or scheme not in ("http", "https"):
        return address
    host, slash, path = rest.partition("/")
    return host.removeprefix("www.").removeprefix("m.") + slash + path


class _DocumentIndex:
    """Documents by address, by the name of their file, and by title."""

    def __init__(self, documents: Sequence[GivenDocument]) -> None:
        self.documents = documents
        self.by_address: defaultdict[str, list[GivenDocument]] = defaultdict(list)
        for document in documents:
            for address in dict.fromkeys(map(to_bare_address, document.addresses)):
                self.by_address[address].append(document)
        self.by_file = _only([(one.name.rpartition("/")[2].casefold(), one) for one in documents])
        stems = [
            (one.name.rpartition("/")[2].partition(".")[0].casefold(), one) for one in documents
        ]
        self.by_stem = _only([one for one in stems if _is_telling(one[0])])
        titles = [(plain_title(one.title), one) for one in documents]
        self.by_title = _only([one for one in titles if _is_long(one[0])])

    def find(
        self, reference: Reference, canonicalise: Callable[[str], str]
    ) -> GivenDocument | None:
        """Return the document of a reference, or None."""
        address = reference.address
        exact = self._find_address(reference, to_bare_address(canonicalise(address)))
        if exact or parse_computed_reference(reference):
            return exact
        named = self._find_file(reference)
        if named:
            return named
        if address.startswith(("http://", "https://")):
            path = unquote(urlsplit(address).path).rstrip("/").rpartition("/")[2].casefold()
            by_path = self.by_file.get(path) or self.by_stem.get(path.partition(".")[0])
            if by_path and not _has_web_address(by_path):
                return by_path
        return self._find_title(reference)

    def _find_address(self, reference: Reference, bare: str) -> GivenDocument | None:
        """Return the document of an address; of several the last whose title the entry has."""
        found = self.by_address.get(bare) or self.by_address.get(reference.address) or []
        entry = plain_title(reference.text)
        titled = [one for one in reversed(found) if one.title and plain_title(one.title) in entry]
        fallback = found[-1] if found else None
        return max(titled, key=lambda one: len(one.title), default=fallback)

    def _find_file(self, reference: Reference) -> GivenDocument | None:
        text = f" {reference.text} ".casefold()
        bare = re.sub(r"https?://\S+", " ", text)
        if len({*_FILE_NAME.findall(bare)}) > 1:
            return None
        found = [
            one
            for name, one in self.by_file.items()
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", bare)
        ]
        return found[0] if len(found) == 1 else None

    def _find_title(self, reference: Reference) -> GivenDocument | None:
        """Return the document whose title is that of a reference, or the longest in its entry.

        A document with another address is another one, whatever its title.
        """
        web = reference.address.startswith(("http://", "https://"))
        whole = plain_title(reference.title)
        entry = f" {plain_title(reference.text)} "
        several = len({*_FILE_NAME.findall(reference.text)}) > 1
        within = [one for one in self.by_title if _is_phrase(one) and f" {one} " in entry]
        within = [] if several else within
        names = [whole, *sorted(within, key=len, reverse=True)]
        having = (self.by_title[name] for name in names if name in self.by_title)
        return next((one for one in having if not (web and _has_web_address(one))), None)


def _only(pairs: Sequence[tuple[str, GivenDocument]]) -> Mapping[str, GivenDocument]:
    """Return the documents by the keys that only one of them has."""
    grouped: dict[str, list[GivenDocument]] = defaultdict(list)
    for key, document in pairs:
        grouped[key].append(document)
    return {key: some[0] for key, some in grouped.items() if key and len(some) == 1}


def _is_telling(stem: str) -> bool:
    return len(stem) >= _MIN_STEM and stem not in _COMMON_STEMS and not stem.isdigit()


def _is_long(title: str) -> bool:
    return len(title) >= (_MIN_TITLE if title.isascii() else 4)


def _is_phrase(title: str) -> bool:
    """Tell whether a title is long enough to be known within a text."""
    return len(title) >= _MIN_PHRASE and " " in title if title.isascii() else len(title) >= 6


def _has_web_address(document: GivenDocument) -> bool:
    return any(one.startswith(("http://", "https://")) for one in document.addresses)
