"""Count sources that do not depend on each other: copies of one text, or one site, are one.

Copies are found by the shingles that texts share: Broder, "On the resemblance and containment of
documents", SEQUENCES 1997. A run cites few enough pages to compare all of their shingles, so that
no sketch of them is needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from graph.records import Source
from report.citations import get_document_key, get_origin
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK, simplify_chinese

_PATTERNS = PatternFile("report", "independence.toml")

SHINGLE_WORDS = 8
"""The words of a shingle; a Chinese character counts as a word."""

_MIN_SHINGLES = 30  # a shorter text may be all common phrases
_MIN_RESEMBLANCE = 0.5
_MIN_CONTAINMENT = 0.7  # of the shorter text
_CREDIT_CHARS = 800  # at either end of a text, where it says what it was taken from
_CREDITED_CHARS = 90  # after the words that say so
_MIN_NAME_CHARS = 4
_WORD = regex(f"[{CJK}]|[^\\W_{CJK}]+")
_MANY_AUTHORS = frozenset(["paper"])
"""The genres whose sites publish independent authors."""


Shingle = tuple[str, ...]
"""`SHINGLE_WORDS` words that follow each other."""


def list_shingles(text: str) -> set[Shingle]:
    """Return all runs of `SHINGLE_WORDS` words of a text, without case and marks."""
    words = _WORD.findall(simplify_chinese(text).lower())
    return set(zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False))


def are_copies(one: set[Shingle], other: set[Shingle]) -> bool:
    """Tell by the shingles of two texts whether one is a copy of the other or of a part of it.

    The measures are resemblance, the shared share of all shingles, and containment, that of the
    shorter text.
    """
    fewest = min(len(one), len(other))
    if fewest < _MIN_SHINGLES:
        return False
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared >= _MIN_CONTAINMENT * fewest or shared >= _MIN_RESEMBLANCE * union


class SourceGroups(NamedTuple):
    """Sources in groups by their ids."""

    copies: list[list[str]]
    """Those whose texts are copies, or say they are taken over."""
    dependent: list[list[str]]
    """Those that count as one: copies, and pages of one site."""


def group_sources(sources: Sequence[Source], texts: Mapping[str, str]) -> SourceGroups:
    """Return the sources in groups that depend on each other.

    The papers of a publisher have authors of their own, and so do the files of a folder.

    Args:
        sources: The sources; the pages of a document are in one group.
        texts: The text of each by its id; one that is missing is no copy.
    """
    alike = [*_same_documents(sources), *_copies(sources, texts)]
    dependent = _group(sources, [*alike, *_same_sites(sources)])
    return SourceGroups(_group(sources, alike), dependent)


def group_copies(sources: Sequence[Source], texts: Mapping[str, str]) -> list[list[str]]:
    """Return the ids of sources in groups whose texts are copies, or say they are taken over.

    Args:
        sources: The sources; the pages of a document are in one group.
        texts: The text of each by its id; one that is missing is no copy.
    """
    return group_sources(sources, texts).copies


def count_independent(sources: Sequence[Source], texts: Mapping[str, str]) -> int:
    """Return how many sources there are that do not depend on each other."""
    return len(group_sources(sources, texts).dependent)


Link = tuple[str, str]
"""The ids of two sources that count as one."""


def _same_documents(sources: Sequence[Source]) -> Iterator[Link]:
    documents: dict[str, str] = {}
    for source in sources:
        yield documents.setdefault(get_document_key(source), source["id"]), source["id"]


def _same_sites(sources: Sequence[Source]) -> Iterator[Link]:
    sites: dict[str, str] = {}
    for source in sources:
        site = source.get("site", "") if get_origin(source) == "web" else ""
        if site and source.get("genre") not in _MANY_AUTHORS:
            yield sites.setdefault(site, source["id"]), source["id"]


def _copies(sources: Sequence[Source], texts: Mapping[str, str]) -> Iterator[Link]:
    """Yield documents of which one is a copy of the other, by the ids of their first sources."""
    documents: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        documents[get_document_key(source)].append(source)
    whole = {
        pages[0]["id"]: "\n".join(texts.get(page["id"], "") for page in pages)
        for pages in documents.values()
    }
    shingles = {name: list_shingles(text) for name, text in whole.items()}
    sites = {pages[0]["id"]: _get_web_site(pages[0]) for pages in documents.values()}
    credits = {name: _list_credits(text) for name, text in whole.items()}
    for one, other in combinations(whole, 2):
        credited = _credits(credits[one], sites[other]) or _credits(credits[other], sites[one])
        if credited or are_copies(shingles[one], shingles[other]):
            yield one, other


def _get_web_site(source: Source) -> str:
    return source.get("site", "").lower() if get_origin(source) == "web" else ""


def _list_credits(text: str) -> list[str]:
    """Return what follows the words of a text that say from where it is taken over."""
    ends = f"{text[:_CREDIT_CHARS]}\n{text[max(_CREDIT_CHARS, len(text) - _CREDIT_CHARS) :]}"
    found = _PATTERNS.copied_from.finditer(ends)
    return [ends[one.end() : one.end() + _CREDITED_CHARS].lower() for one in found]


def _credits(credited: Sequence[str], site: str) -> bool:
    """Tell whether what a text says of its origin names a site."""
    name = site.split(".")[-2] if site.count(".") else ""
    if len(name) < _MIN_NAME_CHARS:
        return False
    return any(site in one or name in _WORD.findall(one) for one in credited)


def _group(sources: Sequence[Source], links: Sequence[Link]) -> list[list[str]]:
    """Return the ids of sources in groups that links join, in the order of the sources."""
    leader = {source["id"]: source["id"] for source in sources}

    def find(name: str) -> str:
        """Return the source that leads the group of another one (union-find)."""
        while leader[name] != name:
            name = leader[name]
        return name

    for one, other in links:
        leader[find(other)] = find(one)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in leader:
        groups[find(name)].append(name)
    return list(groups.values())
