"""Count what a stored report has: claims, sources, coverage and length. No judge is needed."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import or_
from typing import Any

from graph.records import Finding, Source, Step, entries_of_turn
from graph.state import State
from report.checks.caveats import is_absence_remark, is_own_inference
from report.checks.claims import classify_statement
from report.citations import get_document_key
from report.document import to_graded_doubt
from report.independence import group_sources
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    list_prose_blocks,
    list_statements,
    parse_blocks,
    statement_key,
)
from report.markdown.markers import QUOTE, list_cited_ids
from report.rendering.markdown_report import render_plain_text
from text.normalization import find_quote
from text.question_parts import find_comparison, list_named_aspects, split_question
from text.readability import count_text_words, grade_english, measure_chinese
from text.topics import extract_topic, weight_share
from text.words import search_words

COVERED = 0.6
"""The share of the terms of a part of the question, by weight, that a report has to have."""


@dataclass
class ReportFigures:
    """The figures of one report; shares are in 0..1, and `None` where there is nothing to share."""

    run: str
    question: str
    status: str
    language: str
    words: int = 0
    """Words in Latin script and Chinese characters, without the list of sources."""
    sentences: int = 0
    reading_grade: float | None = None
    """Flesch-Kincaid, for English."""
    characters_per_sentence: float | None = None
    """For Chinese."""
    characters_per_clause: float | None = None
    claims: int = 0
    """Sentences that state something, and rows of tables."""
    cited: int = 0
    """Claims that name a source."""
    verified: int = 0
    """Claims that name a source which the checks do not doubt."""
    verified_share: float | None = None
    doubted: int = 0
    doubted_share: float | None = None
    """Of the claims."""
    removed: int = 0
    removed_share: float | None = None
    """Of the claims and of those that were removed."""
    inferences: int = 0
    """Sentences that are shown as what the writer infers or advises; they are no claims."""
    unknowns: int = 0
    """Sentences that say what was not found."""
    sources: int = 0
    """Cited pages or parts of documents."""
    documents: int = 0
    """Cited documents."""
    independent: int = 0
    """Cited sources that do not depend on each other: copies, and pages of one site, are one."""
    steps: int = 0
    steps_covered: int = 0
    """Steps of which a source is cited."""
    parts: int = 0
    parts_covered: int = 0
    parts_open: list[str] = field(default_factory=list)
    """Parts of the question of which the report has too few words."""
    quotations: int = 0
    quotations_verified: int = 0
    """Quotations that stand word for word in the source that they name."""
    tables: int = 0


def measure_report(run: str, state: State, texts: Mapping[str, str]) -> ReportFigures:
    """Return the figures of the report of a run.

    Args:
        run: The name of the run.
        state: The state in which it ended.
        texts: The stored text of each cited source, by its id.
    """
    report = state["report"]
    asked = report.get("asked") or state["question"]
    figures = ReportFigures(run, asked, state["status"], report["language"])
    blocks = parse_blocks(report["body"])
    statements = [
        statement
        for _, block in list_prose_blocks(blocks)
        for statement in list_statements(block)
        if statement.strip()
    ]
    _count_words(figures, blocks)
    _count_claims(figures, state, statements)
    _count_sources(figures, state, texts)
    _count_coverage(figures, state)
    _count_quotations(figures, report["body"], texts)
    runs_of_rows = groupby(blocks, key=lambda block: block.kind == "row")
    figures.tables = sum(is_row for is_row, _ in runs_of_rows)
    return figures


def figures_as_dict(figures: ReportFigures) -> dict[str, Any]:
    """Return figures as plain data, rounded, without those that its language has not."""
    data = asdict(figures)
    other = "reading_grade" if figures.language.startswith("zh") else "characters_per_"
    return {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in data.items()
        if not name.startswith(other)
    }


def _count_words(figures: ReportFigures, blocks: Sequence[MarkdownBlock]) -> None:
    shown = [one for one in blocks if one.kind not in ("fence", "rule", "blank", "gone")]
    figures.words = sum(count_text_words(render_plain_text(one.text)) for one in shown)
    prose = [
        render_plain_text(statement)
        for _, block in list_prose_blocks(blocks)
        if block.kind != "row"
        for statement in list_statements(block)
    ]
    sentences = [one for one in prose if one.strip()]
    figures.sentences = len(sentences)
    if not figures.language.startswith("zh"):
        figures.reading_grade = grade_english(sentences)
    elif lengths := measure_chinese(sentences):
        figures.characters_per_sentence, figures.characters_per_clause = lengths


def _count_claims(figures: ReportFigures, state: State, statements: Sequence[str]) -> None:
    report = state["report"]
    doubts = [to_graded_doubt(one) for one in report.get("doubted", [])]
    doubted = {statement_key(one["text"]) for one in doubts}
    inferred = {statement_key(one) for one in report.get("inferred", [])}
    claims = [one for one in statements if _is_claim(one) and statement_key(one) not in inferred]
    cited = [one for one in claims if list_cited_ids(one)]
    figures.claims, figures.cited = len(claims), len(cited)
    figures.verified = sum(statement_key(one) not in doubted for one in cited)
    figures.doubted, figures.removed = len(doubts), len(report["removed"])
    # What a source says of itself is no remark of the writer.
    own = [QUOTE.sub("", one) for one in statements]
    # "It is not certain that they answer" tells of a gap, and concludes nothing.
    concluding = (is_own_inference(one) and not is_absence_remark(one) for one in own)
    listed = (statement_key(one) in inferred for one in own)
    figures.inferences = sum(map(or_, concluding, listed))
    figures.unknowns = sum(map(is_absence_remark, own))
    figures.verified_share = _share(figures.verified, figures.claims)
    figures.doubted_share = _share(figures.doubted, figures.claims)
    figures.removed_share = _share(figures.removed, figures.claims + figures.removed)


def _is_claim(statement: str) -> bool:
    """Tell whether a sentence states something: it names a source, or would need one."""
    if list_cited_ids(statement):
        return True
    return classify_statement(render_plain_text(statement)) in ("claim", "unsure")


def _count_sources(figures: ReportFigures, state: State, texts: Mapping[str, str]) -> None:
    known: dict[str, Source] = state.get("sources", {})
    cited = [known[name] for name in state["report"]["cited"] if name in known]
    figures.sources = len(cited)
    figures.documents = len({get_document_key(one) for one in cited})
    figures.independent = len(group_sources(cited, texts).dependent)


def _count_coverage(figures: ReportFigures, state: State) -> None:
    cited = set(state["report"]["cited"])
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    steps: list[Step] = [*state.get("plan", {"steps": []})["steps"], *state.get("follow_ups", [])]
    figures.steps = len(steps)
    figures.steps_covered = sum(
        bool(cited & set(findings[step["id"]]["sources"]))
        for step in steps
        if step["id"] in findings
    )
    there = set(search_words(render_plain_text(state["report"]["body"])))
    parts = list_question_parts(state["question"])
    figures.parts = len(parts)
    figures.parts_open = [part for part in parts if not _is_covered(part, parts, there)]
    figures.parts_covered = figures.parts - len(figures.parts_open)


def _is_covered(part: str, parts: Sequence[str], there: Collection[str]) -> bool:
    """Tell whether a report has most of the terms by which a part differs from the others."""
    terms = extract_topic(part).terms
    shared = {term for other in parts if other != part for term in extract_topic(other).terms}
    own = {term: weight for term, weight in terms.items() if term not in shared}
    return weight_share(own or terms, there) >= COVERED


def list_question_parts(question: str) -> list[str]:
    """Return what a question asks for: the things it lists or compares, or its sub-questions."""
    if aspects := list_named_aspects(question):
        return aspects
    parts = split_question(question)
    if len(parts) > 1:
        return parts
    sides = find_comparison(question)
    return sides.names if sides else parts


def _count_quotations(figures: ReportFigures, body: str, texts: Mapping[str, str]) -> None:
    quotes = [(one[1] or "", html.unescape(one[2])) for one in QUOTE.finditer(body)]
    figures.quotations = len(quotes)
    figures.quotations_verified = sum(
        find_quote(words, texts.get(source, "")) is not None for source, words in quotes
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
