"""Put a report together from sections that were written side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from report.checks.numbers import list_values
from report.labels import get_label
from report.markdown.code import mask_code, unmask_code
from report.markdown.markdown_blocks import (
    drop_removed_blocks,
    iter_statements,
    join_blocks,
    list_prose_blocks,
    list_statements,
    parse_blocks,
    statement_key,
)
from report.markdown.markers import MARKER, map_outside_quotations
from text.regex import regex
from text.script import CJK
from text.words import search_words

MAX_TERMS = 8
"""How many terms are replaced in a report at most."""

_TERM = regex(r"[^\d\[\]<>|#`*_\\\n]{1,40}")  # without a number or a mark
_MIN_REPEATED_SHARE = 0.7  # of the words of a sentence that another one has, if it is left out
_LEADING_HEADING = regex(r"\s*#{1,6}[ \t]+[^\n]*\n+")


class WrittenSection(NamedTuple):
    """A section of a report: its title, and its text without it."""

    title: str
    text: str


def strip_leading_heading(text: str) -> str:
    """Return the text of a section without a heading that a model began it with."""
    return _LEADING_HEADING.sub("", text, count=1) if _LEADING_HEADING.match(text) else text


def order_sections(
    sections: Sequence[WrittenSection], order: Sequence[int]
) -> list[WrittenSection]:
    """Return sections in an order, by their numbers from 1; unchanged unless it has each once."""
    if sorted(order) != list(range(1, len(sections) + 1)):
        return list(sections)
    return [sections[number - 1] for number in order]


def drop_repeated(sections: Sequence[WrittenSection], repeated: Iterable[str]) -> list[str]:
    """Return the texts of sections without sentences that repeat others.

    One is left out only if another sentence of the report has most of its words and all its
    numbers, so that nothing is lost. Rows of tables stay.

    Args:
        sections: The sections, in their order.
        repeated: The sentences to leave out, as they are written.
    """
    keys = set(map(statement_key, repeated)) - {""}
    texts = [section.text for section in sections]
    for at in reversed(range(len(texts))):
        blocks = parse_blocks(texts[at])
        others = [one for n, text in enumerate(texts) if n != at for one in _list_sentences(text)]
        for place, block in list_prose_blocks(blocks):
            if block.kind == "row":
                continue
            kept = [
                one
                for one in list_statements(block)
                if statement_key(one) not in keys or not _is_said_by(one, others)
            ]
            text = "".join(kept).strip()
            blocks[place] = block._replace(text=text, kind=block.kind if text else "gone")
        texts[at] = join_blocks(drop_removed_blocks(blocks))
    return texts


def _list_sentences(text: str) -> list[str]:
    return [*iter_statements(parse_blocks(text))]


def _is_said_by(sentence: str, others: Iterable[str]) -> bool:
    """Tell whether one of some sentences has most words and all numbers of a sentence."""
    bare = MARKER.sub("", sentence)
    words, numbers = set(search_words(bare)), set(list_values(bare))
    return any(
        len(words & set(search_words(other))) >= _MIN_REPEATED_SHARE * len(words)
        and numbers <= set(list_values(MARKER.sub("", other)))
        for other in others
    )


def unify_terms(text: str, terms: Iterable[tuple[str, str]]) -> str:
    """Return a text with terms replaced outside quotations and code.

    A replacement has to stand in the text already, and neither term has a number or a mark.

    Args:
        text: Markdown.
        terms: Each term to replace, with the one to use.
    """
    known = text.casefold()
    for old, new in list(terms)[:MAX_TERMS]:
        sound = all(_TERM.fullmatch(one) for one in (old, new))
        if sound and old.casefold() != new.casefold() and new.casefold() in known:
            text = _replace_term(text, old, new)
    return text


def _replace_term(text: str, old: str, new: str) -> str:
    edge = "" if re.search(f"[{CJK}]", old) else r"\b"
    found = re.compile(f"{edge}{re.escape(old)}{edge}")
    bare, codes = mask_code(text)
    return unmask_code(map_outside_quotations(bare, lambda part: found.sub(new, part)), codes)


def join_report(
    opening: str,
    sections: Iterable[WrittenSection],
    assessment: str,
    not_known: Sequence[str],
    language: str,
) -> str:
    """Return a report: the answer, its sections, the assessment, and what is not known."""
    parts = [opening.strip()]
    parts += [f"## {section.title}\n\n{section.text}" for section in sections if section.text]
    if assessment.strip():
        parts.append(f"## {get_label('assessment', language)}\n\n{assessment.strip()}")
    if gaps := "\n".join(f"- {gap.strip()}" for gap in not_known if gap.strip()):
        parts.append(f"## {get_label('not_known', language)}\n\n{gaps}")
    return "\n\n".join(filter(None, parts))
