"""Write findings and reports that consist of quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape
from typing import NamedTuple

from models.extractive.blocks import Page, Prompt, Quote
from models.extractive.candidates import document
from models.extractive.choice import Section, answer, backing, new
from models.extractive.confidence import answered, missing
from models.extractive.questions import is_part
from models.extractive.ranking import answerable, best
from models.extractive.theses import opposed
from models.extractive.titles import framed, titled
from models.extractive.topic import key_terms, topic

NOTHING = {"en": "No passage answers this.", "zh": "没有段落能回答这个问题。"}
NO_EVIDENCE = {
    "en": "No evidence was found for this question.",
    "zh": "没有找到能回答这个问题的证据。",
}
_SAYS = {"en": "The sources put it this way:", "zh": "资料是这样说的："}
_RELATED = {
    "en": "These passages are related, but it is not certain that they answer the question:",
    "zh": "以下内容与问题有关，但不能确定是否回答了问题：",
}
_AGAINST = {"en": "Set side by side, the documents say:", "zh": "各份资料的说法并列如下："}
_NAMED = {"en": "*{title}*:", "zh": "《{title}》："}
_EVIDENCE = {"en": "Evidence", "zh": "依据"}
_COMMA = {"en": ", ", "zh": "、"}
_SPACE = {"en": " ", "zh": ""}


class Written(NamedTuple):
    """What was written, and how far it is an answer."""

    text: str
    unsure: str | None = None
    """The words of the question that it lacks, where it is not certain that it answers."""


def finding(prompt: Prompt) -> Written:
    """Return the sentences of the pages that answer the step, each a quote on its own line.

    Where documents disagree, each has its quotes under its title.
    """
    wanted = [text for text in prompt.step or () if key_terms(text)] or [prompt.question]
    if not any(answerable(text, prompt.pages) for text in wanted):
        return Written(NOTHING[prompt.language])
    lacking = prompt.feedback.replace("：", ":").partition(":")[2]
    around = [] if is_part(wanted[0], prompt.question) else [prompt.question]
    about = topic(*filter(str.strip, [lacking, *dict.fromkeys([*wanted, *around])]))
    asked = "\n".join(dict.fromkeys([wanted[0], *around]))
    chosen = best(about, asked, prompt.pages)
    titles = _titles(prompt) if opposed(wanted[0]) else {}
    if not chosen:
        return Written(NOTHING[prompt.language])
    unsure = None if _several(titles, chosen) else _unsure(wanted[-1], prompt, chosen)
    return Written(_bullets(chosen, titles), unsure)


def report(prompt: Prompt) -> Written:
    """Return a report: what was worked out first, then what is quoted for the rest."""
    worked_out = [page for page in prompt.pages if page.computed]
    rest = tuple(page for page in prompt.pages if not page.computed)
    if not worked_out:
        return _quoted(prompt)
    if not (rest or prompt.findings):
        return Written(_stated(worked_out))
    written = _quoted(prompt._replace(pages=rest))
    return Written(f"{_stated(worked_out)}\n\n{written.text}", written.unsure)


def _quoted(prompt: Prompt) -> Written:
    """Return the answer in quotes first, then the other quotes step by step."""
    sections = [(found.title, found.quotes) for found in prompt.findings if found.quotes]
    sure = [(one.title, one.quotes) for one in prompt.findings if one.quotes and one.status == "ok"]
    pages = _of_pages(prompt)
    sections += pages
    if not sections:
        return Written(NO_EVIDENCE[prompt.language])
    titles = _titles(prompt) if opposed(prompt.question) else {}
    set_out = _several(titles, [one for _, quotes in sections for one in quotes])
    unsure = None if sure or set_out else _lacking(prompt, pages, sections)
    shown = answer(prompt.question, sure or sections, titles)
    blocks = [_opening(prompt, shown, titles, _SAYS if unsure is None else _RELATED)]
    evidence: dict[str, list[Quote]] = {}
    for title, quotes in sections:
        left = new(quotes if titles else backing(title, prompt.question, quotes), shown)
        left = _first_of_each(left) if prompt.concise else left
        shown += left
        same = titled(title) == titled(prompt.question)
        heading = _EVIDENCE[prompt.language] if same else framed(title, prompt.language)
        evidence.setdefault(heading, []).extend(left)
    blocks += [f"## {name}\n\n{_bullets(some, titles)}" for name, some in evidence.items() if some]
    return Written("\n\n".join(blocks), unsure)


def _lacking(prompt: Prompt, pages: Sequence[Section], sections: Sequence[Section]) -> str | None:
    """Return what the quotes lack that a report begins with, where none is a sure answer."""
    if pages:
        return _unsure(prompt.question, prompt, pages[0][1])
    return _spelt(prompt, answer(prompt.question, sections, {}))


def _unsure(question: str, prompt: Prompt, quotes: list[Quote]) -> str | None:
    """Return what the first quotes lack of a question, or `None` if they answer it."""
    lead = answer(question, [(question, quotes)], {})
    ranked = [*lead, *(one for one in quotes if one not in lead)]
    sure = answered(question, prompt.pages, ranked, len(lead))
    return None if sure else _spelt(prompt, lead, question)


def _spelt(prompt: Prompt, lead: Sequence[Quote], question: str = "") -> str:
    return _COMMA[prompt.language].join(missing(question or prompt.question, lead))


def _stated(pages: Iterable[Page]) -> str:
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


def _first_of_each(quotes: Iterable[Quote]) -> list[Quote]:
    """Return the first quote of each source: as much as somebody wants who likes it short."""
    first: dict[str, Quote] = {}
    for quote in quotes:
        first.setdefault(quote.source, quote)
    return list(first.values())


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


def _several(titles: Mapping[str, str], quotes: Iterable[Quote]) -> bool:
    """Tell whether quotes of several documents are set side by side."""
    return len({titles[one.source] for one in quotes if one.source in titles}) > 1


def _opening(
    prompt: Prompt, answer: Sequence[Quote], titles: Mapping[str, str], says: Mapping[str, str]
) -> str:
    space = _SPACE[prompt.language]
    if not titles or len({titles.get(quote.source) for quote in answer}) < 2:
        first = f"{says[prompt.language]}{space}{' '.join(map(_marked, answer))}"
        items = "\n".join(f"- {line}" for quote in answer for line in _item_lines(quote))
        return f"{first}\n\n{items}" if items else first
    named = _NAMED[prompt.language]
    said = [f"{named.format(title=titles[one.source])}{space}{_marked(one)}" for one in answer]
    return f"{_AGAINST[prompt.language]}{space}{' '.join(said)}"


def _bullets(quotes: Iterable[Quote], titles: Mapping[str, str]) -> str:
    """Return quotes as a list, or as one list for each document if titles are given."""
    groups: dict[str, list[str]] = {}
    for quote in quotes:
        below = "".join(f"\n  - {line}" for line in _item_lines(quote))
        groups.setdefault(titles.get(quote.source, ""), []).append(f"- {_marked(quote)}{below}")
    if len(groups) < 2:
        return "\n".join(line for lines in groups.values() for line in lines)
    listed = {title: "\n".join(lines) for title, lines in groups.items()}
    return "\n\n".join(f"### {name}\n\n{text}" if name else text for name, text in listed.items())


def _item_lines(quote: Quote) -> list[str]:
    """Return the items of the list that a quote announces, each marked as a quote."""
    return [_marked(Quote(quote.source, item)) for item in quote.items]


def _marked(quote: Quote) -> str:
    """Return a marked quote, escaped only where it would be read as something else."""
    text = quote.text
    misread = unescape(text) != text or "<" in text
    under = f"*{quote.under}*: " if quote.under else ""
    return f'{under}<q s="{quote.source}">{escape(text, quote=False) if misread else text}</q>'
