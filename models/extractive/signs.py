"""What speaks for the first quotes of a finding being the answer, and against it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple, TypeVar

from models.extractive.asking import bare
from models.extractive.blocks import Page, Quote
from models.extractive.candidates import document, place
from models.extractive.disqualifying import CONDITION, DENIES, disqualified
from models.extractive.exact import exact
from models.extractive.kinds import asks_kind, asks_meaning, asks_where, has_kind, holds
from models.extractive.manual import begins, explains, purpose
from models.extractive.meaning import Thing, defines, thing
from models.extractive.terms import gives_default
from models.extractive.topic import Topic, key_phrase, key_terms, named, names, topic
from models.extractive.wording import among, forms, has, told
from retrieval.regex import regex
from retrieval.text import language, sentences
from retrieval.words import words

_Term = TypeVar("_Term")

OPENING = 8
"""The subject of a sentence is among so many words at its beginning."""

MANY = 99
"""No question has so many words."""

OPENED = 0.5
"""What a title is worth that does not say the name with which a full quote opens."""

LONG = 300
"""A quote of so many characters counts as long."""

COMMON_TERMS = 12
"""The logarithm of this many terms counts as 1."""

APART = 0.95
"""A Chinese phrase of which more is nowhere to be found is missing."""

DEFINED = 0.5
"""Where it is asked what a thing is, quotes that say so less well (`meaning.py`) are no answer."""

_ORDINAL = regex(r"第[一二三四五六七八九十百\d]+|\d+")
_OF = regex(
    r" (?:of|for|to) |['’]s |的| (?:for|by|with|in|like|to|from|known|called|made)$"
    r"| (?!un)\w{2,}(?<!b)(?<!spe)(?<!fe)ed(?: \w+)?$",
    re.IGNORECASE,
)
_WITHIN = regex(r"^(\W*what(?: is| are|'s) (?!the )[^?]*?) in [\w\s-]+(?=\W*$)", re.IGNORECASE)
"""A thing, and in what: "a checkpoint in write-ahead logging"."""

_DOES_OF = regex(
    r"^(\W*what do(?:es)? [^?]+?) (?:of|in|for) [^?]+ (do|mean)(?=\W*$)", re.IGNORECASE
)
"""What a part of something does or means, such as an option of a command."""
_BACK = regex(
    r"^\W*(?:it|its|they|their|this|these|those|that|such|he|she|his|her)\b|^[他她它这這那该該此其]",
    re.IGNORECASE,
)
_CLASS = regex(r"^\W*(?:(?:in|on|at|by|to|from|for|of) )?(?:which|what) ([\w-]+)", re.IGNORECASE)
"""What names the kind of thing that is asked for."""
_ENDS = regex(r"(?<!\W)(?>\W*?(?<!\.\.)[.!?。！？])\W*$")
"""What ends like a sentence, and not with dots or a colon."""
_BEFORE = regex(r"(?:^|\n|[.!?:]\W*\s)[^\w\n]*$")
"""What stands before a whole sentence."""


class Signs(NamedTuple):
    """What speaks for quotes being the answer, and against it, each in 0..1."""

    near: float
    """The share of the question's terms in the first quote, its title and the sentences around."""
    told: float
    """The share of the terms that are no names in the quotes themselves."""
    ahead: float
    """How much more of the terms the first quote has than the best quote of another source."""
    subject: float
    """Whether a name of the question, or else one of its terms, stands in the title of the page.

    It is half as good if the first quote opens with it and lacks no telling word.
    """
    terms: float
    """How many terms the question has, as a logarithm: to cover many by chance is rare."""
    defined: float
    """How well the quotes say what something is, if that is asked."""
    undefined: float
    """Whether it is asked what something is, and the quotes do not say so."""
    typed: float
    """Whether the kind of thing asked for stands near what is said of it."""
    untyped: float
    """Whether a kind of thing is asked for that is nowhere in the first quote, or far off."""
    lost: float
    """What the telling word weighs that is nowhere in the first quote and what stands above it."""
    unnamed: float
    """The share of the names that do not stand there whole, or only in a longer name."""
    opens: float
    """Whether the first quote begins with a name of the question, or else with one of its terms."""
    unclassed: float
    """Whether the first quote lacks what the thing asked for is called, as in "which club"."""
    elsewhere: float
    """The share of the names that only the longer title of the page has."""
    denied: float
    """Whether the first quote denies something, and the question does not."""
    limited: float
    """Whether the first quote begins with a condition or a concession."""
    hanging: float
    """Whether the first quote begins with what stands for something before it."""
    long: float
    """How long the first quote is: much of a question stands in it by chance."""
    broken: float
    """Whether the first quote is no whole sentence."""
    together: float
    """The share of the neighbours in the question that are neighbours in or above the quote."""
    disqualified: float
    """Whether something is not there without which no quote is an answer: in English its form."""


