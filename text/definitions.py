"""The term whose definition a question asks for, and how well a sentence defines it."""

from __future__ import annotations

import re
from typing import NamedTuple

from text.regex import regex
from text.script import HAN
from text.topics import strip_request_phrases
from text.words import QUESTION_WORDS, STOPWORDS, search_words

_THING = regex(
    r"^\W{0,20}+(?:what|who)(?:['’]s| is| are| was| were) "
    r"(?:(?:the )?(?:meaning|definition) of |meant by )?(?:an? |the )?"
    r"(?P<en>[^,?.;:\n]{1,200}?)(?: (?:used |good )?for)?"
    r"(?:\W*$|,| and (?:what|how|why|who|when|where|which)\b)"
    r"|^\W{0,20}+(?:define|explain what) (?:an? |the )?"
    r"(?P<define>[^,?.;:\n]{1,200}?)(?: is| are)?\W*$"
    r"|^\W{0,20}+what do(?:es)? (?:an? |the )?(?P<means>[^,?.;:\n]{1,200}?) (?:mean|do)\W*$"
    r"|^\W{0,20}+(?:what|who) (?:an? |the )?(?P<told>[^,?.;:\n]{1,200}?) (?:is|are|was|were)\W*$"
    r"|(?:什[么麼]是|何[谓謂]|[谁誰]是)(?P<zh>[^，。？?；\n]{1,200})"
    r"|^(?P<named>[^，。？?；\n]{1,200}?)(?:的(?:定义|含义|意思))?(?:是|指的?是?)(?:什[么麼]|[谁誰])",
    re.IGNORECASE | re.MULTILINE,
)
_PHRASE = regex(
    rf"(?:an? |the )?(?P<en>[^\W\d_][\w'’-]*(?: [\w'’-]+){{0,3}})\W?|(?P<zh>[{HAN}·]{{2,8}})"
)
_NO_PHRASE = (STOPWORDS | QUESTION_WORDS) - {"a", "an", "the", "of"}
_NO_CHINESE_PHRASE = regex("[什谁誰哪几幾吗嗎呢怎为為何是的了有]")

_VERB = (
    r"(?:means?|meant|refers? to|describes?|shows?|denotes?|consists? of(?! about| \d)"
    r"|(?:is|are|was|were|has been)"
    r" (?:an?|the|one|two|three|four|several|any|born|what|when|how)\b)"
)
_ASIDE = r"(?:\s*\([^()]*\)|,[^,.;]{1,60},)?\s+"
_SERVES = (
    r"(?: (?:command|option|function|statement|program|tool|package|builtin|module|method|parameter"
    r"|setting|utility|pragma|mode|file|variable|clause|keyword))?"
    rf"{_ASIDE}(?:can be used to|(?:is|are) used|(?:provide|allow|let|enable|perform|contain|hold"
    r"|store|represent|specif(?:y|ie)|control|determine|seek|convert|manage|create|list|print"
    r"|display|handle|implement|combine|produce|generate|check|remove|return|set|tell|add|make"
    r"|turn|run|cause|give|take|dissect|examine|prevent|delete|start|stop)(?:e?s)?)\b(?! not\b)"
)
"""The purpose of a thing."""

_SIGN = r"\s*=\s|\s*:\s(?=\W*(?:an?|the|any|one|all|what)\b|(?:[\w'’,()-]+\s+){4})"
"""The sign before a meaning of several words: "Tau: the time …" and not "tau: Invoking."."""

_THERE_FOR = (
    rf"{_ASIDE}(?:(?:is|are|was|were) (?:\w+ )?(?:designed|used|intended|meant|there|made)"
    r" (?:to|for|as)\b|(?:simply |only |also |just )?"
    r"(?!has|was|does|needs|requires|supports|uses|must|this|its|as)[a-z]+(?<!ss)(?<!us)s "
    r"(?:an?|the|any|all|each|up|out)\b)"
)
"""What a thing is made for, or does."""

_MEANS = r"^\W*(?:for|with|in) (?:an? |the )?\W?"

_OTHER_VERB = (
    r"(?:is|are|was|were|has been)\b"
    r"(?! (?:not|no|never|always|only|also|located|created|required|available|automatically"
    r"|(?!designed|used|intended|based|meant|known|called)\w+ed|made|given|found|still)\b)"
)
_BEFORE = r"^\W*(?:(?:today|in short|the|an?)\b,?\s+)*"
_NAMED = (
    r"(?<!so-)(?<!\ba )(?<!\ban )(?<!\bthe )(?<!\beach )"
    r"\b(?:called|known as|termed|named|defined as)\s+(?:the\s+|an?\s+)?\W?"
)
_DONE = r"\b(?:describe[ds]?|define[ds]?|discovered|invented|drew|coined)\s+(?:the|this)\s+"
_IS = (
    r"[”》」]?(?:[（(][^）)]*[）)])?(?:，[^，。]{1,20}，)?(?:也?就|一般|通常|主要)?"
    r"(?:是|指|[为為](?!了)|意味着|描述|表示|即)"
)
_CALLS = r"(?:[称稱][为為作]|叫[做作]?|即|[这這]?就是|所[谓謂])(?:著名的|所谓的)?[“《「]?"


