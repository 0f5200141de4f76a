"""Tell whether a quote from a manual answers a question.

Of which program, file or setting it is, whether it gives the default, and whether the entry of a
term says what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.extractive.prompt_parser import SourceQuote
from models.extractive.quote_wording import (
    BACK_REFERENCE,
    CLAUSE_BOUNDARY,
    OPENING_CONDITION,
    has_all_variants,
    has_variant,
)
from models.extractive.sentence_scoring import locate_quote
from text.answerability import SourcePassage, document_title
from text.manuals import (
    KIND_NOUNS,
    OPTION_PATTERN,
    begins_entry,
    find_asked_purpose,
    find_asked_verb,
    find_manual_entries,
    is_only_name,
)
from text.pattern_files import PatternFile
from text.question_types import has_answer_type
from text.regex import regex
from text.topics import key_terms, strip_request_phrases
from text.words import QUESTION_WORDS, STOPWORDS, search_words

_PATTERNS = PatternFile("models.extractive", "manual_answers.toml")


_DASH = regex(r" [-–—‐] ")
"""What parts the names of a manual page from what it is for."""
_ENDING = regex(r"(?:[._-](?:conf|config|cfg|ini|rc|d)|\(\d\w*\))$")
"""What the name of a file has behind the name of its program."""
_TOKEN = regex(r"[\w][\w.+:-]*[\w+]|\w")
_VALUE = regex(r"[\s=\[<(|:]")
_LIGHT = STOPWORDS | QUESTION_WORDS
_ONE_WORD = regex(r"--?[A-Za-z][a-z]*|[A-Z]?[a-z]+")
_LINKS = regex(r"(?:^|(?<= ))(?:of|in|for|by|with|from|on) +(?=\S)", re.IGNORECASE)
_ASKED_OWNER = regex(r"\b(?:of|in|for) (?:(?:an?|the) )?(?P<whose>[\w.+-]*\w)\W*$", re.IGNORECASE)
"""What a question ends with, if it is one word: the owner of what is asked for."""
SHARED_OPENING = 40
"""Two passages that give an entry share so many characters at its beginning."""


def page_subjects(title: str) -> frozenset[str]:
    """Return the names of what a page is about, in lower case.

    They stand before the dash in the title of a manual page; a file is also named like its program.
    """
    head = _DASH.split(document_title(title), maxsplit=1)
    found = head[0].split(",") if len(head) > 1 else _TOKEN.findall(head[0])
    names = {one.strip().lower() for one in found}
    return frozenset(names | {_ENDING.sub("", one) for one in names})


def is_manual_page(title: str) -> bool:
    """Tell whether the title of a page is that of a manual: its names, and what it is for."""
    return bool(_DASH.search(document_title(title)))


def asked_title_words(question: str, title: str) -> set[str]:
    """Return the words that the title of a page says for a question.

    They are the names of what it is about, with what it is for where the question has such a name,
    and else only what is spelt there with a capital letter.
    """
    if _named(question) & page_subjects(title) or not is_manual_page(title):
        return {*search_words(document_title(title)), *search_words(" ".join(page_subjects(title)))}
    told = {one for one in _TOKEN.findall(title) if not one.islower()}
    return set(search_words(" ".join(one for one in _TOKEN.findall(question) if one in told)))


def is_from_other_manual(
    question: str, quote: SourceQuote, title: str, pages: Sequence[SourcePassage]
) -> bool:
    """Tell whether a question names one manual and a quote is from another.

    A manual is named if a page of it is shown. A sentence that has its name is of it, too, and in
    an entry one that begins with it.
    """
    asked = _named(question)
    known = {
        one for page in pages if is_manual_page(page.title) for one in page_subjects(page.title)
    }
    mine = page_subjects(title) | set(_TOKEN.findall(_section(title).lower()))
    told = quote.text.lower().split()[: 2 if quote.section else None]
    return bool(asked & known) and not asked & known & {*mine, *_TOKEN.findall(" ".join(told))}


def page_covers_names(others: Sequence[str], title: str) -> bool:
    """Tell whether all that is named beside a term is what the page with its entry is about.

    It stands in its title, and one of it is its name, a name with a capital letter in what it is
    for, or the heading of the section.
    """
    mine = page_subjects(title) | set(_TOKEN.findall(_section(title).lower()))
    told = set(_TOKEN.findall(title))
    names = [one for one in others if one.lower() in mine or (not one.islower() and one in told)]
    every = mine | {one.lower() for one in told}
    return not others or (bool(names) and all(one.lower() in every for one in others))


def has_asked_owner(question: str, quote: SourceQuote, title: str) -> bool:
    """Tell whether a quote or the name of its page has what a question ends with: "… of screen"."""
    found = _ASKED_OWNER.search(strip_request_phrases(question.split("\n")[0]))
    if not found:
        return True
    name, said = found["whose"].lower(), f"{quote.section} {quote.text}"
    spelt = _TOKEN.findall(f"{said} {_section(title)}".lower())
    mine = [*search_words(said), *search_words(" ".join(page_subjects(title)))]
    return (
        name in {*spelt, *page_subjects(title)}
        or page_covers_names([found["whose"]], title)
        or _has_name(name, mine)
    )


def is_unambiguous_term(
    head: str, title: str, pages: Sequence[SourcePassage], *, named: bool
) -> bool:
    """Tell whether all entries of a term say the same: in the manual that is named, or anywhere.

    A term of one plain word ("-k", "--debug", "Port", "regex") is in many manuals: without the
    name of its own it is single only where all pages are of one manual.
    """
    if (
        not named
        and _ONE_WORD.fullmatch(head)
        and len({page_subjects(one.title) for one in pages}) > 1
    ):
        return False
    of = page_subjects(title)
    shown = [page for page in pages if not named or page_subjects(page.title) & of]
    told = {
        " ".join(said.split())[:SHARED_OPENING]
        for page in shown
        for said in _entry_bodies(head, page.text)
    }
    return len(told) <= 1


def split_term_names(term: str) -> list[str]:
    """Return the names that a term begins with: "-k" and "--keep" of "-k, --keep FILE"."""
    return [_VALUE.split(one.strip(), maxsplit=1)[0] for one in term.split(",")]


def names_beside_term(asked: str, head: str) -> list[str]:
    """Return what is named beside a term: the program in "-k option of screen"."""
    rest = re.sub(rf"(?<![\w-]){re.escape(head)}(?![\w-])", " ", asked, flags=re.IGNORECASE)
    return _TOKEN.findall(KIND_NOUNS.sub(" ", _LINKS.sub(" ", rest)))


def _named(question: str) -> set[str]:
    """Return what a question may name; a word of grammar is a name only before "do" or last."""
    line = strip_request_phrases(question.split("\n")[0]).lower()
    told = {one for one in _TOKEN.findall(line) if one not in _LIGHT}
    return told | set(re.findall(r"\b(?:of|for|by|in|does) ([\w.+-]+?)(?=[?.\s]*$| do\b| -)", line))


def _has_name(name: str, statements: Sequence[str]) -> bool:
    return bool(search_words(name)) and has_all_variants(search_words(name), statements)


def _section(title: str) -> str:
    return title.partition(" — ")[2]


def _entry_bodies(head: str, text: str) -> Iterator[str]:
    for one in find_manual_entries(text):
        if head in split_term_names(one.term):
            yield text[one.body_start : one.end]


DEFAULT_WORD = regex(r"\bdefaults?\b", re.IGNORECASE)
_SOME = r"(?: [\"'`“‘]?[\w.-]+[\"'`”’]?){0,8}?"
_IS = r"(?:is|are|was|of (?=\W?\d))\b"
_WHOSE = regex(rf"\bdefaults?(?P<whose>{_SOME}) {_IS}", re.IGNORECASE)
"""What a default is said to be of."""
_DEFAULT_FORMS = tuple(
    regex(one, re.IGNORECASE)
    for one in (
        rf"^(?P<of>.*?\bdefaults?{_SOME} {_IS})",
        r"^(?P<of>.*?)\bdefaults? ?(?:to\b|=|:)",
        r"^(?P<of>.*?)[(,] ?(?:the )?default(?: value)?(?: is|:|=)? ?(?=\W?\d|[^()]{1,40}\))",
        r"\b(?:is|are) the default\b(?P<of>.*)$",
        r"^\W*by default,? (?P<of>.+?) (?:is|are)\b",
    )
)
"""What gives a default, with what it is the default of."""
_DECISION = regex(r"^\W*(?:is|are|does|do|can|will|has|have)\b", re.IGNORECASE)
_LINE = regex(r"\W*default(?: value)?: \S", re.IGNORECASE)
_ITS = frozenset(search_words("value setting location behaviour for of the"))
_OPENS_BY_DEFAULT = regex(r"^\W*by default,? ", re.IGNORECASE)
_BY_DEFAULT = regex(r"\bby default\b", re.IGNORECASE)


def gives_default_value(question: str, quote: SourceQuote, title: str) -> bool:
    """Tell whether a clause gives the default of just the thing that is asked for."""
    asked = [
        one for one in key_terms(question) if one not in {*search_words("default value"), *_ITS}
    ]
    rest = [one for one in asked if not has_variant(one, asked_title_words(question, title))]
    if not rest or _more_special(quote, asked):
        return False
    clause = next(
        (one for one in _clauses(quote.text) if _gives(one, question, quote, asked, rest)), ""
    )
    told = _OPENS_BY_DEFAULT.match(clause) and not _BY_DEFAULT.search(question)
    if told and set(search_words(" ".join(clause.split()[2:4]))).isdisjoint(rest):
        return False
    return bool(clause) and has_answer_type(question, clause)


def _clauses(text: str) -> list[str]:
    """Return the clauses of a sentence; a line with a default below a term is one."""
    return [text] if _LINE.match(text) else CLAUSE_BOUNDARY.split(text)


def _more_special(quote: SourceQuote, asked: list[str]) -> bool:
    """Tell whether a quote is below a setting with a longer name: "control-port" and no port."""
    head = {one for one in search_words(" ".join(split_term_names(quote.section))) if len(one) > 1}
    return bool(head & set(asked) and head - {*asked, *search_words("default")})


def _gives(
    clause: str, question: str, quote: SourceQuote, asked: list[str], rest: list[str]
) -> bool:
    """Tell whether a clause gives a default, and of nothing else than what is asked for.

    What is asked for stands in the term above it or in what the default is said to be of, and not
    in the value. A question for yes or no is about all that is so by default.
    """
    if BACK_REFERENCE.search(_OPENS_BY_DEFAULT.sub("", clause)) and not has_all_variants(
        rest, search_words(quote.section)
    ):
        return False
    whose = _WHOSE.search(clause)
    if whose and set(search_words(whose["whose"])) - _ITS - set(asked):
        return False
    of = next((found["of"] for one in _DEFAULT_FORMS if (found := one.search(clause))), None)
    if _DECISION.search(question) and _BY_DEFAULT.search(clause):
        of = clause
    given = (
        of is not None
        and not _PATTERNS.no_value.search(clause)
        and not _PATTERNS.refers.search(clause)
    )
    return given and has_all_variants(rest, search_words(f"{quote.section} {of}"))


_SUBJECT = regex(
    r"\W*(?:(?:an?|the|all|any|each|every|some|many|most|no|one|both|either|two|this|these|those|there|you"
    r"|we|your|its) "
    r"(?:(?!(?:that|which|who|whose|where|when|if|whether|while|as|to|for|how|what|until|unless)\b)"
    r"[\w'’/.-]+ ){0,6}?|(?!do)[\w'’/.-]+ )"
    r"(?:(?:is|are)(?! (?:not )?\w+ed\b)|was|were|will|can|may|must|should|has|have|does|do|cannot)"
    r"\b",
    re.IGNORECASE,
)
"""The subject of a sentence up to its verb, unless the verb says what is done to it."""
_PLURAL = regex(
    r"\W*[A-Z][a-z]+ [a-z]+s "
    r"(?!\w+(?:ing|ed) |(?:from|in|of|for|to|on|with|at|by|as|and|or|into|than|that|which) )"
    r"[a-z]+ (?:the|an?|its|their)\b"
)
"""Several things that do something: "Child loggers inherit the"."""
_ACRONYM = regex(r"\W*[A-Z]{2,}\b(?! ?\()[^.,;]{0,30}? [a-z]+s\b")
"""Such a subject that is an acronym: "RFC 2616 requires"."""
_SUBJECTS = (_SUBJECT, _ACRONYM, _PLURAL)
_OF = regex(r"^(?:the )?(?:of|for|in) ", re.IGNORECASE)
_WORD = regex(r"(?<![\w-])(?:defaults?(?: values?)?(?: to)?|values?)(?![\w-])", re.IGNORECASE)
"""What is asked of a term whose default is asked for."""
_GENERAL = frozenset(
    re.findall(
        r"\w+",
        "do mean specify control set define configure determine indicate represent describe denote"
        " designate influence affect govern hold contain store show display list allow",
    )
)
"""Verbs that ask for no more than what something is there for."""


def is_entry_answer(question: str, quote: SourceQuote, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether a quote is what an entry says first, and of the very term of the very owner.

    The term is spelt so and is not the denial of another one of the entry, all that is named
    beside it is what the page is about, other entries of the term say the same, the verb of the
    question is a general one or in the quote, and the quote speaks of the term.
    """
    asked, (title, text) = find_asked_purpose(question), locate_quote(quote, pages)
    head = next((one for one in split_term_names(quote.section) if _spelt_in(one, asked)), "")
    others = names_beside_term(asked, head)
    return (
        bool(head)
        and head.replace("--no-", "--", 1) not in {*split_term_names(quote.section)} - {head}
        and page_covers_names(others, title)
        and is_unambiguous_term(head, title, pages, named=bool(others))
        and _has_verb(find_asked_verb(question), quote.text)
        and _tells(quote, head, title)
        and begins_entry(quote.section, quote.text, text)
    )


