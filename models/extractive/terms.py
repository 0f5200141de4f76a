"""Tell whether the entry of a term in a manual says what is asked of the term."""

from __future__ import annotations

import re
from collections.abc import Sequence

from models.extractive.blocks import Page, Quote
from models.extractive.candidates import place
from models.extractive.disqualifying import CONDITION
from models.extractive.manual import OPTION, begins, deed, only_names, purpose
from models.extractive.owner import beside, heads, owned, owners, single
from models.extractive.wording import among
from retrieval.regex import regex
from retrieval.words import words

_REMARK = regex(
    r"\W*(?:warning|caution|important|attention|note|see|deprecated|obsolete|experimental|since"
    r"|(?:for )?examples?|e\.g|available|(?:new|added|introduced) in|requires?|optional|mandatory"
    r"|is|are|\w+ only)\b|\W*defaults?\W*(?::|=|is\b|to\b)",
    re.IGNORECASE,
)
"""What comes before what is said of a term."""
_SUBJECT = regex(
    r"\W*(?:(?:an?|the|all|any|each|every|some|many|most|no|one|both|either|two|these|those|there|you"
    r"|we|your|its) "
    r"(?:(?!(?:that|which|who|whose|where|when|if|whether|while|as|to|for|how|what|until|unless)\b)"
    r"[\w'’/.-]+ ){0,6}?|(?!do)[\w'’/.-]+ )"
    r"(?:(?:is|are)(?! (?:not )?\w+ed\b)|was|were|will|can|may|must|should|has|have|does|do|cannot)"
    r"\b",
    re.IGNORECASE,
)
"""The subject of a sentence up to its verb, unless the verb says what is done to it."""
_ACRONYM = regex(r"\W*[A-Z]{2,}\b(?! ?\()[^.,;]{0,30}? [a-z]+s\b")
"""Such a subject that is an acronym: "RFC 2616 requires"."""
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
    head = next((one for one in heads(quote.under) if spelt_in(one, asked)), "")
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


def of_another(question: str, quote: Quote) -> bool:
    """Tell whether what is quoted is said of an option that a question does not name."""
    found = [one for one in heads(quote.under) if OPTION.fullmatch(one)]
    return bool(found) and not any(spelt_in(one, question) for one in found)


def spelt_in(head: str, text: str) -> bool:
    """Tell whether a term stands in a text just as it is spelt, and in no longer term."""
    return bool(re.search(rf"(?<![\w-]){re.escape(head)}(?![\w-])", text))


def _has_verb(verb: str, text: str) -> bool:
    said = words(text)
    return not verb or verb in _GENERAL or all(among(one, said) for one in words(verb))


def _tells(quote: Quote, head: str, title: str) -> bool:
    """Tell whether what an entry says first is said of its term, and is no remark before that.

    A sentence with another subject than the term, such as the program, or with a condition only
    says what is so beside it; how a term may be given is not what it does.
    """
    program = owners(title) - {head.lower()}
    if only_names(quote.under, quote.text):
        return False
    if _REMARK.match(quote.text) or quote.text.split()[0].lower() in program:
        return False
    if CONDITION.search(quote.text) and not _IF_SET.match(quote.text):
        return False
    subject = _SUBJECT.match(quote.text) or _ACRONYM.match(quote.text)
    if not subject:
        return True
    speaks = _TERM.search(subject[0]) or spelt_in(head, subject[0])
    return bool(speaks) and not _BARELY.match(quote.text)
