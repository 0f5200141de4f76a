"""Write findings and reports that consist of quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape

from models.extractive.blocks import Prompt, Quote
from models.extractive.candidates import document
from models.extractive.kinds import answers, asks_why_too, gives_cause
from models.extractive.meaning import defines, thing
from models.extractive.questions import is_part, is_simple, sides
from models.extractive.ranking import answerable, best
from models.extractive.scores import KIND
from models.extractive.theses import opposed
from models.extractive.titles import framed, titled
from models.extractive.topic import Topic, key_terms, share, topic
from retrieval.words import words

NOTHING = {"en": "No passage answers this.", "zh": "没有段落能回答这个问题。"}
NO_EVIDENCE = {
    "en": "No evidence was found for this question.",
    "zh": "没有找到能回答这个问题的证据。",
}
_SAYS = {"en": "The sources put it this way:", "zh": "资料是这样说的："}
_AGAINST = {"en": "Set side by side, the documents say:", "zh": "各份资料的说法并列如下："}
_NAMED = {"en": "*{title}*:", "zh": "《{title}》："}
_EVIDENCE = {"en": "Evidence", "zh": "依据"}
_SPACE = {"en": " ", "zh": ""}

IN_ANSWER = 2
"""How many quotes the opening paragraph has at most, if no documents are set side by side."""

EARLY = 0.3
"""What it is worth to stand first in a finding; later quotes get a half, a third, …"""

SECOND = 0.5
"""A second quote is in the answer if it is worth this part of the first."""

ALIKE = 0.75
"""A second quote is in the answer to a simple question if it is worth this part of the first."""

WEAK = 0.4
"""A quote of a section is left out if it is worth less than this part of the best one."""

Section = tuple[str, list[Quote]]
"""The title of a step and its quotes."""


def finding(prompt: Prompt) -> str:
    """Return the sentences of the pages that answer the step, each a quote on its own line.

    Where documents disagree, each has its quotes under its title.
    """
    wanted = [text for text in prompt.step or () if key_terms(text)] or [prompt.question]
    if not any(answerable(text, prompt.pages) for text in wanted):
        return NOTHING[prompt.language]
    missing = prompt.feedback.replace("：", ":").partition(":")[2]
    around = [] if is_part(wanted[0], prompt.question) else [prompt.question]
    about = topic(*filter(str.strip, [missing, *dict.fromkeys([*wanted, *around])]))
    asked = "\n".join(dict.fromkeys([wanted[0], *around]))
    chosen = best(about, asked, prompt.pages)
    titles = _titles(prompt) if opposed(wanted[0]) else {}
    return _bullets(chosen, titles) or NOTHING[prompt.language]


def report(prompt: Prompt) -> str:
    """Return a report: the answer in quotes first, then the other quotes step by step."""
    sections = [(found.title, found.quotes) for found in prompt.findings if found.quotes]
    sections += _of_pages(prompt)
    if not sections:
        return NO_EVIDENCE[prompt.language]
    titles = _titles(prompt) if opposed(prompt.question) else {}
    answer = _each(sections, titles) or _of_parts(prompt.question, sections)
    answer = answer or _answer(prompt.question, sections)
    blocks, shown = [_opening(prompt, answer, titles)], set(answer)
    for title, quotes in sections:
        asked = title if is_part(title, prompt.question) else f"{title} {prompt.question}"
        strong = quotes if titles else _strong(asked, quotes)
        left = [quote for quote in dict.fromkeys(strong) if quote not in shown]
        shown.update(left)
        same = titled(title) == titled(prompt.question)
        heading = _EVIDENCE[prompt.language] if same else framed(title, prompt.language)
        blocks += [f"## {heading}\n\n{_bullets(left, titles)}"] if left else []
    return "\n\n".join(blocks)


def _of_pages(prompt: Prompt) -> list[Section]:
    """Return what the pages themselves say about the question, under one heading."""
    if not answerable(prompt.question, prompt.pages):
        return []
    chosen = best(topic(prompt.question), prompt.question, prompt.pages)
    return [(_EVIDENCE[prompt.language], chosen)] if chosen else []


def _titles(prompt: Prompt) -> dict[str, str]:
    """Return the title of the document that each source is of, as far as the prompt says it."""
    shown = {page.id: re.sub(r"[*_`#<>\[\]]", "", document(page.title)) for page in prompt.pages}
    for found in prompt.findings:
        shown |= found.documents
    return {source: title for source, title in shown.items() if title.strip()}


def _each(sections: Sequence[Section], titles: Mapping[str, str]) -> list[Quote]:
    """Return the first quote of each document, if there are several."""
    first: dict[str, Quote] = {}
    for _, quotes in sections:
        for quote in quotes:
            if quote.source in titles:
                first.setdefault(titles[quote.source], quote)
    return list(first.values()) if len(first) > 1 else []


def _opening(prompt: Prompt, answer: Sequence[Quote], titles: Mapping[str, str]) -> str:
    space = _SPACE[prompt.language]
    if not titles or len({titles.get(quote.source) for quote in answer}) < 2:
        return f"{_SAYS[prompt.language]}{space}{' '.join(map(_marked, answer))}"
    named = _NAMED[prompt.language]
    said = [f"{named.format(title=titles[one.source])}{space}{_marked(one)}" for one in answer]
    return f"{_AGAINST[prompt.language]}{space}{' '.join(said)}"


def _of_parts(question: str, sections: Sequence[Section]) -> list[Quote]:
    """Return the best quote of each sub-question, or of each side of a comparison."""
    compared = sides(question)
    names = tuple(titled(name) for name in compared.names) if compared else ()
    parts = [
        quotes
        for title, quotes in sections
        if (title.startswith(names) if names else is_part(title, question))
    ]
    return list(dict.fromkeys(quotes[0] for quotes in parts)) if len(parts) > 1 else []


def _answer(question: str, sections: Sequence[Section]) -> list[Quote]:
    """Return the quotes that answer the whole question best, no two of one step if it has more.

    The quotes of a single step are in the order of their worth already.
    """
    about = topic(question)
    scored = [
        (_fit(about, question, quote) + EARLY / (at + 1), -step, quote)
        for step, (_, quotes) in enumerate(sections)
        for at, quote in enumerate(quotes)
    ]
    ranked = sorted(scored, reverse=True) if len(sections) > 1 else scored
    first = ranked[0]
    others = [one for one in ranked if one[1] != first[1] and one[2] != first[2]] or ranked[1:]
    least = ALIKE if len(sections) == 1 and is_simple(question) else SECOND
    good = [one for one in others if one[0] > least * first[0]]
    if asks_why_too(question):
        good = [one for one in ranked[1:] if gives_cause(one[2].text)] or good
    asked = thing(question)
    if asked and len(sections) == 1:
        good = [one for one in good if defines(asked, one[2].text, "") > SECOND]
    return [one[2] for one in [first, *good][:IN_ANSWER]]


def _strong(wanted: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the quotes of a section without those that are far below its best."""
    about = topic(wanted)
    worth = [_fit(about, wanted, quote) for quote in quotes]
    return [quote for quote, one in zip(quotes, worth, strict=True) if one >= WEAK * max(worth)]


def _fit(about: Topic, question: str, quote: Quote) -> float:
    return share(about, words(quote.text)) + KIND * answers(question, quote.text)


def _bullets(quotes: Iterable[Quote], titles: Mapping[str, str]) -> str:
    """Return quotes as a list, or as one list for each document if titles are given."""
    groups: dict[str, list[str]] = {}
    for quote in quotes:
        groups.setdefault(titles.get(quote.source, ""), []).append(f"- {_marked(quote)}")
    if len(groups) < 2:
        return "\n".join(line for lines in groups.values() for line in lines)
    listed = {title: "\n".join(lines) for title, lines in groups.items()}
    return "\n\n".join(f"### {name}\n\n{text}" if name else text for name, text in listed.items())


def _marked(quote: Quote) -> str:
    """Return a marked quote, escaped only where it would be read as something else."""
    text = quote.text
    misread = unescape(text) != text or "<" in text
    under = f"*{quote.under}*: " if quote.under else ""
    return f'{under}<q s="{quote.source}">{escape(text, quote=False) if misread else text}</q>'