_COVERED = {"near": 1.0, "told": 1.0, "subject": 1.0, "opens": 1.0, "lost": 0.0, "unnamed": 0.0}
"""The signs of what the entry of a manual says of the very thing that is asked for."""


def signs(question: str, pages: Sequence[Page], quotes: Sequence[Quote], lead: int) -> Signs:
    """Return what speaks for the first `lead` of some quotes being the answer."""
    about, first = topic(question), quotes[0]
    whole, text = place(first, pages)
    title = document(whole)
    said = told(question, "\n".join(one.text for one in quotes[:lead]))
    head = words(f"{title}\n{first.under}")
    near = {*head, *told(question, first.text), *words(_beside(first.text, text))}
    asked, explained = _defined(question), _explained(question, first, title, text)
    others = (_share(about.terms, words(one.text)) for one in quotes if one.source != first.source)
    ahead = _share(about.terms, [*words(first.text), *head]) - max(others, default=0.0)
    meant = max(defines(asked, one.text, title) for one in quotes[:lead]) if asked else None
    defined = 1.0 if explained else meant
    held, shown = _held(question, about, first.text), f"{title}\n{first.under}\n{first.text}"
    lost, opens = _lost(question, about, shown), _subject(question, _opening(first.text))
    seen = Signs(
        near=_share(about.terms, [one for one in about.terms if among(one, near)]),
        told=_told_of(question, about, said),
        ahead=max(ahead, 0.0),
        subject=max(_subject(question, title), 0.0 if lost else OPENED * opens),
        terms=min(1.0, math.log(max(len(about.terms), 1)) / math.log(COMMON_TERMS)),
        defined=defined or 0.0,
        undefined=0.0 if defined is None else 1.0 - defined,
        typed=float(held is True),
        untyped=float(held is False),
        lost=lost,
        unnamed=_unnamed(question, shown),
        opens=opens,
        unclassed=_unclassed(question, first.text),
        elsewhere=_elsewhere(question, title, first.text),
        **_worded(question, first, text),
        together=_together(about, f"{title}\n{first.under} {first.text}"),
        disqualified=float(
            (defined is not None and defined < DEFINED)
            or (held is False and _without_kind(question, quotes[:lead]))
            or not _near_names(question, near)
            or _unfit(question, pages, quotes, lead, lost)
        ),
    )
    told_of_term = explained or gives_default(question, first, pages)
    return seen._replace(**_COVERED) if told_of_term else seen


def _unfit(
    question: str, pages: Sequence[Page], quotes: Sequence[Quote], lead: int, lost: float
) -> bool:
    """Tell whether quotes are of a sort that never answers, or lack the form of an answer."""
    if disqualified(question, quotes[:lead]):
        return True
    return lost > APART if language(question) == "zh" else exact(question, pages, quotes) is None


def _worded(question: str, first: Quote, text: str) -> dict[str, float]:
    """Return the signs that lie in how a quote is worded, by their names."""
    quote, before = first.text, text.partition(first.text)[0]
    whole = _ENDS.search(quote) and (
        not quote[0].islower() or first.under or _BEFORE.search(before)
    )
    return {
        "denied": float(bool(DENIES.search(quote)) and not DENIES.search(question)),
        "limited": float(bool(CONDITION.search(quote))),
        "hanging": float(bool(_BACK.search(quote)) and not first.under),
        "long": min(1.0, len(quote) / LONG),
        "broken": float(not whole),
    }


def _explained(question: str, quote: Quote, title: str, text: str) -> bool:
    """Tell whether a quote is the first of the entry of a manual that is asked for."""
    return explains(quote.under, purpose(question), title) and begins(quote.under, quote.text, text)


def _together(about: Topic, shown: str) -> float:
    """Return the share of the neighbours in a question that stand together in a text, too."""
    said = words(shown)
    near = {*pairwise(said), *zip(said, said[2:], strict=False)}
    return _share(about.pairs, near)


