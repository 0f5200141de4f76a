"""Tell whether the entry of a term in a manual says what is asked of the term."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.extractive.blocks import Page, Quote
from models.extractive.candidates import place
from models.extractive.defaults import DEFAULT, is_default
from models.extractive.disqualifying import CONDITION
from models.extractive.manual import OPTION, begins, deed, entries, only_names, purpose
from models.extractive.owner import beside, heads, owned, owners, single
from models.extractive.wording import has
from retrieval.regex import regex
from retrieval.words import words

_REMARK = regex(
    r"\W*(?:warning|caution|important|attention|note|see|deprecated|obsolete|experimental|since"
    r"|(?:for )?examples?|e\.g|available|(?:new|added|introduced) in|requires?|optional|mandatory"
    r"|is|are|even|despite|where|\w+ only|sometimes|often"
    r"|(?:usu|norm|gener|typic|histor|tradition)\w*ly|by default"
    r"|in (?:some|many|most|certain|rare|these|those|such|other|general|addition|older|newer|case)"
    r")\b|\W*defaults?\W*(?::|=|is\b|to\b)",
    re.IGNORECASE,
)
"""What comes before what is said of a term."""
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
_BARELY = regex(
    r"^[^.,;]{0,60}?\b(?:must|should|requires?|needs?|accepts?|takes?|can only|may only|cannot"
    r"|(?:can|may|is|are|was|were) (?:be )?(?:only|also|optional|required|mandatory|available|added"
    r"|introduced|supported|valid|repeated|specified|given|set"
    r"|used (?:multiple|more|several|only|with|in|together)))\b"
)
"""What says of a term how or where it may be given, and not what it does."""
_IF_SET = regex(
    r"\W*(?:if|when|whenever) (?:(?:this|the|it|an?|[\w-]+)\b[^,]{0,40}? )?(?:(?:is|are) )?"
    r"(?:not )?(?:set|enabled|disabled|specified|given|present|used|true|false|yes|no|on|off|unset"
    r"|non-?zero|defined|passed|turned on|provided)\b",
    re.IGNORECASE,
)
"""A condition that only says that a term is used."""
_TERM = regex(
    r"\bth(?:is|ese)\b|\bit\b|^\W*the (?:option|setting|directive|parameter|value|flag|variable"
    r"|command|keyword|function)\b",
    re.IGNORECASE,
)
"""What stands for the term of an entry in what is said of it."""
_OF = regex(r"^(?:the )?(?:of|for|in) ", re.IGNORECASE)
_WORD = regex(r"(?<![\w-])(?:defaults?(?: values?)?(?: to)?|values?)(?![\w-])", re.IGNORECASE)
"""What is asked of a term whose default is asked for."""
_IN_CASE = regex(
    r"\W*(?:in|for|on|with|under|during|at|if|when|unless|since|until)\b", re.IGNORECASE
)
"""What says for which case something is so."""
_VALUES = regex(
    r"\b(?i:defaults?)\b(?: values?)?(?: is| to|:| ?=)? ?\W{0,2}"
    r"(?P<value>\d[\w.]*|(?<=[:=(`\"'])\w+)"
)
"""A value that is given as a default."""
_GENERAL = frozenset(
    re.findall(
        r"\w+",
        "do mean specify control set define configure determine indicate represent describe denote"
        " designate influence affect govern hold contain store show display list allow",
    )
)
"""Verbs that ask for no more than what something is there for."""


def is_entry(question: str, quote: Quote, pages: Sequence[Page]) -> bool:
    """Tell whether a quote is what an entry says first, and of the very term of the very owner.

    The term is spelt so and is not the denial of another one of the entry, all that is named
    beside it is what the page is about, other entries of the term say the same, the verb of the
    question is a general one or in the quote, and the quote speaks of the term.
    """
    asked, (title, text) = purpose(question), place(quote, pages)
    head = next((one for one in heads(quote.under) if _spelt_in(one, asked)), "")
    others = beside(asked, head)
    return (
        bool(head)
        and head.replace("--no-", "--", 1) not in {*heads(quote.under)} - {head}
        and owned(others, title)
        and single(head, title, pages, named=bool(others))
        and _has_verb(deed(question), quote.text)
        and _tells(quote, head, title)
        and begins(quote.under, quote.text, text)
    )


def gives_default(question: str, quote: Quote, pages: Sequence[Page]) -> bool:
    """Tell whether a quote gives the default that the entry of just the term asked for has.

    The entry is of the very owner, says no other default, and not that of one case.
    """
    if not DEFAULT.search(question):
        return False
    title, text = place(quote, pages)
    line = _OF.sub("", " ".join(_WORD.sub(" ", purpose(question)).split()))
    head = next((one for one in heads(quote.under) if _spelt_in(one, line)), "")
    others = beside(line, head)
    return (
        bool(head)
        and not _IN_CASE.match(quote.text)
        and owned(others, title)
        and single(head, title, pages, named=bool(others))
        and is_default(question, quote, title)
        and len(set(_defaults(quote.under, text))) <= 1
    )


def _defaults(term: str, text: str) -> Iterator[str]:
    """Yield the values that the entry of a term gives as its default."""
    for one in entries(text):
        if one.term == term:
            yield from (
                found["value"].rstrip(".") for found in _VALUES.finditer(text, one.text, one.end)
            )


def of_another(question: str, quote: Quote) -> bool:
    """Tell whether what is quoted is said of an option that a question does not name."""
    found = [one for one in heads(quote.under) if OPTION.fullmatch(one)]
    return bool(found) and not any(_spelt_in(one, question) for one in found)


def _spelt_in(head: str, text: str) -> bool:
    """Tell whether a term stands in a text just as it is spelt, and in no longer term."""
    return bool(re.search(rf"(?<![\w-]){re.escape(head)}(?![\w-])", text))


def _has_verb(verb: str, text: str) -> bool:
    return not verb or verb in _GENERAL or has(words(verb), words(text))


def _tells(quote: Quote, head: str, title: str) -> bool:
    """Tell whether what an entry says first is said of its term, and is no remark before that.

    A sentence with another subject than the term, such as the program, or with a condition only
    says what is so beside it; how a term may be given is not what it does.
    """
    program = owners(title) - {head.lower()}
    likened = re.search(rf"(?<!\w){re.escape(head)}[- ](?:like|style)\b", quote.text)
    if likened or only_names(quote.under, quote.text) or quote.text.endswith(":"):
        return False
    if _REMARK.match(quote.text) or quote.text.split()[0].lower() in program:
        return False
    if CONDITION.search(quote.text) and not _IF_SET.match(quote.text):
        return False
    subject = next((found for one in _SUBJECTS if (found := one.match(quote.text))), None)
    if not subject:
        return True
    speaks = _TERM.search(subject[0]) or _spelt_in(head, subject[0])
    return bool(speaks) and not _BARELY.match(quote.text)
