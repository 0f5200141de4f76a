"""What memory asks a model for.

Searches, notes and whether they suffice, the abstract of a page, and the digest of a conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from models.extractive.answer_ranking import select_quotes
from models.extractive.lists_and_tables import parse_row
from models.extractive.prompt_parser import ParsedPrompt, SourceQuote
from models.extractive.query_rewriting import make_queries
from models.extractive.sentence_scoring import score_sentences
from text.answerability import is_answerable
from text.regex import regex
from text.script import detect_language
from text.sentences import is_heading, split_sentences
from text.summaries import extract_abstract
from text.tokens import count_tokens
from text.topics import extract_names, extract_topic, key_terms, topic_coverage
from text.words import search_words

NOTE_WORDS = 195
"""How many words notes may have; a Chinese character counts as one."""

SURE = 3
"""So many sentences are chosen as a finding's are; the rest fills what is left of the notes."""

NOTED_ROWS = 5
"""So many rows of tables are noted at most: more of them are a table, and no notes of it."""

ORDER = 2.0
"""What it is worth to be of the page that is shown first; later pages get a half, a third, …"""

COVERED = 0.8
"""Notes are complete if they cover this much of the question's terms."""

LED_TO = 3
"""How many of the names that the notes bring to light are followed."""


def plan_lookup(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return the searches for a request: its own words, other ways of asking, and all of it."""
    request = prompt.request or prompt.question
    queries = make_queries(request, 2)
    return {"needs": [request], "keywords": queries, "meanings": [request], "pages": []}


def take_notes(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return what the person told, then the sentences that answer the question best."""
    told = [page for page in prompt.pages if page.is_computed]
    rest = prompt._replace(pages=tuple(page for page in prompt.pages if not page.is_computed))
    facts = [{"text": page.text.removeprefix("- "), "pages": [page.id]} for page in told]
    return {"facts": [*facts, *_of_pages(rest)]}


def _of_pages(prompt: ParsedPrompt) -> list[dict[str, Any]]:
    if not is_answerable(prompt.question, prompt.pages):
        return []
    about = extract_topic(prompt.question)
    order = dict.fromkeys(page.id for page in prompt.pages)
    worth = {name: ORDER / place for place, name in enumerate(order, start=1)}
    rest = score_sentences(about, prompt.question, prompt.pages)
    rest.sort(key=lambda one: -one.score - worth[one.page.id])
    sure = select_quotes(about, prompt.question, prompt.pages, SURE)
    return _fitting([*sure, *(one.quote for one in rest)])


def _fitting(quotes: Iterable[SourceQuote]) -> list[dict[str, Any]]:
    """Return the first of some sentences that fit into notes, none within another."""
    chosen: list[SourceQuote] = []
    left = NOTE_WORDS
    for quote in quotes:
        length = _length(quote.text)
        said = any(quote.text in one.text or one.text in quote.text for one in chosen)
        rows = sum(bool(parse_row(one.text)) for one in chosen) if parse_row(quote.text) else 0
        if (length <= left or not chosen) and not said and rows < NOTED_ROWS:
            chosen.append(quote)
            left -= length
    return [{"text": quote.text, "pages": [quote.source]} for quote in chosen]


def check_notes(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return whether the notes cover the question, else what the names in them may lead to."""
    noted = search_words(prompt.notes)
    about = extract_topic(prompt.question)
    if not prompt.notes or topic_coverage(about, noted) >= COVERED:
        return {"complete": True, "requests": []}
    lacking = [term for term in key_terms(prompt.question) if term not in set(noted)]
    known = set(search_words("\n".join([prompt.question, *prompt.queries])))
    new = [name for name in extract_names(prompt.notes) if not known >= set(search_words(name))]
    missing = _spelt(prompt.question, lacking)
    return {"complete": False, "requests": [f"{name} {missing}".strip() for name in new[:LED_TO]]}


def _spelt(question: str, lacking: list[str]) -> str:
    """Return the words of a question that hold the terms the notes lack, as they are spelt."""
    if detect_language(question) == "zh":
        return question
    spelt = [word.strip("?.,;:!\"'") for word in question.split()]
    return " ".join(word for word in spelt if set(search_words(word)) & set(lacking))


def _length(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+", text))


DIGEST_TOKENS = 600
"""How many tokens a digest has at most."""

LONGEST = 300
"""How many characters are kept of what a person said at once, or a page."""

ASKED = {"en": "Asked: ", "zh": "问题："}

_TURN = regex(r"\n\n(?=(?:person|model|[\w-]+ returned): )")
_MATTERS = regex(r"(?:Asked|Decided|Open|问题|决定|未决)[:：]")
_SOURCED = regex(r"\[S\d+\]|<q s=\"S\d+\">")
_PAGE = regex(r'<page id="(S\d+)"[^>]*>\n(.*?)\n</page>', re.DOTALL)


def digest_conversation(talk: str) -> str:
    """Return the questions of a conversation, what was left open, and what has a source.

    Questions and open ends are kept first; of what has a source the newest, for it was written with
    the older in sight. The order is that of the conversation.
    """
    asked = ASKED[detect_language(talk)]
    lines = [line for turn in _TURN.split(talk) for line in _lines(turn, asked)]
    kept: set[int] = set()
    room = DIGEST_TOKENS
    for at in sorted(range(len(lines)), key=lambda one: (lines[one][0], -one)):
        size = count_tokens(lines[at][1]) + 1
        if size <= room:
            kept.add(at)
            room -= size
    return "\n".join(dict.fromkeys(lines[at][1] for at in sorted(kept)))


def _lines(turn: str, asked: str) -> Iterator[tuple[int, str]]:
    """Yield what a turn has to keep, each with how much it matters; 0 matters most."""
    who, _, said = turn.partition(": ")
    if who == "person":
        yield 0, f"{asked}{_shorten(said)}"
        return
    for name, text in _PAGE.findall(turn):
        first = next(iter(split_sentences(text)), None)
        if first:
            yield 1, f"{_shorten(first.text)} [{name}]"
    rest = _PAGE.sub("", said if who == "model" else turn)
    for line in _units(rest):
        if _MATTERS.match(line):
            yield 0, line
        elif _SOURCED.search(line) and line.count("<q ") == line.count("</q>"):
            yield 1, line


def _units(text: str) -> Iterator[str]:
    """Yield the lines of a text, and the sentences of those that are long."""
    for line in filter(None, map(str.strip, text.splitlines())):
        if len(line) <= LONGEST:
            yield line
        else:
            yield from (one.text for one in split_sentences(line) if not is_heading(one.text))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def abstract_page(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return the abstract of the page that is shown."""
    return {"abstract": extract_abstract(prompt.pages[0].text if prompt.pages else "")}
