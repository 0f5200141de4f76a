"""Find the sentences of a report that only weak sources say, or several copies of one text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from graph.records import WEAK_GENRES, Source, StandingReason, StandingRemark
from report.checks.claims import classify_statement
from report.citations import get_document_key
from report.independence import group_copies
from report.markdown.markdown_blocks import iter_statements, parse_blocks
from report.markdown.markers import list_cited_ids
from report.rendering.markdown_report import render_plain_text
from text.pattern_files import PatternFile
from text.regex import regex

_PATTERNS = PatternFile("report", "source_standing.toml")

_MIN_SITE_CHARS = 4
_WORD = regex(r"[\w-]+")


def list_standing_remarks(
    body: str, sources: Mapping[str, Source], texts: Mapping[str, str]
) -> list[StandingRemark]:
    """Return the sentences of a report whose sources are all weak, or all copies of one text.

    A sentence that says itself where it is from ("one user reports") gets no remark.

    Args:
        body: The checked body of the report, with the ids of its sources.
        sources: The sources by id.
        texts: The texts of the cited pages, by the ids of their sources.
    """
    cited = [sources[name] for name in dict.fromkeys(list_cited_ids(body)) if name in sources]
    copies = {name: group[0] for group in group_copies(cited, texts) for name in group}
    judge = partial(_judge_statement, sources=sources, copies=copies)
    statements = iter_statements(parse_blocks(body))
    judged = ((statement, judge(statement)) for statement in statements)
    return [
        StandingRemark(text=render_plain_text(statement), reason=reason)
        for statement, reason in judged
        if reason
    ]


def _judge_statement(
    statement: str, sources: Mapping[str, Source], copies: Mapping[str, str]
) -> StandingReason | None:
    names = list_cited_ids(statement)
    cited = [sources[name] for name in dict.fromkeys(names) if name in sources]
    if not cited or len(cited) < len(set(names)) or classify_statement(statement) == "open":
        return None
    if all(map(is_weak, cited)):
        return _judge_weak(statement, cited)
    documents = {get_document_key(source) for source in cited}
    groups = {copies.get(source["id"], source["id"]) for source in cited}
    return "copies" if len(documents) > 1 and len(groups) == 1 else None


def is_weak(source: Source) -> bool:
    """Tell whether the word of a source alone is worth little; a signed blog is not weak."""
    signed_blog = source.get("genre") == "blog" and source.get("author")
    return source.get("genre") in WEAK_GENRES and not signed_blog


def _judge_weak(statement: str, cited: Sequence[Source]) -> StandingReason | None:
    genres = [genre for genre in dict.fromkeys(source.get("genre") for source in cited) if genre]
    if any(_PATTERNS.get(f"{genre}_said").search(statement) for genre in genres):
        return None
    if _names_site(statement, cited):
        return None
    match genres:
        case ["forum" | "blog" | "vendor" | "farm" | "hostile" as genre]:
            return genre
        case _:
            return "weak"


def _names_site(statement: str, cited: Iterable[Source]) -> bool:
    """Tell whether a statement names the site of one of its sources."""
    labels = chain.from_iterable(source.get("site", "").split(".")[:-1] for source in cited)
    said = set(_WORD.findall(statement.lower()))
    return any(len(label) >= _MIN_SITE_CHARS and label in said for label in labels)
