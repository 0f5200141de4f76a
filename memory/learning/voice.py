"""Tell a person's own words from what they pasted, quoted or asked."""

from __future__ import annotations

import re
import unicodedata

from retrieval.regex import regex
from retrieval.text import find, normalise, sentences

PASTED = 600
"""A paragraph of so many characters was pasted, not said."""

_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HIDDEN = regex("[\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_TAGS = regex("[\U000e0000-\U000e007f]")
_CODE = regex(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = regex('["“„«「『][^"“”„«»「」『』]{12,}["”»」』]')

_FIRST = regex(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[我咱俺]|本人", re.IGNORECASE)
_OWN_THING = regex(r"\b(?:my|our)\b|^(?:My|Our)\b|(?<![《〈「『])(?:[我咱俺][们們]?的|我家)")
_ASKS = regex(
    r"[?？]\s*$|^\W*(?:(?:please|pls|now|so|and|then|also|ok|okay|hi|hey|hello)\W+)*"
    r"(?:what(?:s)?|why|how|who|whose|when|where|which|is|are|was|were|do|does|did|can|could|would"
    r"|will|should|shall|may|tell|show|give|find|explain|describe|compare|list|write|search|look"
    r"|summari[sz]e|translate|research|analy[sz]e|help|let|check|make|read|quote|name|define"
    r"|discuss|review|outline|calculate|(?:i )?(?:want|need|wish|would like|wonder)|i'd like"
    r"|i(?:'m| am) (?:looking|trying|wondering))\b"
    r"|^\W*(?:[请請][问問]|[请請]?[帮幫为為给給]我|我想|我要|我需要|告[诉訴]我|[请請](?:解|介|比|查|找|写|說|说)"
    r"|收集|整理|分析|[调調][查研]|[评評]估|[对對]比|比[较較]|介[绍紹]|解[释釋]|[总總][结結]|研究|列出)"
    r"|[帮幫为為给給][我咱](?![们們的])|告[诉訴]我"
    r"|[吗嗎呢么麼]\s*+[?？。]?\s*$",
    re.IGNORECASE,
)


def clean(text: str) -> str:
    """Return a text in NFKC without what a reader does not see: comments, invisible characters."""
    shown = unicodedata.normalize("NFKC", _TAGS.sub("", _COMMENT.sub(" ", text)))
    return normalise(_HIDDEN.sub("", shown))


def spoken(message: str) -> str:
    """Return what a person says in a message in their own voice.

    Code, lines that are quoted, long quotations and paragraphs that were pasted are left out: what
    stands there may be anybody's.
    """
    text = _CODE.sub("\n\n", clean(message))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith(">")]
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
    said = [part for part in paragraphs if len(part) < PASTED]
    return _QUOTED.sub(" … ", "\n\n".join(said))


def quoted_in(quote: str, message: str) -> list[str]:
    """Return the sentences of the person's own in which a quote stands; none where it does not."""
    said = spoken(message)
    place = find(clean(quote), said)
    if place is None:
        return []
    held = [one for one in sentences(said) if one.start < place.end and place.start < one.end]
    return [one.text for one in held]


def asks(sentence: str) -> bool:
    """Tell whether a sentence asks or orders something now."""
    return bool(_ASKS.search(sentence))


def in_person(text: str) -> bool:
    """Tell whether a text speaks of whoever says it."""
    return bool(_FIRST.search(text))


def tells(sentence: str) -> bool:
    """Tell whether a sentence says something of the person who speaks.

    A question says so much at least as it names a thing of theirs: "Why do my bees die?"
    """
    return bool(_OWN_THING.search(sentence)) if asks(sentence) else in_person(sentence)
