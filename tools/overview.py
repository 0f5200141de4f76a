"""Describe the documents of folders: kind, size, date, language and a sentence of each."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from library.documents import DocumentOpening, StoredFile, list_stored_files, read_document_openings
from prompts.loader import render_prompt
from report.citations import SECTION_SEPARATOR
from text.background_threads import run_abandonable
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK, detect_language
from text.sentences import split_sentences
from tools.computed_pages import DerivedText, to_plain_line
from tools.unread_reasons import describe_unread_file

_PATTERNS = PatternFile("tools", "overview.toml")

MOST = 60
"""The most documents described one by one; if there are more, folders are counted."""

SHOWN = 5
"""How many sentences from the beginning of a named document are considered."""

SHORTEST = 20
"""A text with no more characters is a heading or a number, and is left out."""

LONGEST = 220
"""The longest sentence of a document, in characters."""

_WHOLE = regex(r"^\W*[A-Z\d].*\s.*[.!?]\W*$|[。！？]\W*$", re.DOTALL)
"""A sentence, and no item, heading or piece of a table."""

_MARK = regex(r"^\s*[-*+•]\s+")
"""The beginning of a list item."""

_FILE = regex(r"[“\"「『]([^“”\"「」『』\n]+\.\w{1,8})[”\"」』]")
"""A file named in a question."""

_HOW = regex(r"\bhow (?!many\b)|怎|如何")
"""The words that ask how to do something."""

_TABLES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")


def asks_overview(question: str) -> bool:
    """Return whether a question asks only which documents there are or what they contain."""
    text = _FILE.sub(" docs ", question).lower().replace("’", "'")
    if _HOW.search(text) or not (_PATTERNS.noun.search(text) and _PATTERNS.asks.search(text)):
        return False
    chinese = re.sub(f"[^{CJK}]", "", _PATTERNS.fill_zh.sub("", text))
    return not chinese and _PATTERNS.get_words("fill").issuperset(re.findall(r"[a-z']+", text))


async def describe_folders(
    owner: str, roots: Sequence[str], language: str, question: str = ""
) -> list[DerivedText]:
    """Describe folders as a whole, then each document; return nothing if none was read.

    Args:
        owner: The owner of the documents.
        roots: The folders; if empty, everything that the owner has ingested.
        language: The language of the descriptions.
        question: The question; if it names files, only their contents are described.
    """
    files = await list_stored_files(owner, roots)
    names = _FILE.findall(question)
    read = [file for file in files if not file.code]
    named = [file for file in read if Path(file.path).name in names]
    shown = (named or read)[:MOST]
    if not shown:
        return []
    openings = await read_document_openings(owner, [file.sha256 for file in shown])
    describe = _content if named else _document
    described = await run_abandonable(
        lambda: [describe(file, openings.get(file.sha256), language) for file in shown]
    )
    return described if named else [_whole(files, read, language), *described]


def _content(file: StoredFile, opening: DocumentOpening | None, language: str) -> DerivedText:
    """Describe a document with its first sentences, each on a line of its own."""
    document = _document(file, opening, language)
    sentences = [span.text for span in split_sentences((opening.text if opening else "")[:2000])]
    lines = [
        f"  - “{_cut(to_plain_line(sentence))}”"
        for sentence in sentences[1:SHOWN]
        if len(sentence) > SHORTEST
    ]
    return document._replace(text="\n".join([document.text, *lines]))


def _whole(files: Sequence[StoredFile], read: Sequence[StoredFile], language: str) -> DerivedText:
    """Return the number and kinds of documents, and the files that could not be read."""
    zh = language == "zh"
    say = partial(render_prompt, language=language)
    roots = list(dict.fromkeys(file.root for file in files))
    kinds = Counter(_kind(file.path, zh) for file in read)
    size = _size(sum(file.size for file in read))
    comma = "、" if zh else ", "
    each = comma.join(f"{kind} {count}" for kind, count in kinds.most_common())
    where = comma.join(to_plain_line(root) for root in roots[:3])
    values = {"where": where, "size": size, "kinds": each}
    several = partial(say, "overview_several", count=f"{len(read):,}")
    first = say("overview_one", **values) if len(read) == 1 else several(**values)
    lines = [first, *_not_shown(read, language), *_unread(files, language)]
    title = say("overview_title", where=where)
    return DerivedText("file", roots[0], roots[0], title, "", "\n".join(lines))


def _not_shown(read: Sequence[StoredFile], language: str) -> list[str]:
    if len(read) <= MOST:
        return []
    folders = Counter(os.path.dirname(file.path) for file in read)
    counts = [f"{to_plain_line(folder)}: {count}" for folder, count in folders.most_common(20)]
    folders_told = _semicolon(language).join(counts)
    return [render_prompt("overview_first", language=language, count=MOST, folders=folders_told)]


def _unread(files: Sequence[StoredFile], language: str) -> list[str]:
    reasons = [(Path(file.path).name, file.reason) for file in files if file.code]
    unread = [describe_unread_file(*one, language) for one in reasons]
    if not unread:
        return []
    rest = len(unread) - 20
    more = [render_prompt("overview_rest", language=language, count=rest)] if rest > 0 else []
    joined = _semicolon(language).join([*unread[:20], *more])
    return [render_prompt("notice_not_read", language=language, files=joined)]


def _semicolon(language: str) -> str:
    return "；" if language == "zh" else "; "


def _document(file: StoredFile, opening: DocumentOpening | None, language: str) -> DerivedText:
    name = Path(file.path).name
    changed = datetime.fromtimestamp(file.modified / 1e9, UTC).astimezone().date().isoformat()
    values = {"kind": _kind(file.path, language == "zh"), "size": _size(file.size)}
    values |= {"file": to_plain_line(name), "changed": changed}
    line = render_prompt("overview_document", language=language, **values)
    if opening:
        written = detect_language(opening.text[:2000])
        line += render_prompt(f"language_{written}", language=language)
    sentence = _sentence(file, opening)
    quote = f"{_semicolon(language)}“{sentence}”" if sentence else ""
    title = opening.title.split(SECTION_SEPARATOR)[0] if opening else name
    return DerivedText("file", file.sha256, file.path, title or name, "", f"{line}{quote}")


def _sentence(file: StoredFile, opening: DocumentOpening | None) -> str:
    """Return a sentence on what a document is about; for a table, its first row."""
    if opening is None:
        return ""
    if file.path.lower().endswith(_TABLES):
        first = opening.text.strip().splitlines()[:1]
        return _cut(to_plain_line(first[0])) if first else ""
    texts = [span.text for span in split_sentences(opening.abstract or opening.text[:1000])]
    sentences = [text for text in texts if _WHOLE.search(text)] or texts
    return _cut(to_plain_line(_MARK.sub("", sentences[0]))) if sentences else ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


@cache
def _read_kinds() -> dict[str, list[str]]:
    """Return the types of documents by suffix, each in English and in Chinese."""
    return {suffix: " ".join(names).split("|") for suffix, *names in _PATTERNS.get_rows("kinds")}


def _kind(path: str, zh: bool) -> str:
    suffix = Path(path).suffix.lower()
    kinds = _read_kinds()
    return kinds[suffix][zh] if suffix in kinds else suffix.lstrip(".") or "text"


def _size(count: int) -> str:
    for unit, least in (("MB", 1_000_000), ("kB", 1_000)):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} B"
