"""Plan without understanding: split a question where it says itself that it has parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.extractive.blocks import Page, Prompt
from models.extractive.feedback import revised
from models.extractive.followups import subject, with_subject
from models.extractive.questions import Sides, dimensions, is_simple, parts, sides
from models.extractive.ranking import reach
from models.extractive.steps import DraftStep, colon, query, step
from models.extractive.theses import opposed
from models.extractive.titles import framed, titled
from models.extractive.topic import key_phrase, key_terms, topic
from retrieval.text import language

NEAR = 0.7
"""A source is an aspect of its own if it covers this much of what the best source covers."""
_THOUGHTS = {
    "en": ("One step answers it.", "The question falls into {} parts."),
    "zh": ("问题可以一步回答。", "问题分为 {} 个部分，各成一步。"),
}


def draft(prompt: Prompt) -> dict[str, Any]:
    """Return a plan: the parts the question names itself, or else what the pages are about.

    A rejected plan is changed as the person asks.
    """
    question, limit = prompt.question, max(prompt.limit, 1)
    earlier = [_earlier(one, prompt.plan) for one in prompt.plan.get("steps", [])]
    steps = earlier if earlier and prompt.feedback else list(_steps(prompt, limit))
    if prompt.feedback:
        steps = revised(steps, prompt.feedback, question, limit)
    return {
        "title": framed(titled(question), prompt.language),
        "thought": _THOUGHTS[prompt.language][len(steps) > 1].format(len(steps)),
        "has_enough_context": False,
        "steps": steps[:limit],
    }


def _steps(prompt: Prompt, limit: int) -> Iterator[DraftStep]:
    question = prompt.question
    compared, listed, asked = sides(question), dimensions(question), parts(question)
    if compared and limit > 1:
        yield from _comparison(question, compared, limit)
    elif len(asked) > 1:
        for part in _resolved(asked[:limit]):
            yield step(part, query(part, question), description=part)
    elif listed:
        yield from _listed(question, listed, limit)
    else:
        yield step(question, *_searches(question), description=question)
        known = [found.title for found in prompt.earlier]
        yield from _aspects(question, prompt.pages, min(limit, 3) - 1, known)


def _resolved(asked: Sequence[str]) -> list[str]:
    """Return sub-questions, those that point back with what the first one is about."""
    about = subject(asked[0])
    return [asked[0], *(with_subject(part, about) for part in asked[1:])]


def _searches(question: str) -> list[str]:
    """Return the search for a whole question, and one for theses where documents disagree."""
    whole = key_phrase(question)
    theses = "认为 主张 结论" if language(question) == "zh" else "argues conclusion abstract"
    return [whole, f"{whole} {theses}"] if opposed(question) else [whole]


def _comparison(question: str, compared: Sides, limit: int) -> Iterator[DraftStep]:
    """Yield a step for each side, then one for the comparison, which needs both."""
    about = key_phrase(compared.about)
    for name in compared.names:
        title = f"{name}{colon(question)}{compared.about}" if compared.about else name
        yield step(title, f"{name} {about}".strip(), name)
    if limit > 2:
        both = " ".join(compared.names)
        yield step(question, f"{both} {about}".strip(), description=question, needs=(1, 2))


def _listed(question: str, listed: list[str], limit: int) -> Iterator[DraftStep]:
    """Yield steps for what a question lists, several things in one step if there are many."""
    size = -(-len(listed) // min(limit, len(listed)))
    chinese = language(question) == "zh"
    head = re.split("[，。；：]", question)[0] if chinese else question.split(listed[0])[0]
    whole = key_phrase(head, 5)
    name, joint = (whole.replace(" ", ""), "、") if chinese else (whole, ", ")
    for at in range(0, len(listed), size):
        named = listed[at : at + size]
        yield step(f"{name}{colon(question)}{joint.join(named)}", f"{whole} {' '.join(named)}")


def _aspects(
    question: str, pages: Sequence[Page], most: int, known: Sequence[str]
) -> Iterator[DraftStep]:
    """Yield a step for each other thing the best sources are about, if the question is open.

    What is known already from earlier questions is left out.
    """
    if is_simple(question) or most < 1:
        return
    about = topic(question)
    sources = {page.title: [one for one in pages if one.title == page.title] for page in pages}
    worth = {title: reach(about, question, found) for title, found in sources.items() if title}
    best = max(worth.values(), default=0.0)
    whole = key_phrase(question, 4)
    seen = {term for text in (question, *known) for term in key_terms(text)}
    for title in sorted(worth, key=lambda one: -worth[one]):
        new = set(key_terms(title)) - seen
        if most and new and worth[title] > NEAR * best and language(title) == language(question):
            seen |= new
            most -= 1
            yield step(f"{title}{colon(question)}{whole}", f"{title} {whole}")


def _earlier(one: dict[str, Any], plan: Mapping[str, Any]) -> DraftStep:
    """Return a step of an earlier plan, its needs as numbers."""
    ids = [other.get("id") for other in plan.get("steps", [])]
    needs = [ids.index(need) + 1 for need in one.get("needs", []) if need in ids]
    title, description = str(one.get("title", "")), str(one.get("description", ""))
    queries = [str(text) for text in one.get("queries", [])] or [key_phrase(title)]
    return step(title, *queries, description=description, needs=needs)