_CONDITION = regex(r"\b(?:if|unless)\b|(?:如果|当|只有).*(?:才是|[：:]\W*$)", re.IGNORECASE)
CONDITIONAL = 0.8
"""The score of a sentence on when a thing is something, instead of what it is."""

STATED = 0.45
"""The score of a sentence on how a thing is: "the handle is hot"."""

_ALSO = r"[”》」]?(?:，?(?:也叫|[又也俗][称稱])|,? also (?:called|known))"


class DefinedTerm(NamedTuple):
    """The term whose meaning a question asks for, as patterns."""

    spelling: str
    """Its name, as it is spelt in the question."""
    terms: frozenset[str]
    pattern: str
    head_pattern: str
    """The noun or the last name that refers to it after its first mention."""


def find_defined_term(question: str) -> DefinedTerm | None:
    """Return what a question like "What is X?", "X是什么？" or a mere "X" asks about, or None."""
    lines = list(map(strip_request_phrases, question.splitlines()))
    found = _THING.search("\n".join(lines))
    named = next(filter(None, found.groups())) if found else _phrase(lines[0] if lines else "")
    named = named.strip(" “”《》「」\"'")
    spelt = re.findall(r"[^\W_]+", named)
    noun = re.findall(r"[^\W_]+", re.split(r" (?:of|in|for|on|by) ", named)[0])
    if not search_words(named) or not noun:
        return None
    return DefinedTerm(
        named,
        frozenset(search_words(named)),
        r"[\s'’_.-]+".join(map(_form, spelt)),
        _form(noun[-1]),
    )


def _phrase(line: str) -> str:
    """Return a thing that is only named, in a few words without a verb; else nothing."""
    found = _PHRASE.fullmatch(line)
    if not found or _NO_CHINESE_PHRASE.search(line):
        return ""
    named = found["en"] or found["zh"]
    return "" if _NO_PHRASE.intersection(named.lower().split()) else named


def score_definition(asked: DefinedTerm, sentence: str, title: str, above: str = "") -> float:
    """Return how well a sentence says what is asked, in 0..1.

    Best is one that begins with the thing and goes on with "is a" or "means"; less worth is one
    that gives it its name, says something else of it, or only begins with it. On a page whose
    title names the thing, its head ("the curve") stands for it. Right below a heading (`above`)
    a sentence counts more, by how much of the heading the thing is.
    """
    named = asked.terms <= set(search_words(title))
    worth = _worth(asked.pattern, sentence)
    if named and not worth:
        worth = 0.6 * _worth(asked.head_pattern, sentence)
        done = re.search(rf"{_DONE}{asked.head_pattern}\b", sentence, re.IGNORECASE)
        worth = max(worth, 0.7 if done else 0.0)
    heading = set(search_words(above))
    about = len(asked.terms) / len(heading) if asked.terms <= heading else 0.0
    return min(1.0, worth + 0.6 * about)


def _worth(name: str, sentence: str) -> float:
    start = rf"{_BEFORE}{name}"
    if re.search(rf"{start}(?:{_ASIDE}{_VERB}|{_IS}|{_SIGN})", sentence, re.IGNORECASE):
        return CONDITIONAL if _CONDITION.search(sentence) else 1.0
    named = rf"(?:{_NAMED}|{_CALLS}){name}|{name}{_ALSO}|^{name} +[-–—‐] (?=[a-z])"
    if re.search(named, sentence, re.IGNORECASE):
        return 0.8
    if re.search(rf"{start}{_THERE_FOR}", sentence, re.IGNORECASE):
        return 0.8
    if re.search(rf"{start}{_ASIDE}{_OTHER_VERB}", sentence, re.IGNORECASE):
        return STATED
    called = rf"{start}(?: [a-z]+){{1,2}} (?:is|are) an? "
    if re.search(
        rf"{start}{_SERVES}|{called}|{_MEANS}{name}[^,.]*, this means", sentence, re.IGNORECASE
    ):
        return 0.6
    begins = re.search(rf"{start}(?!的|[’'\w-]*[’'-])", sentence, re.IGNORECASE)
    return 0.4 if begins else 0.0


def _form(word: str) -> str:
    """Return a pattern for a word in the singular and the plural."""
    return rf"{re.escape(word.removesuffix('s'))}(?:e?s)?" if word.isascii() else re.escape(word)
