"""Tell whether a quote has the very form of an answer to what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from models.extractive.asking import bare
from models.extractive.blocks import Page, Quote
from models.extractive.candidates import document, place
from models.extractive.counts import counted
from models.extractive.disqualifying import CONDITION
from models.extractive.kinds import asks_kind, asks_list, asks_meaning, asks_why, has_kind, holds
from models.extractive.manual import KIND, OPTION, begins, explains, purpose
from models.extractive.meaning import defines, thing
from models.extractive.topic import key_terms, named
from models.extractive.wording import among, forms, told
from retrieval.words import words

WHOLE = 1.0
"""What a sentence is worth (`meaning.py`) that begins with a thing and says what it is."""

SPREAD = 3
"""All that is asked stands among so many times as many words of a clause."""

LIKE = 0.8
"""The share of the words that two questions have in common, at least, to be the same."""

_DOES = re.compile(
    r"^\W*what (?:do(?:es)?|did|can|may|must) (?:an? |the )?(?P<subject>.+?) (?:be )?"
    r"(?P<verb>[a-z]+)(?: for)?\W*$",
    re.IGNORECASE,
)
_USED = re.compile(
    r"^\W*what (?:is|are|was|were) (?:an? |the )?(?P<subject>.+?) "
    r"(?P<verb>used|meant|good|there|designed|intended) for\W*$",
    re.IGNORECASE,
)
"""What asks what something does or may do, or is there for."""
_KIND = (
    r"(?: (?:command|option|function|statement|program|tool|package|builtin|module|method|clause"
    r"|parameter|setting|utility|pragma|file|variable|keyword|directive|key|flag|field))?"
)
_AFTER = r"[\"'”’`)]?(?:\(\d?\))?(?:\s*\([^)]*\)|, [^,.;]{1,60},)?\s+"
_VERB = (
    r"(?:(?:can|may|will) (?:be )?|(?:is|are|was|were) (?=\w+ed\b)|(?:used|designed) to |simply )*"
    r"(?P<said>[a-z-]+)\b"
)
_NO_DEED = re.compile(
    r"(?:is|are|was|were|has|have|had|does|do|needs?|requires?|supports?|must|should|consists?"
    r"|comes?|no|not|no-op|then|now|and|or|in|on|by|default|called|available|located|given|ignored"
    r"|enabled|disabled|set)$"
)
"""What says nothing of what something does."""
_ALERT = re.compile(r"\W*(?:warning|caution|important|attention|deprecated)\b", re.IGNORECASE)
"""What comes before what is said."""
_TOOL = re.compile(
    r"an?\b[^.,;]{1,80}? (?:that|to|for|which|used|provides|allows)\b", re.IGNORECASE
)
"""A thing by what it is there for: "a tool that …"."""
_BUT = re.compile(r"\([^)]*\bnot\b|\bno-op\b")
"""What takes back what a sentence says a thing does."""
_LINKS = frozenset({"a", "an", "the", "of", "in", "for", "by", "to", "with"})
_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_WHOSE = re.compile(
    r"\bdefaults?(?P<whose>(?: [\w-]+){0,8}?) (?:is|are|was|of (?=\W?\d))\b", re.IGNORECASE
)
"""What a default is said to be of."""
_VALUE = re.compile(r"[=\[<(|:].*?(?=,|$)")
"""What stands behind a term: "port: <number>"."""
_GIVEN = re.compile(
    rf"{_WHOSE.pattern}|\bdefaults? (?:to|= ?)|\bdefault(?: value)?: |\b(?:is|are) the default\b"
    r"|\bby default\b|[(,] ?default:? (?=\W?\d)|\(default:? [^)]+\)",
    re.IGNORECASE,
)
"""What gives a default, and does not only speak of one."""
_ITS = frozenset(words("value setting location behaviour for of the"))
_CLAUSE = re.compile(
    r"[;:]\s|\.\s+(?=[A-Z])"
    r"|,? \b(?:but|which|who|because|although|though|whereas|unless|so that|rather than"
    r"|instead of)\b"
)
"""What parts a sentence into what is said of one thing and of another."""
_HERE = re.compile(
    r"\b(?:in|for|with|on) (?:this|that|such|these|those) (?:case|configuration|example|mode|way)s?"
    r"\b|\bhere\b",
    re.IGNORECASE,
)
"""What makes a sentence one about a case that stands before it."""
_BACK = re.compile(
    r"^\W*(?:it|its|they|their|this|these|those|that|such|he|she|his|her|then|otherwise|also)\b",
    re.IGNORECASE,
)
_BY_DEFAULT = re.compile(r"^\W*by default,? ", re.IGNORECASE)
_BY_DEFAULT_TOO = re.compile(r"\bby default\b", re.IGNORECASE)
_PART_OF = re.compile(
    r"^\W*what (?:is|are|was|were) (?:the )?(?P<part>.+ of .+?)\W*$", re.IGNORECASE
)
_NOTE = re.compile(r"^[^:]{1,40}: (?!an?\b|the\b|any\b)", re.IGNORECASE)
"""What begins with a name and a colon, and is no definition."""
_DONE = re.compile(r"\b(?:is|are|was|were|be|been) .*?\b(?P<verb>[a-z]{2,}ed)\W*$")
"""A question for what is done to something."""
_NO_COUNT = re.compile(r"\bone\b|(?<=\w)\(\d\w?\)", re.IGNORECASE)
"""A number that counts nothing: "one", the section of a manual."""
_CALLED = re.compile(r"^\W*(?:(?:in|on|at|by|to|from|for|of|since) )?(?:which|what|how) ([\w-]+)")
"""The word for the kind of thing that is asked for."""
_ABOVE = re.compile(r"(?:^|[\n.!:])(?P<asked>[^\n.!:]*(?:\n[^\n.!:]+)?\?)[\s\"”*_]*(?:A[:.]\s*)?$")
"""A question right above a quote."""


def exact(question: str, pages: Sequence[Page], quotes: Sequence[Quote]) -> bool:
    """Tell whether the first quote says just what is asked, in the form in which it is said.

    It is the entry of what is asked for, a sentence that begins with it and says what it is or
    does, its default, what follows the same question, or one clause with all of the question.
    """
    line, first = bare(question.split("\n")[0]), quotes[0]
    title, text = place(first, pages)
    if explains(first.under, purpose(line), title):
        if not _of_term(purpose(line), first, title):
            return False
        if begins(first.under, first.text, text):
            return True
    if _replies(line, first, title, text):
        return True
    if CONDITION.search(first.text) or _HERE.search(first.text) or asks_list(line):
        return False
    if _DEFAULT.search(line):
        return _is_default(line, first, title)
    if found := _DOES.search(line) or _USED.search(line):
        return _does(found["subject"], found["verb"].lower(), first, title, text)
    return _is_thing(line, first) if _asks_thing(line) else _states(line, first, title)


def _of_term(asked: str, quote: Quote, title: str) -> bool:
    """Tell whether a quote below a term is about just what is asked for.

    The term is spelt so, a command called "at" stands in the title, too, and what is said is said
    of the term and not of the program.
    """
    term, head = _spelt(quote.under), title.lower().split(" — ")[0]
    other = {one for one in _spelt(asked) - term if one.lower() in map(str.lower, term)}
    beside = set(KIND.sub(" ", OPTION.sub(" ", asked)).lower().split()) - _LINKS
    of = {one.strip("\"'") for one in beside if not _spelt(one) <= set(map(str.lower, term))}
    program = _spelt(re.split(r" [-–—‐] ", head)[0]) - set(map(str.lower, term))
    return (
        not other
        and not _ALERT.match(quote.text)
        and all(re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", head) for one in of)
        and quote.text.split()[0].lower() not in program
    )


def _spelt(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))


def _replies(question: str, quote: Quote, title: str, text: str) -> bool:
    """Tell whether a quote stands right below the same question, as it does in a FAQ."""
    before = text.partition(quote.text)[0]
    found = _ABOVE.search(before)
    above = found["asked"] if found else title if not before.strip() else ""
    if not above.rstrip("¶ ").endswith("?"):
        return False
    asked, same = set(key_terms(question)), set(key_terms(above.rpartition(" — ")[2]))
    return len(asked & same) >= LIKE * len(asked | same)


def _asks_thing(question: str) -> bool:
    """Tell whether it is asked what a thing is, or who somebody is."""
    asked = thing(question)
    return asks_meaning(question) or bool(asked and set(words(asked.spelt)) <= named(question))


def _is_thing(question: str, quote: Quote) -> bool:
    """Tell whether a quote begins with the thing that is asked for and says what it is."""
    asked, part = thing(question), _PART_OF.search(question)
    if part and re.match(
        rf"\W*{_named(part['part'])}(?:is|are|was|were)\b", quote.text, re.IGNORECASE
    ):
        return True
    if not asked or _NOTE.match(quote.text) or f"{asked.spelt}," in question:
        return False
    return defines(asked, quote.text, "") >= WHOLE


def _does(subject: str, verb: str, quote: Quote, title: str, text: str) -> bool:
    """Tell whether a quote begins with something, or stands below it, and says what it does.

    Of several such sentences the first says what it does.
    """
    if verb == "mean":
        return _is_thing(f"what does {subject} mean", quote)
    start = "" if explains(quote.under, subject, title) else _named(subject)
    found = re.match(rf"\W*{start}{_VERB}", quote.text, re.IGNORECASE)
    if not found or _BUT.search(quote.text):
        return False
    if verb in ("do", "used", "good", "there", "meant", "designed", "intended"):
        before = text.partition(quote.text)[0]
        if not start or re.search(rf"(?:^|[.!?]\s|\n)\s*{start}[a-z]", before, re.IGNORECASE):
            return False
        tool = re.match(rf"\W*{start}(?:is|are) (?=an? )", quote.text, re.IGNORECASE)
        return (
            bool(_TOOL.match(quote.text, tool.end())) if tool else not _NO_DEED.match(found["said"])
        )
    return bool(words(verb)) and among(words(verb)[0], words(found["said"]))


def _named(subject: str) -> str:
    """Return a pattern for a sentence that begins with a thing, up to its verb."""
    spelt = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", subject)))
    return rf"(?:the |an? )?[\"'“‘`]?{spelt}{_KIND}{_AFTER}"


def _is_default(question: str, quote: Quote, title: str) -> bool:
    """Tell whether a clause names the default of just the thing that is asked for."""
    asked = [one for one in key_terms(question) if one not in {*words("default value"), *_ITS}]
    heads = {part.split()[0] for part in re.split(r",\s*", _VALUE.sub("", quote.under)) if part}
    head = {one for one in words(" ".join(heads)) if len(one) > 1}
    if head & set(asked) and head - set(asked):
        return False
    rest = [one for one in asked if not among(one, words(document(title)))]
    for clause in _CLAUSE.split(quote.text):
        said, whose = words(f"{quote.under} {clause}"), _WHOSE.search(clause)
        if _BACK.search(_BY_DEFAULT.sub("", clause)) and not _has(asked, words(quote.under)):
            continue
        extra = set(words(whose["whose"])) - _ITS - set(asked) if whose else ()
        by = _BY_DEFAULT.match(clause) and not _BY_DEFAULT_TOO.search(question)
        if by and not set(words(" ".join(clause.split()[2:4]))) & set(rest):
            continue
        if not extra and _has(rest, said) and _GIVEN.search(clause):
            return has_kind(question, clause)
    return False


def _states(question: str, quote: Quote, title: str) -> bool:
    """Tell whether one clause says all of a question and has the kind of thing asked for.

    Only names may stand in the title instead.
    """
    done, called = _DONE.search(question), _CALLED.findall(question.lower())
    if _BACK.search(quote.text) or (done and not re.search(rf"\b{done['verb']}\b", quote.text)):
        return False
    left = {*words(" ".join(called))} if asks_kind(question) else set()
    above = named(question) & set(words(title))
    rest = [one for one in key_terms(question) if one not in left]
    for clause in _CLAUSE.split(f"{quote.under} {quote.text}".strip()):
        said = told(question, clause)
        if _has(rest, {*said, *above}) and _together(rest, words(clause)):
            return not asks_kind(question) or _gives(
                question, rest, quote.text if asks_why(question) else clause
            )
    return False


def _gives(question: str, rest: Sequence[str], clause: str) -> bool:
    """Tell whether a clause has the number or the kind of thing that is asked for, near by."""
    if "how many" in question.lower():
        return bool(counted(question, _NO_COUNT.sub("", clause)))
    return holds(question, clause, [form for one in rest for form in forms(one)])


def _together(terms: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether the terms that a clause has stand close together in it."""
    there = [one for one in terms if among(one, said)]
    most = SPREAD * len(there)
    runs = (said[at : at + most] for at in range(max(1, len(said) - most + 1)))
    return bool(there) and any(_has(there, run) for run in runs)


def _has(terms: Iterable[str], said: Iterable[str]) -> bool:
    found = set(said)
    return all(among(one, found) for one in terms)
