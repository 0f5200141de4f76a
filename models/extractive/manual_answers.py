"""Tell whether a quote from a manual answers a question.

Of which program, file or setting it is, whether it gives the default, and whether the entry of a
term says what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.extractive.prompt_parser import SourceQuote
from models.extractive.quote_wording import (
    has_all_variants,
    has_variant,
    opens_with_condition,
    points_back,
    split_clauses,
)
from models.extractive.sentence_scoring import locate_quote
from text.answerability import SourcePassage, document_title
from text.manuals import (
    OPTION_PATTERN,
    begins_entry,
    drop_kind_nouns,
    find_asked_purpose,
    find_asked_verb,
    find_manual_entries,
    is_only_name,
)
from text.pattern_files import PatternFile
from text.question_types import has_answer_type
from text.regex import regex
from text.topics import key_terms, strip_request_phrases
from text.words import NON_TOPIC_WORDS, search_words

_PATTERNS = PatternFile("models.extractive", "manual_answers.toml")


_DASH = regex(r" [-–—‐] ")
"""What parts the names of a manual page from what it is for."""
_ENDING = regex(r"(?:[._-](?:conf|config|cfg|ini|rc|d)|\(\d\w*\))$")
"""What the name of a file has behind the name of its program."""
_TOKEN = regex(r"[\w][\w.+:-]*[\w+]|\w")
_VALUE = regex(r"[\s=\[<(|:]")
_ONE_WORD = regex(r"--?[A-Za-z][a-z]*|[A-Z]?[a-z]+")
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
    mine = page_subjects(title) | _section_names(title)
    told = quote.text.lower().split()[: 2 if quote.section else None]
    return bool(asked & known) and not asked & known & {*mine, *_TOKEN.findall(" ".join(told))}


def page_covers_names(others: Sequence[str], title: str) -> bool:
    """Tell whether all that is named beside a term is what the page with its entry is about.

    It stands in its title, and one of it is its name, a name with a capital letter in what it is
    for, or the heading of the section.
    """
    mine = page_subjects(title) | _section_names(title)
    told = set(_TOKEN.findall(title))
    names = [one for one in others if one.lower() in mine or (not one.islower() and one in told)]
    every = mine | {one.lower() for one in told}
    return not others or (bool(names) and all(one.lower() in every for one in others))


def has_asked_owner(question: str, quote: SourceQuote, title: str) -> bool:
    """Tell whether a quote or the name of its page has what a question ends with: "… of screen"."""
    found = _PATTERNS.asked_owner.search(strip_request_phrases(question.split("\n")[0]))
    if not found:
        return True
    name, said = found["whose"].lower(), f"{quote.section} {quote.text}"
    spelt = {*_TOKEN.findall(said.lower()), *_section_names(title), *page_subjects(title)}
    if name in spelt or page_covers_names([found["whose"]], title):
        return True
    words, mine = search_words(name), search_words(" ".join([said, *page_subjects(title)]))
    return bool(words) and has_all_variants(words, mine)


def is_unambiguous_term(
    head: str, title: str, pages: Sequence[SourcePassage], *, named: bool
) -> bool:
    """Tell whether all entries of a term say the same: in the manual that is named, or anywhere.

    A term of one plain word ("-k", "--debug", "Port", "regex") is in many manuals: without the
    name of its own it is single only where all pages are of one manual.
    """
    manuals = {page_subjects(one.title) for one in pages}
    if not named and _ONE_WORD.fullmatch(head) and len(manuals) > 1:
        return False
    shown = [one for one in pages if not named or page_subjects(one.title) & page_subjects(title)]
    bodies = (body for page in shown for body in _entry_bodies(head, page.text))
    return len({" ".join(body.split())[:SHARED_OPENING] for body in bodies}) <= 1


def split_term_names(term: str) -> list[str]:
    """Return the names that a term begins with: "-k" and "--keep" of "-k, --keep FILE"."""
    return [_VALUE.split(one.strip(), maxsplit=1)[0] for one in term.split(",")]


def names_beside_term(asked: str, head: str) -> list[str]:
    """Return what is named beside a term: the program in "-k option of screen"."""
    rest = re.sub(rf"(?<![\w-]){re.escape(head)}(?![\w-])", " ", asked, flags=re.IGNORECASE)
    return _TOKEN.findall(drop_kind_nouns(_PATTERNS.links.sub(" ", rest)))


def _named(question: str) -> set[str]:
    """Return what a question may name; a word of grammar is a name only before "do" or last."""
    line = strip_request_phrases(question.split("\n")[0]).lower()
    told = {one for one in _TOKEN.findall(line) if one not in NON_TOPIC_WORDS}
    return told | set(re.findall(r"\b(?:of|for|by|in|does) ([\w.+-]+?)(?=[?.\s]*$| do\b| -)", line))


def _section_names(title: str) -> set[str]:
    return set(_TOKEN.findall(title.partition(" — ")[2].lower()))


def _entry_bodies(head: str, text: str) -> list[str]:
    found = (one for one in find_manual_entries(text) if head in split_term_names(one.term))
    return [text[one.body_start : one.end] for one in found]


DEFAULT_WORD = regex(r"\bdefaults?\b", re.IGNORECASE)
_DEFAULT_FORMS = ("default_is", "default_to", "default_aside", "is_default", "is_by_default")
"""Patterns of what gives a default, with what it is the default of."""
_ITS = frozenset(search_words("value setting location behaviour for of the"))


def gives_default_value(question: str, quote: SourceQuote, title: str) -> bool:
    """Tell whether a clause gives the default of just the thing that is asked for."""
    asked = [term for term in key_terms(question) if term not in {"default", *_ITS}]
    rest = [one for one in asked if not has_variant(one, asked_title_words(question, title))]
    if not rest or _more_special(quote, asked):
        return False
    giving = (one for one in _clauses(quote.text) if _gives(one, question, quote, asked, rest))
    clause = next(giving, "")
    told = _PATTERNS.opens_by_default.match(clause) and not _PATTERNS.by_default.search(question)
    if told and set(search_words(" ".join(clause.split()[2:4]))).isdisjoint(rest):
        return False
    return bool(clause) and has_answer_type(question, clause)


def _clauses(text: str) -> list[str]:
    """Return the clauses of a sentence; a line with a default below a term is one."""
    return [text] if _PATTERNS.default_line.match(text) else split_clauses(text)


def _more_special(quote: SourceQuote, asked: list[str]) -> bool:
    """Tell whether a quote is below a setting with a longer name: "control-port" and no port."""
    head = {one for one in search_words(" ".join(split_term_names(quote.section))) if len(one) > 1}
    return bool(head & set(asked) and head - {*asked, "default"})


def _gives(
    clause: str, question: str, quote: SourceQuote, asked: list[str], rest: list[str]
) -> bool:
    """Tell whether a clause gives a default, and of nothing else than what is asked for.

    What is asked for stands in the term above it or in what the default is said to be of, and not
    in the value. A question for yes or no is about all that is so by default.
    """
    bare, above = _PATTERNS.opens_by_default.sub("", clause), search_words(quote.section)
    if points_back(bare) and not has_all_variants(rest, above):
        return False
    whose = _PATTERNS.whose.search(clause)
    if whose and set(search_words(whose["whose"])) - _ITS - set(asked):
        return False
    forms = (_PATTERNS.get(form).search(clause) for form in _DEFAULT_FORMS)
    of = next((form["of"] for form in forms if form), None)
    if _PATTERNS.decision.search(question) and _PATTERNS.by_default.search(clause):
        of = clause
    if of is None or _PATTERNS.any_found(clause, "no_value", "refers"):
        return False
    return has_all_variants(rest, search_words(f"{quote.section} {of}"))


def is_entry_answer(question: str, quote: SourceQuote, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether a quote is what an entry says first, and of the very term of the very owner.

    The term is spelt so and is not the denial of another one of the entry, all that is named
    beside it is what the page is about, other entries of the term say the same, the verb of the
    question is a general one or in the quote, and the quote speaks of the term.
    """
    title, text = locate_quote(quote, pages)
    head = _find_exact_term(find_asked_purpose(question), quote, title, pages)
    return (
        bool(head)
        and head.replace("--no-", "--", 1) not in {*split_term_names(quote.section)} - {head}
        and _has_verb(find_asked_verb(question), quote.text)
        and _tells(quote, head, title)
        and begins_entry(quote.section, quote.text, text)
    )


