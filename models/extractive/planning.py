"""Plan without understanding.

Split a question where it says itself that it has parts, and change a plan in the few ways in which
people ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from models.extractive.prompt_parser import ParsedPrompt
from models.extractive.query_rewriting import make_cross_language_query, make_part_query
from models.extractive.sentence_scoring import asks_disagreement
from text.answerability import SourcePassage, best_source_coverage
from text.pattern_files import PatternFile
from text.question_parts import (
    ComparedSides,
    find_comparison,
    find_question_subject,
    is_simple_question,
    list_named_aspects,
    resolve_pronoun,
    split_question,
)
from text.regex import regex
from text.script import detect_language
from text.sentences import is_heading, split_sentences
from text.summaries import localize_title, make_title
from text.topics import extract_topic, key_phrase, key_terms
from text.words import query_terms, search_words

_PATTERNS = PatternFile("models.extractive", "planning.toml")


class _DraftStep(TypedDict):
    """One step, with the numbers of the steps it needs, from 1."""

    title: str
    description: str
    kind: str
    queries: list[str]
    needs: list[int]
    need_web_search: bool


def _make_step(
    title: str, *queries: str, description: str = "", needs: Sequence[int] = ()
) -> _DraftStep:
    """Return a step to research, with its one or two different queries."""
    return _DraftStep(
        title=make_title(title),
        description=description,
        kind="research",
        queries=list(dict.fromkeys(query for query in queries if query.strip()))[:2],
        needs=list(needs),
        need_web_search=True,
    )


def _colon(question: str) -> str:
    """Return the colon of the question's language."""
    return "：" if detect_language(question) == "zh" else ": "


SUBJECT_WORDS = 4
"""So many words of the question tell what a step is about that a person asks for."""

_SWAPS = ("replace", "instead", "rather", "zh_replace", "zh_rather")
"""Patterns of wishes for something instead of something else."""

_SPACES = regex(r"[^\S\n]{2,}")
_ORDER = dict(zip("一二三四五六", range(1, 7), strict=True)) | {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5,
}  # fmt: skip


