"""Write findings and reports that consist of quotes.

Those that answer the question first, then those that support the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape, unescape
from typing import NamedTuple

from models.extractive.answer_confidence import is_confident_answer, list_missing_words
from models.extractive.answer_ranking import select_quotes
from models.extractive.dimensions import word_dimension
from models.extractive.foreign_quotes import (
    ForeignQuotes,
    is_only_foreign,
    select_foreign_quotes,
    select_named_pages,
)
from models.extractive.prompt_parser import ParsedPrompt, SourceQuote
from models.extractive.sentence_scoring import ANSWER_TYPE_BONUS, asks_disagreement
from text.answerability import SourcePassage, document_title, is_answerable
from text.definitions import find_defined_term, score_definition
from text.question_parts import find_comparison, is_simple_question, is_subquestion
from text.question_types import asks_list, asks_why_too, gives_cause, score_answer_type
from text.script import detect_language
from text.summaries import localize_title, make_title
from text.topics import Topic, extract_topic, key_terms, topic_coverage
from text.words import search_words

IN_ANSWER = 2
"""How many quotes the opening paragraph has at most, if no documents are set side by side."""

EARLY = 0.3
"""What it is worth to stand first in a finding; later quotes get a half, a third, …"""

SECOND = 0.5
"""A second quote is in the answer if it is worth this part of the first."""

ALIKE = 0.75
"""A second quote is in the answer to a simple question if it is worth this part of the first."""

LISTED = 1.0
"""What a whole list is worth where one is asked for."""

WEAK = 0.5
"""A quote of a section is left out if it is worth less than this part of the best one."""

SAME = 0.8
"""A quote that shares so many of its words with another one (Jaccard) is not shown beside it."""

QuotedSection = tuple[str, list[SourceQuote]]
"""The title of a step and its quotes."""


def choose_answer_quotes(
    question: str, sections: Sequence[QuotedSection], titles: Mapping[str, str]
) -> list[SourceQuote]:
    """Return the quotes that answer a question.

    The first one of each document, if `titles` sets documents against each other; of each
    sub-question or side of a comparison; or else the best of all.
    """
    return (
        _first_of_documents(sections, titles)
        or _of_parts(question, sections)
        or _best(question, sections)
    )


def _choose_supporting_quotes(
    title: str, question: str, quotes: Sequence[SourceQuote]
) -> list[SourceQuote]:
    """Return the quotes of a section without those that are far below its best."""
    wanted = title if is_subquestion(title, question) else f"{title} {question}"
    about = extract_topic(wanted)
    worth = [_fit(about, wanted, quote) for quote in quotes]
    return [quote for quote, one in zip(quotes, worth, strict=True) if one >= WEAK * max(worth)]


def _drop_repeated_quotes(
    quotes: Iterable[SourceQuote], shown: Sequence[SourceQuote]
) -> list[SourceQuote]:
    """Return the quotes that say something no quote that is shown, or comes before, says."""
    left: list[SourceQuote] = []
    for quote in quotes:
        others = (part for other in [*shown, *left] for part in other.parts)
        if not any(_repeats(quote.text, other) for other in others):
            left.append(quote)
    return left


def _first_of_documents(
    sections: Sequence[QuotedSection], titles: Mapping[str, str]
) -> list[SourceQuote]:
    """Return the first quote of each document, if there are several."""
    quotes = (one for _, quotes in sections for one in quotes if one.source in titles)
    first = _first_of_each(quotes, lambda one: titles[one.source])
    return first if len(first) > 1 else []


def _of_parts(question: str, sections: Sequence[QuotedSection]) -> list[SourceQuote]:
    """Return the best quote of each sub-question, or of each side of a comparison."""
    compared = find_comparison(question)
    names = tuple(make_title(name) for name in compared.names) if compared else ()
    parts = [
        quotes
        for title, quotes in sections
        if (title.startswith(names) if names else is_subquestion(title, question))
    ]
    return list(dict.fromkeys(quotes[0] for quotes in parts)) if len(parts) > 1 else []


def _best(question: str, sections: Sequence[QuotedSection]) -> list[SourceQuote]:
    """Return the quotes that answer the whole question best, no two of one step if it has more.

    The quotes of a single step are in the order of their worth already.
    """
    about = extract_topic(question)
    scored = [
        (_fit(about, question, quote) + EARLY / (at + 1), -step, quote)
        for step, (_, quotes) in enumerate(sections)
        for at, quote in enumerate(quotes)
    ]
    ranked = sorted(scored, reverse=True) if len(sections) > 1 else scored
    first = ranked[0]
    if first[2].items and asks_list(question):
        return [first[2]]
    others = [one for one in ranked if one[1] != first[1]] or ranked[1:]
    others = [one for one in others if not _repeats(one[2].text, first[2].text)]
    least = ALIKE if len(sections) == 1 and is_simple_question(question) else SECOND
    good = [one for one in others if one[0] > least * first[0]]
    if asks_why_too(question):
        good = [one for one in ranked[1:] if gives_cause(one[2].text)] or good
    asked = find_defined_term(question)
    if asked and len(sections) == 1:
        good = [one for one in good if score_definition(asked, one[2].text, "") > SECOND]
    return [one[2] for one in [first, *good][:IN_ANSWER]]


def _repeats(one: str, other: str) -> bool:
    """Tell whether one text is a part of the other, or has almost the same words."""
    if one in other or other in one:
        return True
    here, there = set(search_words(one)), set(search_words(other))
    return len(here & there) >= SAME * len(here | there)


def _fit(about: Topic, question: str, quote: SourceQuote) -> float:
    fit = topic_coverage(about, search_words(quote.text))
    fit += ANSWER_TYPE_BONUS * score_answer_type(question, quote.text)
    return fit + LISTED if quote.items and asks_list(question) else fit


class WrittenAnswer(NamedTuple):
    """What was written, and how far it is an answer."""

    text: str
    unsure: str | None = None
    """The words of the question that it lacks, where it is not certain that it answers."""


def write_finding(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return the sentences of the pages that answer the step, each a quote on its own line.

    Where documents disagree, each has its quotes under its title.
    """
    asked_for = [text for text in prompt.step or () if key_terms(text)] or [prompt.question]
    wanted = [word_dimension(text, prompt.pages) for text in asked_for]
    prompt = prompt._replace(pages=tuple(select_named_pages(wanted[0], prompt.pages)))
    is_foreign = is_only_foreign(wanted[0], prompt.pages)
    if foreign := select_foreign_quotes(wanted[0], prompt.pages) if is_foreign else None:
        return _foreign_finding(foreign, prompt)
    if not any(is_answerable(text, prompt.pages) for text in wanted):
        return _foreign_finding(select_foreign_quotes(wanted[0], prompt.pages), prompt)
    lacking = prompt.feedback.replace("：", ":").partition(":")[2]
    around = [] if is_subquestion(wanted[0], prompt.question) else [prompt.question]
    about = extract_topic(*filter(str.strip, [lacking, *dict.fromkeys([*wanted, *around])]))
    asked = "\n".join(dict.fromkeys([wanted[0], *around]))
    chosen = select_quotes(about, asked, prompt.pages)
    titles = _titles(prompt) if asks_disagreement(wanted[0]) else {}
    if not chosen:
        return WrittenAnswer(prompt.words["nothing"])
    unsure = None if _several(titles, chosen) else _unsure(wanted[-1], prompt, chosen)
    return WrittenAnswer(_bullets(chosen, titles), unsure)


