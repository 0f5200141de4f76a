"""Tell whose an entry or a sentence of a manual is: of which command, file or setting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.extractive.asking import bare
from models.extractive.blocks import Page, Quote
from models.extractive.candidates import document
from models.extractive.manual import KIND, entries
from models.extractive.wording import has
from retrieval.regex import regex
from retrieval.words import QUESTION_WORDS, STOPWORDS, words

_DASH = regex(r" [-–—‐] ")
"""What parts the names of a manual page from what it is for."""
_ENDING = regex(r"(?:[._-](?:conf|config|cfg|ini|rc|d)|\(\d\w*\))$")
"""What the name of a file has behind the name of its program."""
_TOKEN = regex(r"[\w][\w.+:-]*[\w+]|\w")
_VALUE = regex(r"[\s=\[<(|:]")
_LIGHT = STOPWORDS | QUESTION_WORDS
_ONE_WORD = regex(r"--?[A-Za-z][a-z]*|[A-Z]?[a-z]+")
_LINKS = regex(r"(?:^|(?<= ))(?:of|in|for|by|with|from|on) +(?=\S)", re.IGNORECASE)
_WHOSE = regex(r"\b(?:of|in|for) (?:(?:an?|the) )?(?P<whose>[\w.+-]*\w)\W*$", re.IGNORECASE)
"""What a question ends with, if it is one word: the owner of what is asked for."""
BEGINS = 40
"""Two passages that give an entry share so many characters at its beginning."""


def owners(title: str) -> frozenset[str]:
    """Return the names of what a page is about, in lower case.

    They stand before the dash in the title of a manual page; a file is also named like its program.
    """
    head = _DASH.split(document(title), maxsplit=1)
    found = head[0].split(",") if len(head) > 1 else _TOKEN.findall(head[0])
    names = {one.strip().lower() for one in found}
    return frozenset(names | {_ENDING.sub("", one) for one in names})


def is_manual(title: str) -> bool:
    """Tell whether the title of a page is that of a manual: its names, and what it is for."""
    return bool(_DASH.search(document(title)))


def about(question: str, title: str) -> set[str]:
    """Return the words that the title of a page says for a question.

    They are the names of what it is about, with what it is for where the question has such a name,
    and else only what is spelt there with a capital letter.
    """
    if _named(question) & owners(title) or not is_manual(title):
        return {*words(document(title)), *words(" ".join(owners(title)))}
    told = {one for one in _TOKEN.findall(title) if not one.islower()}
    return set(words(" ".join(one for one in _TOKEN.findall(question) if one in told)))


def foreign(question: str, quote: Quote, title: str, pages: Sequence[Page]) -> bool:
    """Tell whether a question names one manual and a quote is from another.

    A manual is named if a page of it is shown. A sentence that has its name is of it, too, and in
    an entry one that begins with it.
    """
    asked = _named(question)
    known = {one for page in pages if is_manual(page.title) for one in owners(page.title)}
    mine = owners(title) | set(_TOKEN.findall(_section(title).lower()))
    told = quote.text.lower().split()[: 2 if quote.under else None]
    return bool(asked & known) and not asked & known & {*mine, *_TOKEN.findall(" ".join(told))}


def owned(others: Sequence[str], title: str) -> bool:
    """Tell whether all that is named beside a term is what the page with its entry is about.

    It stands in its title, and one of it is its name, a name with a capital letter in what it is
    for, or the heading of the section.
    """
    mine = owners(title) | set(_TOKEN.findall(_section(title).lower()))
    told = set(_TOKEN.findall(title))
    names = [one for one in others if one.lower() in mine or (not one.islower() and one in told)]
    every = mine | {one.lower() for one in told}
    return not others or (bool(names) and all(one.lower() in every for one in others))


def belongs(question: str, quote: Quote, title: str) -> bool:
    """Tell whether a quote or the name of its page has what a question ends with: "… of screen"."""
    found = _WHOSE.search(bare(question.split("\n")[0]))
    if not found:
        return True
    name, said = found["whose"].lower(), f"{quote.under} {quote.text}"
    spelt = _TOKEN.findall(f"{said} {_section(title)}".lower())
    mine = [*words(said), *words(" ".join(owners(title)))]
    return name in {*spelt, *owners(title)} or owned([found["whose"]], title) or _in(name, mine)


def single(head: str, title: str, pages: Sequence[Page], *, named: bool) -> bool:
    """Tell whether all entries of a term say the same: in the manual that is named, or anywhere.

    A term of one plain word ("-k", "--debug", "Port", "regex") is in many manuals: without the
    name of its own it is single only where all pages are of one manual.
    """
    if not named and _ONE_WORD.fullmatch(head) and len({owners(one.title) for one in pages}) > 1:
        return False
    of = owners(title)
    shown = [page for page in pages if not named or owners(page.title) & of]
    told = {" ".join(said.split())[:BEGINS] for page in shown for said in _said(head, page.text)}
    return len(told) <= 1


def heads(term: str) -> list[str]:
    """Return the names that a term begins with: "-k" and "--keep" of "-k, --keep FILE"."""
    return [_VALUE.split(one.strip(), maxsplit=1)[0] for one in term.split(",")]


def beside(asked: str, head: str) -> list[str]:
    """Return what is named beside a term: the program in "-k option of screen"."""
    rest = re.sub(rf"(?<![\w-]){re.escape(head)}(?![\w-])", " ", asked, flags=re.IGNORECASE)
    return _TOKEN.findall(KIND.sub(" ", _LINKS.sub(" ", rest)))


def _named(question: str) -> set[str]:
    """Return what a question may name; a word of grammar is a name only before "do" or last."""
    line = bare(question.split("\n")[0]).lower()
    told = {one for one in _TOKEN.findall(line) if one not in _LIGHT}
    return told | set(re.findall(r"\b(?:of|for|by|in|does) ([\w.+-]+?)(?=[?.\s]*$| do\b| -)", line))


def _in(name: str, said: Sequence[str]) -> bool:
    return bool(words(name)) and has(words(name), said)


def _section(title: str) -> str:
    return title.partition(" — ")[2]


def _said(head: str, text: str) -> Iterator[str]:
    for one in entries(text):
        if head in heads(one.term):
            yield text[one.text : one.end]
