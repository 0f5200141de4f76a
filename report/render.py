"""Render a document as markdown or as a page of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from graph.records import Source
from report.escaping import escaped, unescaped, web_address
from report.numbering import DOUBT, DOUBTS, PRIVATE, leaves_out, numbered
from report.page import to_html as to_html
from report.shape import Document as Document
from report.shape import Gap as Gap
from report.wording import (
    Missing,
    doubts,
    footnotes,
    grades,
    missing,
    noted,
    nothing,
    notices,
    researched,
    word,
)
from retrieval.regex import regex
from retrieval.script import CJK

_CJK = regex(f"[{CJK}]")
_BRACKETS = str.maketrans({"\ue000": "[", "\ue001": "]"})


def to_markdown(document: Document) -> str:
    """Return a document as markdown; the same document gives the same bytes.

    Title, notices and question stand first, then the text with its sources as numbers, what is
    missing, what was searched where that is all there is to say, and the list of sources.
    """
    return "\n\n".join(part for part in _parts(document) if part) + "\n"


@lru_cache(maxsize=512)
def plain(body: str) -> str:
    """Return a text with its quotations as such, and without the ids of its sources.

    A row of a table is its cells one behind the other. The checks ask for the same sentences again
    and again.
    """
    shown = re.sub(r"(?<!\\)(?:\*\*|__)", "", _shown(numbered(body, []).body))
    if not shown.lstrip().startswith("|"):
        return unescaped(shown)
    cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", shown))
    return " · ".join(unescaped(cell) for cell in cells if cell)


def _shown(text: str, grades: Sequence[str] = ()) -> str:
    def warned(mark: re.Match[str]) -> str:
        return _warned(mark, grades[min(ord(mark[0]) - DOUBT, len(grades) - 1)] if grades else "")

    return PRIVATE.sub("", DOUBTS.sub(warned, text.translate(_BRACKETS)))


def _warned(mark: re.Match[str], grade: str) -> str:
    """Return the sign of a doubt and its grade, apart from English words."""
    before, after = mark.string[: mark.start()][-1:], mark.string[mark.end() :][:1]
    if _CJK.match(grade):
        return f"（⚠ {grade}）"
    close = not before.strip() or _CJK.match(before) or before in "。！？；…”）」"
    sign = f"(⚠ {grade})" if grade else "⚠"
    return (
        f"{'' if close else ' '}{sign}{' ' if after.isalnum() or (after in '[|' and after) else ''}"
    )


def _parts(document: Document) -> Iterator[str]:
    language = document["language"]
    told = [one["text"] for one in document["doubted"]]
    doubted = doubts(document)
    text, used, _, proofs = numbered(
        document["body"],
        document["sources"],
        language,
        told,
        document["texts"],
        [one.proof for one in doubted],
    )
    yield f"# {escaped(document['title'])}"
    yield "\n>\n".join(f"> {escaped(notice)}" for notice in notices(document))
    yield f"*{escaped(document['question'])}*" if document["question"].strip() else ""
    yield escaped(researched(document))
    unanswered = document["status"] == "insufficient_evidence"
    yield _shown(text, grades(document)) or (nothing(document) if unanswered else "")
    lines = zip(doubted, proofs, strict=True)
    told_doubts = [f"⚠ {escaped(one.text)}{_shown(proof)}" for one, proof in lines]
    yield from _list("doubts", told_doubts, language)
    gaps = [_gap(one, language) for one in missing(document)]
    yield from _list("missing", gaps, language)
    yield from _list("searched", map(escaped, document["searched"] if unanswered else []), language)
    if used:
        yield f"## {word('sources', language)}"
    yield from (f"[{number}] {_source(source)}" for number, source in enumerate(used, start=1))
    yield word("same_place", language) if leaves_out(text) else ""
    yield from map(escaped, footnotes(document))


def _list(heading: str, items: Iterable[str], language: str) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    if lines:
        yield f"## {word(heading, language)}"
        yield "\n".join(lines)


def _gap(gap: Missing, language: str) -> str:
    titles = (noted(f"**{escaped(one)}**", escaped(more), language) for one, more in gap.titles)
    named = word("comma", language).join(titles)
    return f"{named}{word('colon', language)}{escaped(gap.why)}"


def _source(source: Source) -> str:
    location = web_address(source["location"]) or escaped(source["location"])
    return " — ".join(part for part in (escaped(source["title"]), location) if part)
