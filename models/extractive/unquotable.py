"""Tell which questions no quotation answers by itself: those that ask to judge, or to count."""

from __future__ import annotations

import re
from typing import Literal

from models.extractive.asking import bare
from models.extractive.counts import counted
from retrieval.regex import regex
from retrieval.text import sentences

_GOOD = (
    "best|better|nicest|nicer|worst|worse|coolest|most (?:useful|beautiful|interesting|fun"
    "|important|elegant|promising|suitable|appropriate|reliable|comfortable|enjoyable)"
    "|(?:more|less) (?:useful|suitable|beautiful|interesting|fun|elegant|reliable)"
)
_FACTUAL = regex(
    r"\bbest (?:way|practice|known|before|sell\w*|effort|case|match\w*|fit\w*)"
    r"|\bat (?:best|worst)\b|\bbest-"
    r"|\bworst[- ]case|\b(?:when|why) (?:should|is|are|was|were)\b|\bhow\b"
    r"|\bwhat happens\b",
    re.IGNORECASE,
)
_JUDGING = regex(
    r"^\W*(?:(?:which|what|who)\b.*\b(?:" + _GOOD + r")\b"
    r"|(?:is|are|was|were|would)\b.*\b(?:" + _GOOD + r"|worth)\b"
    r"|should (?:i|we|one)\b|(?:which|what|who|where)\b.*\bshould (?:i|we|one)\b"
    r"|(?:do|would|did) you (?:think|recommend|suggest|advise|prefer|say|like)\b"
    r"|(?:what|which)\b.*\b(?:do|would) you (?:think|recommend|suggest|advise|prefer)\b"
    r"|what(?:'s| is| are) your (?:opinion|view|take|favou?rite|recommendation)"
    r"|(?:recommend|suggest|advise)\b)"
    r"|\bworth (?:it|\w+ing)\W*$|\bin your opinion\b"
    r"|应该(?=.*(?:吗|还是|哪|什么|选))|[该該]不[该該]|推荐|推薦|建议(?:我|用|选)|值得|更好|最好(?!不|先|在)|哪[个個种種款].*好"
    r"|你(?:觉得|认为|怎么看|喜欢)|[好值]不[好值]",
    re.IGNORECASE,
)
_COUNTING = regex(
    r"\bhow many\b|\bhow often\b|\b(?:number|count) of\b"
    r"|\b(?:average|mean|median|total|sum|percentage)\b"
    r"|多少[个個次条條种種人名篇]|[几幾][个個次条條种種人名篇]|平均|总[数和共]|总计|合计",
    re.IGNORECASE,
)
_MENTIONS = regex(
    r"\bhow (?:many times|often)\b.*\b(?:mention\w*|appear\w*|occur\w*|say|says|use[ds]?"
    r"|named?|cited?|repeat\w*)\b|(?:出现|提到|提及|说了?)(?:过|了)?(?:多少|[几幾])次",
    re.IGNORECASE,
)


def unquotable(question: str, text: str) -> Literal["judging", "counting", ""]:
    """Return what a question asks for that quotes do not give; nothing where they may answer it.

    A number of what is counted that stands in the text is an answer.

    Args:
        question: As it was put.
        text: What was quoted.
    """
    line = bare(question.split("\n")[0])
    if _JUDGING.search(line) and not _FACTUAL.search(line):
        return "judging"
    if _MENTIONS.search(line):
        return "counting"
    said = (sentence.text for sentence in sentences(text))
    if _COUNTING.search(line) and not any(counted(line, sentence) for sentence in said):
        return "counting"
    return ""
