"""Judge findings by whether their quotes are real and cover the words that were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from models.extractive.prompt_parser import ParsedPrompt, PromptFinding
from models.extractive.query_rewriting import make_part_query
from text.answerability import SourcePassage
from text.normalization import find_quote
from text.question_parts import find_comparison, split_question
from text.summaries import make_title
from text.topics import extract_topic, key_terms, spell_terms, weight_share
from text.words import search_words

COVERED = 0.4
"""A finding passes if its quotes cover this much of what the pages have of the step's terms."""

TOUCHED = 0.3
"""A part of the question is answered if the findings cover this much of its terms."""


def review_finding(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return whether a finding passes: its quotes are real, and cover what could be covered."""
    title, description = prompt.step or (prompt.question, "")
    wanted = next((text for text in (title, description) if key_terms(text)), prompt.question)
    about = extract_topic(wanted)
    quoted = _verified(prompt.findings[0], prompt.pages) if prompt.findings else []
    there = _words([page.text for page in prompt.pages] + [page.title for page in prompt.pages])
    covered, titles = _words(quoted), _words(_titles(prompt.findings, prompt.pages))
    reachable = {term: part for term, part in about.terms.items() if term in there}
    if covered & reachable.keys() - titles:
        covered |= titles
    lacking = [term for term in reachable if term not in covered]
    least = COVERED * sum(reachable.values())
    if quoted and sum(reachable[term] for term in lacking) <= sum(reachable.values()) - least:
        return {"passed": True, "feedback": "", "queries": []}
    missing = spell_terms(wanted, lacking or [term for term in about.terms if term not in there])
    feedback = prompt.words["uncovered" if quoted else "unreal"]
    return {
        "passed": False,
        "feedback": feedback.format(terms=prompt.words["comma"].join(missing)),
        "queries": _again(missing, wanted, prompt.question),
    }


def review_coverage(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return whether each part of the question is touched by a finding or was searched for.

    After words against a plan, the plan that was approved is what is wanted, and no part more.
    """
    if prompt.wishes:
        return {"enough": True, "missing": []}
    told = _words(quote.text for one in prompt.findings for quote in one.quotes)
    told |= _words(one.text for one in prompt.findings if one.status in ("ok", "partial"))
    planned = [set(key_terms(str(step.get("title", "")))) for step in prompt.plan.get("steps", [])]
    planned += [set(key_terms(one.title)) for one in prompt.findings]
    compared = find_comparison(prompt.question)
    parts = compared.names if compared else split_question(prompt.question)
    missing = [
        {"title": make_title(part), "queries": [make_part_query(part, prompt.question)]}
        for part in parts
        if weight_share(extract_topic(part).terms, told) < TOUCHED and not _planned(part, planned)
    ]
    return {"enough": not missing, "missing": missing[:2]}


def _verified(found: PromptFinding, pages: Sequence[SourcePassage]) -> list[str]:
    """Return the quotes of a finding that stand in a page of the source they name."""
    return [
        quote.text
        for quote in found.quotes
        if any(page.id == quote.source and find_quote(quote.text, page.text) for page in pages)
    ]


def _titles(findings: Sequence[PromptFinding], pages: Sequence[SourcePassage]) -> list[str]:
    """Return the titles of what the first finding quotes: what else it says is said of that."""
    cited = {quote.source for found in findings[:1] for quote in found.quotes}
    return [page.title for page in pages if page.id in cited]


def _again(missing: Sequence[str], wanted: str, question: str) -> list[str]:
    """Return up to two searches for what is missing."""
    joined = " ".join(missing[:6])
    return list(dict.fromkeys(filter(None, [joined, make_part_query(wanted, question)])))[:2]


def _planned(part: str, planned: Iterable[set[str]]) -> bool:
    """Tell whether a step asks for most of a part already."""
    wanted = set(key_terms(part))
    return any(2 * len(wanted & step) >= len(wanted) for step in planned)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in search_words(text)}