def _foreign_finding(found: ForeignQuotes | None, prompt: ParsedPrompt) -> WrittenAnswer:
    """Return sentences in the other language than the question, never as a sure answer."""
    if not found:
        return WrittenAnswer(prompt.words["nothing"])
    lacking = list_missing_words(found.question, found.quotes)
    return WrittenAnswer(_bullets(found.quotes, {}), prompt.words["comma"].join(lacking))


def write_report(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return a report: what was worked out first, then what is quoted for the rest."""
    worked_out = [page for page in prompt.pages if page.is_computed]
    rest = tuple(page for page in prompt.pages if not page.is_computed)
    if not worked_out:
        return _quoted(prompt)
    if not (rest or prompt.findings):
        return WrittenAnswer(_stated(worked_out))
    written = _quoted(prompt._replace(pages=rest))
    return WrittenAnswer(f"{_stated(worked_out)}\n\n{written.text}", written.unsure)


def _quoted(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return the answer in quotes first, then the other quotes step by step."""
    sections = [(found.title, found.quotes) for found in prompt.findings if found.quotes]
    sure = [(one.title, one.quotes) for one in prompt.findings if one.quotes and one.status == "ok"]
    pages = _of_pages(prompt)
    sections += pages
    if not sections:
        return WrittenAnswer(prompt.words["no_evidence"])
    titles = _titles(prompt) if asks_disagreement(prompt.question) else {}
    set_out = _several(titles, [one for _, quotes in sections for one in quotes])
    shown = choose_answer_quotes(prompt.question, sure or sections, titles)
    quoted = [*shown, *(one for _, quotes in sections for one in quotes)]
    unsure = None if sure or set_out else _lacking(prompt, pages, quoted)
    blocks = [_opening(prompt, shown, titles, "says" if unsure is None else "related")]
    evidence: dict[str, list[SourceQuote]] = {}
    for title, quotes in sections:
        left = _drop_repeated_quotes(
            quotes if titles else _choose_supporting_quotes(title, prompt.question, quotes), shown
        )
        # One quote of each source is as much as somebody wants who likes it short.
        left = _first_of_each(left, lambda one: one.source) if prompt.concise else left
        shown += left
        same = make_title(title) == make_title(prompt.question)
        heading = prompt.words["evidence"] if same else localize_title(title, prompt.language)
        evidence.setdefault(heading, []).extend(left)
    blocks += [f"## {name}\n\n{_bullets(some, titles)}" for name, some in evidence.items() if some]
    return WrittenAnswer("\n\n".join(blocks), unsure)


def _lacking(
    prompt: ParsedPrompt, pages: Sequence[QuotedSection], quoted: Sequence[SourceQuote]
) -> str | None:
    """Return what all quotes of a report lack; `None` if the pages answer surely.

    Quotes in another language than the question have none of its words, whatever they say.
    """
    if pages and _unsure(prompt.question, prompt, pages[0][1]) is None:
        return None
    language = detect_language(prompt.question)
    readable = any(detect_language(one.text) == language for one in quoted)
    return _spelt(prompt, quoted) if readable else ""


def _unsure(question: str, prompt: ParsedPrompt, quotes: list[SourceQuote]) -> str | None:
    """Return what all quotes lack of a question, or `None` if the first ones answer it."""
    lead = choose_answer_quotes(question, [(question, quotes)], {})
    ranked = [*lead, *(one for one in quotes if one not in lead)]
    sure = is_confident_answer(question, prompt.pages, ranked, len(lead))
    return None if sure else _spelt(prompt, ranked, question)


def _spelt(prompt: ParsedPrompt, quotes: Sequence[SourceQuote], question: str = "") -> str:
    return prompt.words["comma"].join(list_missing_words(question or prompt.question, quotes))


def _stated(pages: Iterable[SourcePassage]) -> str:
    """Return the lines of pages that were worked out, each with its source; they are no quotes."""
    text, listed = "", False
    for page in pages:
        for line in filter(None, map(str.strip, page.text.splitlines())):
            between = "\n" if listed and line.startswith("- ") else "\n\n"
            listed = line.startswith("- ")
            text += f"{between if text else ''}{_cited(line, page.id)}"
    return text


def _cited(line: str, source: str) -> str:
    """Return a line with its source named before the mark that ends it."""
    said = line.rstrip(".。：:")
    return f"{said} [{source}]{line[len(said) :]}"


def _first_of_each(
    quotes: Iterable[SourceQuote], key: Callable[[SourceQuote], str]
) -> list[SourceQuote]:
    first: dict[str, SourceQuote] = {}
    for quote in quotes:
        first.setdefault(key(quote), quote)
    return list(first.values())


def _of_pages(prompt: ParsedPrompt) -> list[QuotedSection]:
    """Return what the pages themselves say about the question, under one heading."""
    pages = select_named_pages(prompt.question, prompt.pages)
    if is_answerable(prompt.question, pages) and not is_only_foreign(prompt.question, pages):
        chosen = select_quotes(extract_topic(prompt.question), prompt.question, pages)
    else:
        found = select_foreign_quotes(prompt.question, pages)
        chosen = found.quotes if found else []
    return [(prompt.words["evidence"], chosen)] if chosen else []


def _titles(prompt: ParsedPrompt) -> dict[str, str]:
    """Return the title of the document that each source is of, as far as the prompt says it."""
    shown = {
        page.id: re.sub(r"[*_`#<>\[\]]", "", document_title(page.title)) for page in prompt.pages
    }
    for found in prompt.findings:
        shown |= found.document_titles
    return {source: title for source, title in shown.items() if title.strip()}


def _several(titles: Mapping[str, str], quotes: Iterable[SourceQuote]) -> bool:
    """Tell whether quotes of several documents are set side by side."""
    return len({titles[one.source] for one in quotes if one.source in titles}) > 1


def _opening(
    prompt: ParsedPrompt,
    answer: Sequence[SourceQuote],
    titles: Mapping[str, str],
    says: str,
) -> str:
    space = prompt.words["space"]
    if not titles or len({titles.get(quote.source) for quote in answer}) < 2:
        first = f"{prompt.words[says]}{space}{' '.join(map(_marked, answer))}"
        items = "\n".join(f"- {line}" for quote in answer for line in _item_lines(quote))
        return f"{first}\n\n{items}" if items else first
    named = prompt.words["named"]
    said = [f"{named.format(title=titles[one.source])}{space}{_marked(one)}" for one in answer]
    return f"{prompt.words['against']}{space}{' '.join(said)}"


def _bullets(quotes: Iterable[SourceQuote], titles: Mapping[str, str]) -> str:
    """Return quotes as a list, or as one list for each document if titles are given."""
    groups: dict[str, list[str]] = {}
    for quote in quotes:
        below = "".join(f"\n  - {line}" for line in _item_lines(quote))
        groups.setdefault(titles.get(quote.source, ""), []).append(f"- {_marked(quote)}{below}")
    if len(groups) < 2:
        return "\n".join(line for lines in groups.values() for line in lines)
    listed = {title: "\n".join(lines) for title, lines in groups.items()}
    return "\n\n".join(f"### {name}\n\n{text}" if name else text for name, text in listed.items())


def _item_lines(quote: SourceQuote) -> list[str]:
    """Return the items of the list that a quote announces, each marked as a quote."""
    return [_marked(SourceQuote(quote.source, item)) for item in quote.items]


def _marked(quote: SourceQuote) -> str:
    """Return a marked quote, escaped only where it would be read as something else."""
    text = quote.text
    misread = unescape(text) != text or "<" in text
    under = f"*{quote.section}*: " if quote.section else ""
    return f'{under}<q s="{quote.source}">{escape(text, quote=False) if misread else text}</q>'