def _revise_steps(
    steps: Sequence[_DraftStep], feedback: str, question: str, limit: int
) -> list[_DraftStep]:
    """Return the steps after a person's words about them; at most `limit`.

    Numbers and words name steps to keep or to drop; what names none becomes a step of its own.
    """
    kept, added = set(range(1, len(steps) + 1)), list[str]()
    for clause in _clauses(feedback):
        meant = _meant(steps, clause)
        if _PATTERNS.drop.search(clause):
            kept -= meant
        elif _PATTERNS.only.search(clause):
            kept &= _closest(steps, meant)
            added += [] if meant else [_PATTERNS.only.sub(" ", clause)]
        elif _PATTERNS.fewer.search(clause):
            kept = set(sorted(kept)[: (len(kept) + 1) // 2])
        elif not _PATTERNS.step.search(clause):
            added.append(clause)
    wanted = [_wanted(words) for words in added if key_terms(_wanted(words))]
    wanted = [one for one in wanted if not _is_asked_already(one, steps, kept)]
    stay = sorted(kept)[: max(limit - len(wanted), 0)]
    gone = _dropped_terms(steps, stay)
    new = [_added_step(one, question, gone) for one in wanted]
    return [_apart(one, gone) for one in _joined(steps, stay, new)] or list(steps)


def _dropped_terms(steps: Sequence[_DraftStep], stay: Sequence[int]) -> set[str]:
    """Return the terms of what only dropped steps are about; none where no step is left."""
    if not stay:
        return set()
    told = [set(query_terms(step["title"])) for step in steps]
    wanted = set[str]().union(*(told[number - 1] for number in stay))
    dropped = (said for number, said in enumerate(told, start=1) if number not in stay)
    return set[str]().union(*dropped) - wanted


def _apart(step: _DraftStep, gone: set[str]) -> _DraftStep:
    """Return a step whose queries ask for none of some terms that it is not about itself."""
    others = gone - set(query_terms(step["title"]))
    return {**step, "queries": [_without_terms(query, others) for query in step["queries"]]}


def _without_terms(query: str, gone: set[str]) -> str:
    """Return a query without the words of some terms, or all of it where nothing would be left."""
    left = " ".join(word for word in query.split() if gone.isdisjoint(query_terms(word)))
    return left or query


def remove_unwanted(
    pages: Sequence[SourcePassage], wishes: Sequence[str], question: str
) -> list[SourcePassage]:
    """Return passages without the sentences and sections on what a person does not want.

    Args:
        pages: The passages.
        wishes: What the person said against plans.
        question: What is asked; its own subject is never left out.
    """
    unwanted = _unwanted(wishes, set(key_terms(question)))
    if not unwanted:
        return list(pages)
    left = [one if one.is_computed else _left(one, unwanted) for one in pages]
    return [one for one in left if one.text.strip()]


def _unwanted(wishes: Sequence[str], asked: set[str]) -> list[set[str]]:
    """Return the terms of each thing that is not wanted, apart from those that are asked about."""
    clauses = (clause for wish in wishes for clause in _clauses(wish))
    dropped = (
        one for one in clauses if _PATTERNS.unwanted.search(one) and not _PATTERNS.step.search(one)
    )
    named = (set(key_terms(_wanted(_PATTERNS.unwanted.sub(" ", one)))) - asked for one in dropped)
    return [terms for terms in named if terms]


def _left(page: SourcePassage, unwanted: Sequence[set[str]]) -> SourcePassage:
    """Return a passage with gaps where sentences and sections stood that are not wanted."""
    text, below = page.text, _is_on(page.title.partition(" — ")[2], unwanted)
    for span in split_sentences(page.text):
        headed = is_heading(span.text)
        below = _is_on(span.text, unwanted) if headed else below
        if below or _is_on(span.text, unwanted):
            text = text[: span.start] + "\n" * len(span.text) + text[span.end :]
    return page._replace(text=text)


def _is_on(text: str, unwanted: Sequence[set[str]]) -> bool:
    said = set(search_words(text))
    return any(terms <= said for terms in unwanted)


def _clauses(feedback: str) -> Iterator[str]:
    """Yield what a person says, one wish at a time; a swap is a wish to drop and one to add."""
    for clause in _PATTERNS.clauses.split(_SPACES.sub(" ", feedback)):
        swaps = (_PATTERNS.get(name).search(clause) for name in _SWAPS)
        if swap := next(filter(None, swaps), None):
            yield f"drop {swap['old']}"
            yield swap["new"]
        elif clause.strip():
            yield clause


def _meant(steps: Sequence[_DraftStep], clause: str) -> set[int]:
    """Return the numbers of the steps that a wish names, by number or by their words."""
    named = [_numbers(found, len(steps)) for found in _PATTERNS.step.finditer(clause)]
    if named:
        return set().union(*named)
    if re.search("compar|比[较較]|[对對]比", clause, re.IGNORECASE):
        return {number for number, one in enumerate(steps, start=1) if len(one["needs"]) > 1}
    wanted = set(key_terms(_wanted(_PATTERNS.drop.sub(" ", _PATTERNS.only.sub(" ", clause)))))
    titles = [set(key_terms(step["title"])) for step in steps]
    return {
        number
        for number, title in enumerate(titles, start=1)
        if wanted and 2 * len(wanted & title) >= len(wanted)
    }


def _closest(steps: Sequence[_DraftStep], meant: set[int]) -> set[int]:
    """Return the steps among those meant that are about little else."""
    sizes = {number: len(key_terms(steps[number - 1]["title"])) for number in meant}
    return {number for number, size in sizes.items() if size <= 2 * min(sizes.values())}


def _numbers(found: re.Match[str], count: int) -> list[int]:
    if found["digits"]:
        return [int(digits) for digits in re.findall(r"\d+", found["digits"])]
    if found["end"] or (found["word"] or "").lower() == "last":
        return [count]
    sign = (found["word"] or found["sign"] or found["bare"]).lower()
    return [int(sign) if sign.isdigit() else _ORDER[sign]]


def _wanted(clause: str) -> str:
    """Return what a wish is about, without the words of wishing."""
    return _PATTERNS.tail.sub("", _PATTERNS.lead.sub("", clause)).strip(" ,，:：\"'")


def _added_step(wanted: str, question: str, gone: set[str]) -> _DraftStep:
    """Return a step for what a person asks for, within the question but for some terms."""
    about = _without_terms(key_phrase(question, SUBJECT_WORDS), gone - set(query_terms(wanted)))
    return _make_step(
        wanted,
        make_part_query(wanted, question),
        f"{about} {wanted}",
        description=f"{wanted} ({about})",
    )


def _is_asked_already(wanted: str, steps: Sequence[_DraftStep], kept: set[int]) -> bool:
    """Tell whether a step that stays already asks for all of what is wanted."""
    terms = set(key_terms(wanted))
    return any(terms <= set(key_terms(steps[number - 1]["title"])) for number in kept)


def _joined(
    steps: Sequence[_DraftStep], kept: Sequence[int], new: Sequence[_DraftStep]
) -> list[_DraftStep]:
    """Return the kept and the new steps, their needs renumbered."""
    numbers = {old: now for now, old in enumerate(kept, start=1)}
    stay: list[_DraftStep] = []
    for old in kept:
        needs = [numbers[need] for need in steps[old - 1]["needs"] if need in numbers]
        stay.append({**steps[old - 1], "needs": needs})
    return [*stay, *new]


ASPECT_COVERAGE = 0.7
"""A source is an aspect of its own if it covers this much of what the best source covers."""


def draft_plan(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return a plan: the parts the question names itself, or else what the pages are about.

    A rejected plan is changed as the person asks. Rules tell neither who else would ask this nor
    what only the person knows, so perspectives and questions stay empty.
    """
    question, limit = prompt.question, max(prompt.step_limit, 1)
    earlier = [_earlier(one, prompt.plan) for one in prompt.plan.get("steps", [])]
    steps = earlier if earlier and prompt.feedback else list(_steps(prompt, limit))
    if prompt.feedback:
        steps = _revise_steps(steps, prompt.feedback, question, limit)
    thought = "several_steps" if len(steps) > 1 else "one_step"
    return {
        "title": localize_title(make_title(question), prompt.language),
        "thought": prompt.words[thought].format(len(steps)),
        "has_enough_context": False,
        "steps": [_across_languages(one, prompt.source_languages) for one in steps[:limit]],
    }


def _across_languages(step: _DraftStep, languages: Collection[str]) -> _DraftStep:
    """Return a step with a search in the terms of the other language, if sources are in it."""
    query = make_cross_language_query(step["title"], languages)
    more = [query] if query and query not in step["queries"] else []
    return {**step, "queries": [*step["queries"], *more]}


def _steps(prompt: ParsedPrompt, limit: int) -> Iterator[_DraftStep]:
    question = prompt.question
    compared, listed = find_comparison(question), list_named_aspects(question)
    asked = split_question(question)
    if compared and limit > 1:
        yield from _comparison(question, compared, limit)
    elif len(asked) > 1:
        for part in _resolved(asked[:limit]):
            yield _make_step(part, make_part_query(part, question), description=part)
    elif listed:
        yield from _listed(question, listed, limit)
    else:
        yield _make_step(question, *_searches(question), description=question)
        known = [found.title for found in prompt.earlier_findings]
        yield from _aspects(question, prompt.pages, min(limit, 3) - 1, known)


def _resolved(asked: Sequence[str]) -> list[str]:
    """Return sub-questions, those that point back with what the first one is about."""
    about = find_question_subject(asked[0])
    return [asked[0], *(resolve_pronoun(part, about) for part in asked[1:])]


def _searches(question: str) -> list[str]:
    """Return the search for a whole question, and one for theses where documents disagree."""
    whole = key_phrase(question)
    theses = "认为 主张 结论" if detect_language(question) == "zh" else "argues conclusion abstract"
    return [whole, f"{whole} {theses}"] if asks_disagreement(question) else [whole]


def _comparison(question: str, compared: ComparedSides, limit: int) -> Iterator[_DraftStep]:
    """Yield a step for each side, then one for the comparison, which needs both."""
    about = key_phrase(compared.about)
    for name in compared.names:
        title = f"{name}{_colon(question)}{compared.about}" if compared.about else name
        yield _make_step(title, f"{name} {about}".strip(), name)
    if limit > 2:
        both = " ".join(compared.names)
        yield _make_step(question, f"{both} {about}".strip(), description=question, needs=(1, 2))


def _listed(question: str, listed: list[str], limit: int) -> Iterator[_DraftStep]:
    """Yield steps for what a question lists, several things in one step if there are many."""
    size = -(-len(listed) // min(limit, len(listed)))
    chinese = detect_language(question) == "zh"
    head = re.split("[，。；：]", question)[0] if chinese else question.split(listed[0])[0]
    whole = key_phrase(head, 5)
    name, joint = (whole.replace(" ", ""), "、") if chinese else (whole, ", ")
    for at in range(0, len(listed), size):
        named = listed[at : at + size]
        yield _make_step(
            f"{name}{_colon(question)}{joint.join(named)}", f"{whole} {' '.join(named)}"
        )


def _aspects(
    question: str, pages: Sequence[SourcePassage], most: int, known: Sequence[str]
) -> Iterator[_DraftStep]:
    """Yield a step for each other thing the best sources are about, if the question is open.

    What is known already from earlier questions is left out.
    """
    if is_simple_question(question) or most < 1:
        return
    about = extract_topic(question)
    sources = {page.title: [one for one in pages if one.title == page.title] for page in pages}
    worth = {
        title: best_source_coverage(about, question, found)
        for title, found in sources.items()
        if title
    }
    best = max(worth.values(), default=0.0)
    whole = key_phrase(question, 4)
    seen = {term for text in (question, *known) for term in key_terms(text)}
    good = [title for title in worth if worth[title] > ASPECT_COVERAGE * best]
    for title in sorted(good, key=lambda one: -worth[one]):
        new = set(key_terms(title)) - seen
        if most and new and detect_language(title) == detect_language(question):
            seen |= new
            most -= 1
            yield _make_step(f"{title}{_colon(question)}{whole}", f"{title} {whole}")


def _earlier(one: dict[str, Any], plan: Mapping[str, Any]) -> _DraftStep:
    """Return a step of an earlier plan, its needs as numbers."""
    ids = [other.get("id") for other in plan.get("steps", [])]
    needs = [ids.index(need) + 1 for need in one.get("needs", []) if need in ids]
    title, description = str(one.get("title", "")), str(one.get("description", ""))
    queries = [str(text) for text in one.get("queries", [])] or [key_phrase(title)]
    return _make_step(title, *queries, description=description, needs=needs)
