"""Take a question apart where it asks for several things."""

from __future__ import annotations

import re

from retrieval.regex import regex
from tools.tables.mentions import normal
from tools.tables.vocabulary import OPERATIONS

_ENDS = regex(r"(?<=[?？!！。；;])\s*|(?<=[^\d.][.])\s+(?=[A-Z\u4e00-\u9fff])")
_ASKS = (
    r"(?:compare|describe|explain|summari[sz]e|what|which|how|who|when|where|why|list|show"
    r"|give|tell|say|count|compute|calculate)\b"
)
_CLAUSES = regex(
    rf"\s*(?:,|，)?\s*\b(?:and|also)\b,?\s+(?:also\s+|then\s+)?(?=(?:in\s+\S+,\s+)?{_ASKS})"
    r"|\s*[,，]\s*(?:并且?|以及|另外|还有|同时|再)?(?=[^,，。？]*(?:多少|[几幾]|哪|什么|平均"
    r"|总和|说明|列出))"
    rf"|\s*[,，]\s+(?={_ASKS})",
    re.IGNORECASE,
)


_MEASURE = "|".join(OPERATIONS[one].pattern for one in ("average", "median", "total", "min", "max"))
_PAIR = regex(
    rf"(?P<one>{_MEASURE})\s*(?:,|\band\b|\bor\b|&|和|与|以及|及"
    rf"|、)\s*(?:the\s+)?(?P<other>{_MEASURE})",
    re.IGNORECASE,
)
"""Two operations that are asked for at once: `the smallest and the largest`."""


def parts(question: str) -> list[str]:
    """Return the sentences of a question, cut where another thing is asked for."""
    whole = normal(question)
    if pair := _PAIR.search(whole):
        before, after = whole[: pair.start()], whole[pair.end() :]
        return [one for name in ("one", "other") for one in parts(f"{before}{pair[name]}{after}")]
    sentences = [one.strip() for one in _ENDS.split(whole) if one.strip()]
    return [part for one in sentences for part in _clauses(one)]


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence; what only leads up to a question stays with it."""
    found = [one.strip(" ,，") for one in _CLAUSES.split(sentence)]
    kept: list[str] = []
    for one in filter(None, found):
        if kept and not _asks(kept[-1]):
            kept[-1] = f"{kept[-1]}, {one}"
        else:
            kept.append(one)
    return kept


def _asks(clause: str) -> bool:
    return bool(
        re.search(
            rf"\b{_ASKS}|比较|解释|介绍|总结|分析|多少|[几幾]|哪|什么|吗|谁|何|怎|平均|列出|[?？]",
            clause,
            re.I,
        )
    )