def entry_gives_default(question: str, quote: SourceQuote, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether a quote gives the default that the entry of just the term asked for has.

    The entry is of the very owner, says no other default, and not that of one case.
    """
    if not DEFAULT_WORD.search(question):
        return False
    title, text = locate_quote(quote, pages)
    line = _OF.sub("", " ".join(_WORD.sub(" ", find_asked_purpose(question)).split()))
    head = next((one for one in split_term_names(quote.section) if _spelt_in(one, line)), "")
    others = names_beside_term(line, head)
    return (
        bool(head)
        and not _PATTERNS.in_case.match(quote.text)
        and page_covers_names(others, title)
        and is_unambiguous_term(head, title, pages, named=bool(others))
        and gives_default_value(question, quote, title)
        and len(set(_defaults(quote.section, text))) <= 1
    )


def _defaults(term: str, text: str) -> Iterator[str]:
    """Yield the values that the entry of a term gives as its default."""
    for one in find_manual_entries(text):
        if one.term == term:
            yield from (
                found["value"].rstrip(".")
                for found in _PATTERNS.values.finditer(text, one.body_start, one.end)
            )


def is_about_other_option(question: str, quote: SourceQuote) -> bool:
    """Tell whether what is quoted is said of an option that a question does not name."""
    found = [one for one in split_term_names(quote.section) if OPTION_PATTERN.fullmatch(one)]
    return bool(found) and not any(_spelt_in(one, question) for one in found)


def _spelt_in(head: str, text: str) -> bool:
    """Tell whether a term stands in a text just as it is spelt, and in no longer term."""
    return bool(re.search(rf"(?<![\w-]){re.escape(head)}(?![\w-])", text))


def _has_verb(verb: str, text: str) -> bool:
    return not verb or verb in _GENERAL or has_all_variants(search_words(verb), search_words(text))


def _tells(quote: SourceQuote, head: str, title: str) -> bool:
    """Tell whether what an entry says first is said of its term, and is no remark before that.

    A sentence with another subject than the term, such as the program, or with a condition only
    says what is so beside it; how a term may be given is not what it does.
    """
    program = page_subjects(title) - {head.lower()}
    likened = re.search(rf"(?<!\w){re.escape(head)}[- ](?:like|style)\b", quote.text)
    if likened or is_only_name(quote.section, quote.text) or quote.text.endswith(":"):
        return False
    if _PATTERNS.remark.match(quote.text) or quote.text.split()[0].lower() in program:
        return False
    if OPENING_CONDITION.search(quote.text) and not _PATTERNS.if_set.match(quote.text):
        return False
    subject = next((found for one in _SUBJECTS if (found := one.match(quote.text))), None)
    if not subject:
        return True
    speaks = _PATTERNS.term.search(subject[0]) or _spelt_in(head, subject[0])
    return bool(speaks) and not _PATTERNS.barely.match(quote.text)