def _find_exact_term(
    asked: str, quote: SourceQuote, title: str, pages: Sequence[SourcePassage]
) -> str:
    """Return the name of a quote's entry that is asked for, if it is of the very owner, or ""."""
    head = next((one for one in split_term_names(quote.section) if _spelt_in(one, asked)), "")
    others = names_beside_term(asked, head)
    exact = page_covers_names(others, title) and bool(head)
    return head if exact and is_unambiguous_term(head, title, pages, named=bool(others)) else ""


def entry_gives_default(question: str, quote: SourceQuote, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether a quote gives the default that the entry of just the term asked for has.

    The entry is of the very owner, says no other default, and not that of one case.
    """
    if not DEFAULT_WORD.search(question):
        return False
    title, text = locate_quote(quote, pages)
    asked = " ".join(_PATTERNS.asked_default.sub(" ", find_asked_purpose(question)).split())
    return (
        bool(_find_exact_term(_PATTERNS.leading_of.sub("", asked), quote, title, pages))
        and not _PATTERNS.in_case.match(quote.text)
        and gives_default_value(question, quote, title)
        and len(set(_defaults(quote.section, text))) <= 1
    )


def _defaults(term: str, text: str) -> Iterator[str]:
    """Yield the values that the entry of a term gives as its default."""
    for entry in find_manual_entries(text):
        if entry.term == term:
            values = _PATTERNS.values.finditer(text, entry.body_start, entry.end)
            yield from (value["value"].rstrip(".") for value in values)


def is_about_other_option(question: str, quote: SourceQuote) -> bool:
    """Tell whether what is quoted is said of an option that a question does not name."""
    found = [one for one in split_term_names(quote.section) if OPTION_PATTERN.fullmatch(one)]
    return bool(found) and not any(_spelt_in(one, question) for one in found)


def _spelt_in(head: str, text: str) -> bool:
    """Tell whether a term stands in a text just as it is spelt, and in no longer term."""
    return bool(re.search(rf"(?<![\w-]){re.escape(head)}(?![\w-])", text))


def _has_verb(verb: str, text: str) -> bool:
    general = not verb or verb in _PATTERNS.get_words("general")
    return general or has_all_variants(search_words(verb), search_words(text))


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
    if opens_with_condition(quote.text) and not _PATTERNS.if_set.match(quote.text):
        return False
    subject = _PATTERNS.subjects.match(quote.text)
    if not subject:
        return True
    speaks = _PATTERNS.term.search(subject[0]) or _spelt_in(head, subject[0])
    return bool(speaks) and not _PATTERNS.barely.match(quote.text)