def _beside(quote: str, text: str) -> str:
    """Return the sentence before a quote and the one after it."""
    before, _, after = text.partition(quote)
    beside = [*list(sentences(before))[-1:], *list(sentences(after))[:1]]
    return "\n".join(one.text for one in beside)


def _share(weights: Mapping[_Term, float], found: Iterable[_Term]) -> float:
    there, whole = set(found), sum(weights.values())
    return sum(part for term, part in weights.items() if term in there) / whole if whole else 1.0


def _told_of(question: str, about: Topic, said: Sequence[str]) -> float:
    known = named(question)
    rest = {term: part for term, part in about.terms.items() if term not in known}
    return _share(rest, [term for term in rest if among(term, said)])


def _defined(question: str) -> Thing | None:
    """Return what a question wants to be told the meaning of, or who somebody is.

    What it asks of something, such as its capital or its author, is no meaning.
    """
    line = _DOES_OF.sub(r"\1 \2", question.split("\n")[0])
    asked = thing(_WITHIN.sub(r"\1", line))
    if not asked or _OF.search(asked.spelt):
        return None
    return asked if asks_meaning(question) or set(words(asked.spelt)) <= named(question) else None


def _near_names(question: str, near: Collection[str]) -> bool:
    """Tell whether every word of a name is near; a Chinese pair may lie across two words."""
    return language(question) == "zh" or has(named(question) & set(key_terms(question)), near)


def _elsewhere(question: str, title: str, quote: str) -> float:
    """Return the share of the names that a quote lacks, and a title has beside other words."""
    spelt = names(question)
    if not spelt or set(words(title)) <= set(words(question)):
        return 0.0
    return sum(not _stands(name, quote) for name in spelt) / len(spelt)


def _held(question: str, about: Topic, quote: str) -> bool | None:
    """Tell whether a quote has the kind of thing asked for, near what is said of it, if any is."""
    if not asks_kind(question) or _defined(question):
        return None
    beside = [term for term in about.terms if term not in named(question)]
    return holds(question, quote, [form for term in beside for form in forms(term)])


def _without_kind(question: str, lead: Sequence[Quote]) -> bool:
    """Tell whether no quote has the kind of thing asked for; a place must also stand near."""
    return asks_where(question) or not any(has_kind(question, one.text) for one in lead)


def _lost(question: str, about: Topic, shown: str) -> float:
    """Return the weight of the most telling word that is nowhere in a text.

    What names the kind of thing asked for need not be there: "in which city".
    """
    if language(question) == "zh":
        if any(not re.search(rf"(?<!\d){number}", shown) for number in _ORDINAL.findall(question)):
            return 1.0
        parts = [part for part in key_phrase(question, MANY).split() if len(part) > 1]
        return max((_apart(part, shown) for part in parts), default=0.0)
    found, known = told(question, shown), named(question)
    apart = known.union(_called(question))
    weights = (
        part for term, part in about.terms.items() if term not in apart and not among(term, found)
    )
    return min(1.0, max(weights, default=0.0))


def _opening(quote: str) -> str:
    return " ".join(quote.split()[:OPENING])


def _called(question: str) -> list[str]:
    """Return the words by which a question calls what it asks for: "which club"."""
    return words("".join(_CLASS.findall(bare(question))[:1]))


def _unclassed(question: str, quote: str) -> float:
    called, said = _called(question), words(quote)
    return float(
        bool(called) and not asks_kind(question) and not any(among(one, said) for one in called)
    )


def _apart(part: str, shown: str) -> float:
    """Return how much of a phrase is left beside its longest piece that a text has."""
    found = SequenceMatcher(None, part, shown, autojunk=False).find_longest_match()
    return 1.0 - found.size / len(part)


def _unnamed(question: str, shown: str) -> float:
    spelt = names(question)
    return sum(not _stands(name, shown) for name in spelt) / len(spelt) if spelt else 0.0


def _stands(name: str, text: str) -> bool:
    """Tell whether a text has a name: whole, and one of several words in no longer name."""
    spelt = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", name)))
    longer = r"(?! [A-Z][a-z])" if " " in name else r"(?:e?s)?"
    return bool(re.search(rf"(?<![^\W_])(?i:{spelt}){longer}(?![^\W_])", text))


def _subject(question: str, text: str) -> float:
    """Tell whether a title or the opening of a quote has a name of the question whole.

    Of a question without names it is any of its terms.
    """
    spelt = names(question)
    if spelt:
        return float(any(_stands(name, text) for name in spelt))
    return float(not topic(question).terms.keys().isdisjoint(words(text)))
