"""Give a plan, a step or a section a short title."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from models.extractive.asking import bare
from models.extractive.topic import key_phrase
from retrieval.common import LEAST, weight
from retrieval.regex import regex
from retrieval.text import language, sentences
from retrieval.words import words

LONGEST = 80
"""Characters that a title has at most; Chinese says the same in half of them."""

_TRIED = 8
"""So many sentences of a long text are looked at for a title."""

LATER, POOR = 0.15, 0.5
"""What a title loses for each sentence before its own, and for what makes a title poor."""

_ORDER = regex(
    r"^(?:(?:write|give|provide|prepare|draft|conduct|produce|make)\b[^,.;]{0,60}?"
    r"\b(?:on|about|into|to discuss|(?:overview|summary|list|account|explanation) of)\b *"
    r"|(?:[写寫][一份篇]*|(?:提供|[给給]出)一[份个篇])[^，。]{0,12}(?:[关關][于於]|，))",
    re.IGNORECASE,
)
_WORK = regex(
    r"^(?:(?:please|kindly|could you|can you|would you|i need you to|i want you to|help me)\b,? *"
    r"|(?:research|investigate)(?: and \w+)?(?: for me)?\b *"
    r"|(?:so|and|furthermore|moreover|additionally|finally|also|in addition)\b,? *"
    r"|[请請然你您我]|能[否不](?:能)?|[帮幫为為给給]我|最[后後]，|首先，|另外，|[详詳][细細]"
    r"|(?:收集整理|整理|收集|[调調]研|研究|[学學][习習]|分析|[评評]估)(?:一?下)?|[:：， ])+"
    r"|^(?!\W*(?:what|how|which|why|who|when|where|is|are|do|does|did|can|should)\b|.{0,12}(?:如何|怎|什|哪))"
    r"[^?？。.]{0,100}?[,，:：]\s*(?=(?:what|how|which|why|who|when|where)\b|如何|怎[么样]|[为為]什|是否)",
    re.IGNORECASE,
)
_ASKS = regex(
    r"[?？]\W*$|^\W*(?:what|why|how|who|when|where|which|is|are|do|does|did|can|should|explain"
    r"|describe|compare|trace|analy[sz]e|discuss|evaluate|assess|investigate|explore|review|examine)\b"
    r"|如何|怎[么麼样樣]|什[么麼]|哪|是否|[为為]何|分析|[评評]估|[调調]研|研究|比[较較]|[对對]比|[预預][测測]",
    re.IGNORECASE,
)
_CLAUSE_END = regex(
    r"[.;:?!](?=\s|$)|[，。；：？！]"
    r"|,(?=\s)(?!(?:\s[\w'’-]+){1,4}(?:,|\s(?:and|or)\b))(?!\s(?:and|or)\b)"
)
_PHRASE_END = regex(
    r"\s(?=(?:with|within|in|for|from|by|via|through|using|based on|including|such as|across"
    r"|among|between|under|involving|that|which|who|where|when|while)\b)"
    r"|(?<=\w\w)(?=以及|[和与與及](?!其))",
    re.IGNORECASE,
)
_ASIDE = regex(r"\s*[(（][^()（）]*[)）]")
_PARTICIPLE = regex(r"\s\w{2,}ed$")
_POINTS = regex(r"\b(?:this|these|those|it|they|them|its|their)\b|[这這那该該此其它他她]", re.I)
_DANGLING = regex(r"[\s,，、;；:：]+(?:(?:and|or|but)\b|[和与與及或]|以及)?\s*$", re.IGNORECASE)
"""What a title does not end with: a comma, and the word that joins what is cut off."""

_FRAMES = {"en": "On “{}”", "zh": "关于“{}”"}


def titled(text: str, most: int = LONGEST) -> str:
    """Return `text` as a short title: what is asked, its first letter capital, cut at a good end.

    Of a long text the sentence makes the title that says most of what it is all about.
    """
    first, _, rest = text.strip().partition("\n")
    most = most // 2 if language(text) == "zh" else most
    alone = (
        rest.strip() and len(first) <= most * 5 // 4 and first.rstrip(" )）”’\"'")[-1:].isalnum()
    )
    line = _asked(" ".join((first if alone else text).split()))
    if len(line) > most:
        line = _best(line, most)
    return line[:1].upper() + line[1:]


def framed(title: str, tongue: Literal["zh", "en"]) -> str:
    """Return a title for a text in `tongue`: one in another language stands in quotation marks."""
    if language(title) == tongue:
        return title
    about = key_phrase(title) or title
    return _FRAMES[tongue].format(about.replace(" ", "") if language(title) == "zh" else about)


def _best(text: str, most: int) -> str:
    """Return the best title of a long text: its sentences are tried, each cut to a good end."""
    said = [span.text for span in sentences(text)][:_TRIED]
    about = Counter(word for word in words(text) if weight(word) > LEAST)
    titles = [_short(_worked(one, most), most) for one in said]
    worth = [_worth(one, about) - LATER * at for at, one in enumerate(titles)]
    return titles[worth.index(max(worth))]


def _worth(title: str, about: Counter[str]) -> float:
    """Return how much of a text a title tells, in 0..1, less where it cannot stand alone."""
    most = sum(count for _, count in about.most_common(10)) or 1
    told = min(1.0, sum(about[word] for word in set(words(title))) / most)
    poor = title.endswith("…") + bool(_POINTS.search(title)) + (not _ASKS.search(title))
    return told - POOR * poor


def _asked(line: str) -> str:
    return _ORDER.sub("", bare(line)).strip(" ,，、;；")


def _worked(line: str, most: int) -> str:
    """Return a line without words for the work and asides, as far as it is too long with them."""
    line = _asked(line)
    for unneeded in (_WORK, _ASIDE, _WORK):
        line = unneeded.sub("", line) if len(line) > most else line
    return line


def _short(sentence: str, most: int) -> str:
    """Return a sentence up to the last clause that fits, or a phrase, or else the last word."""
    sentence = sentence.rstrip(" .。")
    if len(sentence) <= most * 5 // 4:
        return sentence
    for end, least in ((_CLAUSE_END, most // 3), (_PHRASE_END, most // 2)):
        ends = [found.start() for found in end.finditer(sentence) if found.start() <= most]
        if ends and ends[-1] >= least:
            return _DANGLING.sub("", _PARTICIPLE.sub("", sentence[: ends[-1]]))
    cut = sentence[: most - 1]
    return _DANGLING.sub("", cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut) + "…"
