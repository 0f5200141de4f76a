"""Tell what of a text may be kept: all but the statements that are doubted or were rejected."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.records import Finding
from report.blocks import blocks, joined, prose, without_gone
from report.leads import letters
from report.render import plain
from report.statements import statements, statements_of
from retrieval.regex import regex
from retrieval.text import language
from retrieval.words import words

OBJECTED = ("objected", "set_right")
"""The reasons of findings that a review rejected in part, and whose other sentences hold.

Of the first something is missing; from the second, wrong sentences were taken out.
"""

SHARED = {"en": 3, "zh": 5}
"""A sentence that a review speaks of without copying it has at least so many of its words."""

_DENIED = regex(
    r"(?:\b(?:not|instead\s+of|rather\s+than|never)|n['’]t|而不是|而非|并非|不是|不)\s*((?:[\w'’-]+\s*){1,4})",
    re.IGNORECASE,
)
_CORRECTS = regex(
    r"\b(?:not|correct\w*|wrong\w*|instead|rather|contradict\w*|mistaken|false|misread\w*|otherwise"
    r"|never|only)\b|n['’]t\b|而不是|而非|并非|不是|[应應][为為改是]|改[为為成]|有[误誤]|[错錯]|不符|相反|更正|[纠糾]正",
    re.IGNORECASE,
)


def stands(finding: Finding) -> bool:
    """Tell whether what a finding says may be kept, and be used by later turns."""
    # One that was not reviewed could not be done again, and has passed the checks alone.
    passed = finding["status"] == "ok" and finding["review"] in ("passed", "")
    return bool(finding["text"]) and (passed or finding["reason"] in OBJECTED)


def rejected(text: str, copied: Sequence[str], feedback: str) -> list[str]:
    """Return the statements of a finding that a review holds to be wrong.

    Args:
        text: The text of the finding.
        copied: Those that the review copied.
        feedback: What it says of the finding, which tells where nothing was copied.
    """
    said = [one for _, part in prose(blocks(text)) for one in statements_of(part)]
    wanted = [letters(plain(one)) for one in copied]
    found = [one for one in said if any(_is_copy(letters(plain(one)), copy) for copy in wanted)]
    if found or copied or not _CORRECTS.search(feedback):
        return found
    about, denied = set(words(feedback)), set(words(" ".join(_DENIED.findall(feedback))))
    told = {one: set(words(plain(one))) for one in said}
    shared = {one: len(about & told[one]) + len(about) * bool(denied & told[one]) for one in said}
    best = max(shared, key=lambda one: shared[one], default="")
    enough = bool(best) and len(about & told[best]) >= SHARED[language(best)]
    return [best] if enough else []


def _is_copy(statement: str, copy: str) -> bool:
    """Tell whether one of two is the other, or a long part of it."""
    short, long = sorted((statement, copy), key=len)
    return bool(short) and short in long and 2 * len(short) > len(long)


def sound(body: str, doubted: Sequence[str]) -> str:
    """Return a text without the statements, and the lines of code, that are doubted."""
    told = {letters(plain(one)) for one in doubted}
    parts = [*blocks(body)] if told else []
    for at, part in enumerate(parts):
        if part.kind == "fence":
            lines = [one for one in part.text.split("\n") if letters(one) not in told]
            parts[at] = part._replace(text="\n".join(lines))
        elif part.kind in ("text", "item", "quote", "row"):
            said = [part.text] if part.kind == "row" else statements(part.text)
            left = "".join(one for one in said if letters(plain(one)) not in told).strip()
            parts[at] = part._replace(text=left, kind=part.kind if left else "gone")
    return joined(without_gone(parts)) if told else body


def quoted(told: str) -> list[str]:
    """Return the sentences that lines on doubts quote, one a line."""
    after = (line.partition("“")[2] for line in told.split("\n"))
    return [one[:-1] for one in after if len(one) > 1 and one.endswith("”")]
