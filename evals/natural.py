"""Questions as a person asks them, each for one fact, with the pages that may answer them.

`evals/natural.jsonl` has the questions, written for this measurement in our own words. Each names
the titles of the pages that answer it and words that an answer has; a question without answers is
plausible and not answered by the pages. "encyclopedia" stands for the pages of HotpotQA and
MuSiQue, "documents" for the files of the Debian packages bash-doc, debian-faq, debian-policy,
debian-reference-en, developers-reference, git-doc and sqlite3-doc below a folder, "articles" for
the pages of 2WikiMultihopQA, and "manuals" for those of debian-handbook (in English),
postgresql-doc-15 and python3.11-doc (its FAQ, tutorial and HOWTOs) below a second folder.
"references" stands for a third: the API pages of nodejs-doc, info pages of the GNU tools as plain
text, and manual pages of sections 1, 5, 7 and 8 in the words of
`MANWIDTH=100 man --nh --nj PAGE | col -bx`.

`evals/sealed.jsonl` has questions that were written and put away before any of them was asked:
nothing is fitted on them, and nobody changes the program for one of them. Once their errors have
been read, they belong to the others, and new ones have to be written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from evals.extractive import PAGES, Corpus, indexed, lines
from models.extractive.candidates import document
from report.citations import SECTION
from tools.files.folder import find_files
from tools.files.reading import extract

QUESTIONS = Path(__file__).with_name("natural.jsonl")
SEALED = Path(__file__).with_name("sealed.jsonl")
AS_ASKED = "natural"
PUT_AWAY = "natural sealed"
SETS = {"encyclopedia": ("hotpotqa", "musique"), "articles": ("2wiki",)}
"""The pages that are those of a set of questions."""


class Folders(NamedTuple):
    """Where the pages lie."""

    data: Path
    documents: Path
    manuals: Path
    references: Path
    guides: Path
    handbooks: Path


def natural(name: str) -> Iterator[dict[str, Any]]:
    """Yield the questions that are fitted on, or those put away."""
    yield from lines(SEALED if name == PUT_AWAY else QUESTIONS)


@cache
def natural_pages(folders: Folders, kind: str) -> Corpus:
    """Return the pages of a kind: those of some sets, or those of a folder of documents."""
    if kind in SETS:
        found = (folders.data / name / "corpus.jsonl" for name in SETS[kind])
        return indexed([page for one in found for page in lines(one)])
    folder: Path = getattr(folders, kind)
    return indexed([page for file in find_files(folder) for page in file_pages(file)])


def without(own: Corpus, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nearest pages that neither are of a document that answers nor hold an answer."""
    found = own.nearest(query["text"], 20 * PAGES)
    return [page for page in found if not _of(page, query) and not answers(query, page)][:PAGES]


def gold(own: Corpus, query: Mapping[str, Any]) -> list[str]:
    """Return the ids of the pages that answer a question."""
    return [page["id"] for page in own.pages if _of(page, query) and answers(query, page)]


def answers(query: Mapping[str, Any], page: Mapping[str, Any]) -> bool:
    """Tell whether a page has the words of an answer."""
    return any(plain(one) in plain(page["text"]) for one in query["answers"])


def plain(text: str) -> str:
    """Return a text in lower case with single spaces, wherever its lines end."""
    return " ".join(text.lower().split())


def _of(page: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    return document(page["title"]) in query["titles"]


def file_pages(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the sections of a file as the program keeps them."""
    read = asyncio.run(extract(file))
    title = read["title"].replace(SECTION, " – ")
    for number, part in enumerate(read["sections"]):
        named = part["title"] in ("", read["title"])
        whole = title if named else f"{title}{SECTION}{part['title']}"
        yield {"id": f"{file}:{number}", "title": whole, "text": part["text"]}
