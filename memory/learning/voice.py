"""Tell a person's own words from what they pasted, quoted or asked."""

from __future__ import annotations

import re
import unicodedata

from memory.learning.pasted import COLON, HANDLED, ITEM, LAYOUT, NOUN, TOLD, VAGUE
from memory.learning.patterns import DENIED, LEAD, NOTE, WISH, without
from retrieval.regex import regex
from retrieval.text import find, normalise, sentences
from retrieval.words import QUESTION_WORDS, words

PASTED = 600
"""A paragraph of so many characters was pasted, not said."""

QUESTION = regex(r"[?？]\s*$|[吗嗎呢]\s*+[?？。.]?\s*$")
"""The end of a question, which states nothing."""

TOPIC = 2
"""So many words of its own has a question that needs no text beside it."""

POINTING = 4
"""So many has one that also says "this" or "they"."""

INSTRUCTION = regex(
    r"^(?:always|never|do not|don['’]t|use|prefer|avoid|keep|make|answer|reply|respond|write|cite"
    r"|give|include|show|quote|call|address|start|begin|end|put|add|format|mention|convert|name"
    r"|state|leave out|omit|skip|stop|spell|round|be|limit|say|treat|mark)\b"
    r"|^(?:[请請]|不要|[别別]|勿|[总總]是|始[终終]|永[远遠]|每次|避免|[优優]先|使用|用|引用|[写寫]|[给給]出|[标標]明"
    r"|回答|[报報]告|[数數]字|日期|[单單]位)",
    re.IGNORECASE,
)
"""How somebody begins who says how things are to be done."""

_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HIDDEN = regex("[\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_TAGS = regex("[\U000e0000-\U000e007f]")
_CODE = regex(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_QUOTED = regex('["“„«「『][^"“”„«»「」『』]{12,}["”»」』]')
_SINGLE = regex(r"(?<!\w)['‘‚‹](?:[^'’‘\n]|['’](?=\w)){12,300}['’›](?!\w)")
_GAP = regex(r"\n\s*\n")

_FIRST = regex(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[我咱俺]|本人", re.IGNORECASE)
_OWN_THING = regex(r"\b(?:my|our)\b|^(?:My|Our)\b|(?<![《〈「『])(?:[我咱俺][们們]?的|我家)")
_SUBJECT = regex(
    r"^(?:(?:yes|sure|currently|usually|sometimes|today|these days|now|recently|personally"
    r"|(?:in|at|on|for|since|with|as|because|during|after|before)\b[^.;:?!]{0,40}?),? )?"
    r"(?:i|i['’]\w+|my|we|we['’]\w+|our)\b"
    r"|^(?:(?:好的?|是的?|[对對]|嗯)[,。!]?)?(?:[现現]在|目前|平[时時]|以前|因[为為]|作[为為][^,。]{1,12},|在[^,。我]{1,8},?)?(?:[我咱俺]|本人)",
    re.IGNORECASE,
)
"""What begins with whoever speaks."""

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

    It ends where another text may begin. A message that is laid out like a mail or a table, or that
    asks something about a text, has nothing of the kind: that text may stand anywhere in it.
    """
    text = clean(message)
    if LAYOUT.search(text):
        return ""
    text = unquoted(text[: _pasted(text)])
    said = sentences(text)
    if any(HANDLED.search(one.text) for one in said):
        return ""
    listing = False
    for at, one in enumerate(said):
        rest = _said(one.text)
        if TOLD.search(rest) or COLON.search(rest) or (ITEM.match(one.text) and not listing):
            return text[: one.start].rstrip()
        listing = not rest or listing
        after = text[one.end : said[at + 1].start] if said[at + 1 :] else ""
        if "\n" in after and not (listing or _stands_alone(one.text)):
            return text[: one.end]
    return text.rstrip()


def unquoted(text: str) -> str:
    """Return a text with "…" in place of each quotation."""
    return _SINGLE.sub(" … ", _QUOTED.sub(" … ", text))


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
    if asks(sentence):
        return bool(_OWN_THING.search(sentence))
    rest = _said(sentence)
    own = INSTRUCTION.match(rest) and _OWN_THING.search(rest)
    return bool(own or _SUBJECT.match(rest))


def instructs(sentence: str) -> bool:
    """Tell whether a sentence says from its beginning how things are to be done, or liked."""
    if QUESTION.search(sentence):
        return False
    return bool(INSTRUCTION.match(sentence) or WISH.match(sentence) or _SUBJECT.match(sentence))


def _pasted(text: str) -> int:
    """Return where code or a paragraph begins that is too long to have been typed."""
    code = _CODE.search(text)
    ends = [*(gap.start() for gap in _GAP.finditer(text)), len(text)]
    starts = [0, *(gap.end() for gap in _GAP.finditer(text))]
    long = (start for start, end in zip(starts, ends, strict=True) if end - start >= PASTED)
    return min(code.start() if code else len(text), next(long, len(text)))


def _said(sentence: str) -> str:
    """Return a sentence without the words that only lead to what it says."""
    return without(NOTE, without(DENIED, without(LEAD, sentence)))


def _stands_alone(sentence: str) -> bool:
    """Tell whether a sentence is one of the person's own, and no hint at what the next line is."""
    rest = without(LEAD, sentence)
    if NOUN.search(rest):
        return False
    if asks(rest):
        topic = [word for word in words(rest) if word not in QUESTION_WORDS]
        return len(topic) >= (POINTING if VAGUE.search(rest) else TOPIC)
    known = (NOTE, DENIED, WISH, _SUBJECT, INSTRUCTION)
    return not rest or any(pattern.match(rest) for pattern in known)
