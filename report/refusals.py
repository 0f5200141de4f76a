"""Recognise an answer that is none: a refusal, an error sent as text, or words without a source."""

from __future__ import annotations

import re
from collections.abc import Collection

from report.caveats import not_found
from report.claims import sort
from report.marks import cites, quotes, spell
from report.markup import unframe
from report.statements import statements
from retrieval.regex import regex
from retrieval.text import in_one_line

CLIPPED = 80
"""How many characters of such an answer are told."""

_ERROR = regex(
    r"\W*(?:<!doctype\b|<html\b|<\?xml\b|\{\s*[\"'](?:error|detail|message)\b"
    r"|(?:\w+\s+){0,2}(?:error|exception)\b\s*(?:\d{3}\b\s*)?[:：]|[45]\d\d\s+[A-Z]"
    r"|(?:[错錯][误誤]|[异異]常|出[错錯])\s*[:：])",
    re.IGNORECASE,
)
_DOES = (
    r"(?:assist|help|comply|fulfil\w*|engage|participate|continue|proceed|provide|offer|share"
    r"|answer|respond|discuss|complete|process|generate|create|produce|write|support|do)"
)
_DECLINES = regex(
    r"\b(?:I|we)\s*(?:\s(?:can|could|will|would|do|am|are)|['’](?:m|re|d))?\s*"
    r"(?:not\b|n?['’]t|\bwon['’]t|\bunable(?=\s+to))\s+(?:\w+ly\s+)?"
    rf"(?:(?:be\s+)?(?:(?:able|allowed|permitted|going|here)\s+)?to\s+)?{_DOES}\b"
    r"|\b(?:I|we)\s+won['’]t\s+be\s+able\s+to\b"
    r"|\b(?:I|we)(?:\s+(?:must|have\s+to|will|would|am|are)|['’](?:d|m|ll))?\s+(?:rather\s+not\b"
    r"|(?:respectfully\s+)?(?:decline|refuse)\b)"
    r"|\bas\s+an?\s+(?:AI|artificial|large|language)\b",
    re.IGNORECASE,
)
_ZH_DECLINES = regex(
    "(?:我|本模型|本助手|作[为為][^，。]{0,8}(?:AI|人工智能|模型|助手)[^。]{0,6}?)[^，。]{0,8}?"
    "(?:[无無]法|不能|不便|不[会會]|不可以|[没沒]有?[办辦]法|不被允[许許])[^，。]{0,6}?"
    "(?:[协協]助|[帮幫]|提供|回答|作答|答[复覆]|回[应應复復]|[满滿]足|[处處]理|完成|[讨討][论論]|[继繼][续續]|生成|[执執]行)"
    "|(?:我|必[须須]|只能)[^，。]{0,4}(?:拒[绝絕]|婉拒)"
    "|(?:抱歉|[对對]不起|很[遗遺]憾)[^。]{0,6}(?:[无無]法|不能|不便)[^，。]{0,6}?"
    "(?:[协協]助|[帮幫]|提供|回答|作答|答[复覆]|回[应應复復]|[满滿]足|[处處]理|完成|[讨討][论論]|[继繼][续續]|生成|[执執]行)"
)
_NAMES_SOURCES = regex(
    r"\b(?:sources?|documents?|passages?|pages?|files?|articles?|excerpts?|extracts?|snippets?"
    r"|findings?|notes|search(?:es)?)\b|段落|[资資]料|[来來]源|文[档檔件章献獻中]|[页頁]面|[网網][页頁]|材料|原文|[检檢]索|搜[索尋]|摘[录錄]",
    re.IGNORECASE,
)

_NOTHING = regex(
    r"\W*(?:nothing\b|none\b|no\s+(?:\w+\s+)?(?:answer|result|information|evidence|match)"
    r"|[沒没]有|[无無](?![法论論]))",
    re.IGNORECASE,
)


def declines(statement: str) -> bool:
    """Tell whether a statement says that its writer will not answer, whatever the sources say."""
    return _unable(statement) and not _NAMES_SOURCES.search(statement)


def _unable(statement: str) -> bool:
    return bool(_DECLINES.search(statement) or _ZH_DECLINES.search(statement))


def answers_nothing(text: str, known: Collection[str]) -> bool:
    """Tell whether a text neither cites nor quotes a source, nor says what was not found.

    Args:
        text: Markdown as a model wrote it.
        known: The ids of the sources that it may cite.
    """
    body = spell(unframe(text), dict.fromkeys(known, ""))
    if cites(body):
        return False
    if _ERROR.match(text):
        return True
    said = [one for line in body.splitlines() for one in statements(line)]
    left = [one for one in said if not declines(one)]
    if len(left) < len(said):
        return not any(map(_silence, left))
    return not (quotes(body) or any(sort(one) == "open" or _silence(one) for one in said))


def _silence(statement: str) -> bool:
    """Tell whether a statement says that the sources do not say something."""
    return bool(_NOTHING.match(statement)) or not_found(statement) or _unable(statement)


def clipped(text: str) -> str:
    """Return the beginning of such an answer in one line, without its tags."""
    return in_one_line(re.sub(r"<[^<>]*>", " ", text), CLIPPED)
