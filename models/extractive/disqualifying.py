"""Tell which quotes cannot be an answer, however many words of the question they have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from models.extractive.asking import bare
from models.extractive.blocks import Quote
from models.extractive.manual import options
from models.extractive.topic import names
from retrieval.regex import regex
from retrieval.words import words

FEW = 4
"""A quote with fewer words that the question has not says nothing."""
_WAY = regex(
    r"^\W*(?:explain |describe |show )?how "
    r"(?!many|much|long|far|tall|high|big|large|often|fast|heavy|deep|wide|old)|如何|怎[么麼样樣]",
    re.IGNORECASE,
)
"""What asks for a way of doing something, which one sentence seldom tells whole."""
_STEP = regex(
    r"^\W*(?:to \w+|you can|use|run|call|type|set|add|create|install|by \w+ing)\b|\bby \w+ing\b"
    r"|\b(?:use|using|with|run|running) the\b|\bcan be \w+ed (?:by|with|using)\b"
    r"|\b(?:stored|kept|written|given|shown|represented|encoded) (?:as|in)\b",
    re.IGNORECASE,
)
"""What tells a way."""
_WANTING = regex(r"^\W*if you (?:want|need|wish|would like|like)\b", re.IGNORECASE)
"""A condition that names what somebody wants to do, as a way does."""
_ACT = regex(
    r"^\W*(?:explain |describe |show )?how (?:do|does|can|could|should|would|must|to)\b",
    re.IGNORECASE,
)
"""What asks what somebody has to do."""
_DOING = regex(
    r"^\W*(?:to \w+\b.*?, |(?:you|we) (?:can|may|must|should|need)\b|(?:use|run|call|type|set|add"
    r"|create|install|press|start|enter|invoke|specify|pass|give|choose|select|write|open)\b)"
    r"|\b(?:you can|you may|(?:use|run|using|with) the|press|type)\b",
    re.IGNORECASE | re.DOTALL,
)
"""What tells somebody to do something."""
_ABBREVIATION = regex(
    r"\bwhat do(?:es)? (?:the )?(?:\w+ )??(?P<name>\S+) stand for\b", re.IGNORECASE
)
_ASKS_OPTION = regex(r"\b(?:which|what)(?: [\w-]+){0,2} (?:option|flag|switch)\b", re.IGNORECASE)
_OPTION = regex(r"(?<![\w-])--?[A-Za-z]|(?<![/\w])[A-Z]{2,}_[A-Z]|\w=")
"""What an option looks like."""
_DOES = regex(r"^\W*what do(?:es)?\b", re.IGNORECASE)
"""What asks for what something does, which is not what one of its options does."""
_CODE = (
    r"(?<![\w-])(?:\$\W?\w*|\w*[\w)][_/.:(-]+[\w)][\w./:()-]*|[A-Z]{2,}\w*|[a-z]+[A-Z]\w*"
    r"|[`\"'“‘][^\s]+)|\w\(\d?\)"
)
_INSTANCES = tuple(
    (
        regex(
            rf"\b(?:which|what)(?: (?!(?:is|are|was|does|do)\b)[\w-]+){{0,2}} (?:{asked})\b",
            re.IGNORECASE,
        ),
        regex(given),
    )
    for asked, given in (
        (r"ports?|versions?|sizes?|numbers?|value|mode|level", r"\d|[A-Z]{2,}|[\"'“‘`]|\w=\w"),
        (
            "keys?|keystrokes?|shortcuts?",
            r"\b(?:F\d|[CM]-\S|(?i:ctrl|control|alt|shift|esc|enter|tab|space|return|arrow)\b)"
            r"|[\"'“‘`]|(?<![\w'’-])[b-zB-HJ-Z?^](?![\w'’-])",
        ),
        (
            "commands?|variables?|functions?|modules?|files?|director(?:y|ies)|paths?|signals?"
            "|methods?|parameters?|directives?|settings?|packages?|programs?|tools?|class(?:es)?",
            _CODE,
        ),
    )
)
"""What asks for one of some things that have a name of a certain look, and that look."""
_PARENT = regex(r"\b(?:father|mother|parents?)\b", re.IGNORECASE)
_SPOUSE = regex(r"\b(?:spouse|wife|husband|married|marry)\b", re.IGNORECASE)
_CHILD_OF = r"\b(?:sons?|daughters?|child|children) of (?:[\w.]+ ){0,2}"
_OF_PARENTS = regex(
    r"\b(?:son|daughter|child) of .{1,120}?"
    r"\b(?:his|her|and) (?:\w+ ){0,2}(?:wife|husband|spouse)\b",
    re.IGNORECASE,
)
"""What names the spouse of a parent."""

CONDITION = regex(
    r"^\W*(?:if|unless|although|though|while|when|whenever|before|after|because|since|for programs"
    r"|note|in case|however)\b|^如果|^当|^若",
    re.IGNORECASE,
)
DENIES = regex(
    r"\b(?:not|never|no longer|cannot|without|neither|nor|\w+n['’]t)\b|[不没沒未非无無]",
    re.IGNORECASE,
)
_LABEL = regex(r"^\W*[\w .-]{1,30}(?::|\(|=)[^.!?]{1,40}\W*$|^[A-Z][A-Z_]+=\S+$")
"""What only names something, as an entry of an index and a setting do."""
_ANNOUNCES = regex(r"(?<!\W)(?>\W*?[:：])\W*$|\[-")
"""What comes before the lines that say something, or shows how a command is called."""


def disqualified(question: str, lead: Sequence[Quote]) -> bool:
    """Tell whether the wording of the first quotes alone says that they are no answer.

    So it is with labels and what only announces something, with quotes that tell no way of doing
    what is asked how to do, do not spell out an abbreviation or name no option or another one, with
    those that name no port, key or command where one is asked for, and with those on somebody's
    children where the parents are asked for.
    """
    first = lead[0].text
    return bool(
        _no_way(question, first)
        or _of_other_kin(question, first)
        or (_LABEL.search(first) and not _says_more(question, first) and not _value(lead[0]))
        or not _stands_for(question, first)
        or not options(question) <= options(f"{lead[0].under} {first}")
        or (_DOES.search(question) and options(lead[0].under) and not options(question))
        or (_ASKS_OPTION.search(question) and not _OPTION.search(f"{lead[0].under} {first}"))
        or _no_instance(question, lead)
        or any(_ANNOUNCES.search(one.text) for one in lead if not one.items)
    )


def _no_way(question: str, quote: str) -> bool:
    """Tell whether a way of doing something is asked for that a quote does not tell."""
    line = bare(question)
    if not _WAY.search(line):
        return False
    conditional = CONDITION.search(quote) and not _WANTING.search(quote)
    undone = _ACT.search(line) and not _DOING.search(quote)
    return bool(conditional or undone) or not _STEP.search(quote)


def _no_instance(question: str, lead: Sequence[Quote]) -> bool:
    """Tell whether a port, a key, a command or the like is asked for that quotes do not name."""
    look = next((given for asked, given in _INSTANCES if asked.search(question)), None)
    if look is None or any(one.under for one in lead):
        return False
    said = question.lower()
    found = (each[0] for one in lead for each in look.finditer(one.text))
    return not any(each.lower() not in said for each in found)


def _value(quote: Quote) -> bool:
    """Tell whether a quote is the line below a term that gives its default."""
    return bool(quote.under and re.match(r"Default: ?\S", quote.text))


def _says_more(question: str, quote: str) -> bool:
    """Tell whether a quote has enough words that the question has not."""
    return len(set(words(quote)) - set(words(question))) >= FEW


def _stands_for(question: str, quote: str) -> bool:
    """Tell whether a quote spells an abbreviation out, if that is asked."""
    found = _ABBREVIATION.search(question)
    if not found:
        return True
    name = re.escape(found["name"])
    return bool(
        re.search(
            rf"\b{name}\W{{0,3}}(?:stands for|is short for|is an? (?:acronym|abbreviation))"
            rf"|\({name}\)|\b{name} ?\([A-Z]",
            quote,
            re.IGNORECASE,
        )
    )


def _of_other_kin(question: str, quote: str) -> bool:
    """Tell whether a quote names children where parents are asked for, or parents as a couple."""
    if _SPOUSE.search(question):
        return bool(_OF_PARENTS.search(quote))
    inverse = (rf"{_CHILD_OF}{re.escape(name)}" for name in names(question))
    return bool(_PARENT.search(question)) and any(re.search(one, quote) for one in inverse)
