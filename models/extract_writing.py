"""Write findings and reports that consist of quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape, unescape

from models.blocks import Prompt, Quote
from models.extract_kinds import answers
from models.extract_ranking import KIND, answerable, best
from models.extract_topic import Topic, key_terms, share, topic
from retrieval.words import words

NOTHING = {"en": "No passage answers this.", "zh": "没有段落能回答这个问题。"}
NO_EVIDENCE = {
    "en": "No evidence was found for this question.",
    "zh": "没有找到能回答这个问题的证据。",
}
_SAYS = {"en": "The sources put it this way:", "zh": "资料是这样说的："}
_EVIDENCE = {"en": "Evidence", "zh": "依据"}

IN_ANSWER = 2
"""How many quotes the opening paragraph has at most."""

EARLY = 0.3
"""What it is worth to stand first in a finding; later quotes get a half, a third, …"""


def finding(prompt: Prompt) -> str:
    """Return the sentences of the pages that answer the step, each a quote on its own line."""
    wanted = [text for text in prompt.step or () if key_terms(text)] or [prompt.question]
    if not any(answerable(text, prompt.pages) for text in wanted):
        return NOTHING[prompt.language]
    missing = prompt.feedback.replace("：", ":").partition(":")[2]
    about = topic(*filter(str.strip, [missing, *dict.fromkeys([*wanted, prompt.question])]))
    chosen = best(about, f"{wanted[0]} {prompt.question}", prompt.pages)
    return _bullets(chosen) or NOTHING[prompt.language]


def report(prompt: Prompt) -> str:
    """Return a report: the answer in quotes first, then the other quotes step by step."""
    sections = [(found.title, found.quotes) for found in prompt.findings if found.quotes]
    sections += _of_pages(prompt)
    if not sections:
        return NO_EVIDENCE[prompt.language]
    answer = _answer(prompt.question, [quotes for _, quotes in sections])
    space = "" if prompt.language == "zh" else " "
    blocks = [f"{_SAYS[prompt.language]}{space}{' '.join(map(_marked, answer))}"]
    shown = set(answer)
    for title, quotes in sections:
        left = [quote for quote in dict.fromkeys(quotes) if quote not in shown]
        shown.update(left)
        blocks += [f"## {title}\n\n{_bullets(left)}"] if left else []
    return "\n\n".join(blocks)


def _of_pages(prompt: Prompt) -> list[tuple[str, list[Quote]]]:
    """Return what the pages themselves say about the question, under one heading."""
    if not answerable(prompt.question, prompt.pages):
        return []
    chosen = best(topic(prompt.question), prompt.question, prompt.pages)
    return [(_EVIDENCE[prompt.language], chosen)] if chosen else []


def _answer(question: str, findings: Sequence[Sequence[Quote]]) -> list[Quote]:
    """Return the quotes that answer the whole question best, no two of one step if it has more."""
    about = topic(question)
    scored = [
        (_fit(about, question, quote) + EARLY / (at + 1), -step, quote)
        for step, quotes in enumerate(findings)
        for at, quote in enumerate(quotes)
    ]
    ranked = sorted(scored, reverse=True)
    first = ranked[0]
    others = [one for one in ranked if one[1] != first[1] and one[2] != first[2]] or ranked[1:]
    good = [one for one in others if one[0] > first[0] / 2]
    return [one[2] for one in [first, *good][:IN_ANSWER]]


def _fit(about: Topic, question: str, quote: Quote) -> float:
    return share(about, words(quote.text)) + KIND * answers(question, quote.text)


def _bullets(quotes: Iterable[Quote]) -> str:
    return "\n".join(f"- {_marked(quote)}" for quote in quotes)


def _marked(quote: Quote) -> str:
    """Return a marked quote, escaped only where it would be read as something else."""
    text = quote.text
    misread = unescape(text) != text or "<q" in text or "</q" in text
    return f'<q s="{quote.source}">{escape(text, quote=False) if misread else text}</q>'
