"""Recognize text without content: licenses, notices, redirects, lists of links, contents."""

from __future__ import annotations

import re

from text.regex import regex

_MADE = regex(
    r"^\W*+(?:this is \S+, produced by\b"
    r"|(?:this (?:file|page|document|code|module) (?:was|is|has been) )?(?:auto\w*[- ]*)?generated"
    r" (?:by|from|with|using|on)\b|.*\bdo not (?:edit|modify)\b"
    r"|(?:next|prev(?:ious)?|up): [^.]*, (?:prev(?:ious)?|up): |.*\[(?:index|contents)\]\W*$"
    r"|(?<=\[)(?:index|contents)\]\W*$"
    r"|(?:START|END)-INFO-DIR-ENTRY|INFO-DIR-SECTION|File: \S+,\s+Node: )",
    re.IGNORECASE,
)
_LICENSED = regex(
    r"^\W*(?:portions )?(?:copyright\b(?= ?(?:\(c\)|©|\d{4}|by\b))|©|\(c\) ?\d{4}|spdx-)"
    r"|\ball rights reserved\b|\bpermission is (?:hereby )?granted\b|\blicen[sc]ed under the\b"
    r"|\bunder the terms of (?:the|version)\b|\bredistribution and use\b"
    r"|\bwithout (?:\w+ ){0,4}warrant(?:y|ies)\b|\bmust retain the above copyright\b"
    r"|\b(?:gnu|the) (?:\w+ )?general public licen[sc]e\b"
    r"|\bis free software[;,:]|\bfree software foundation\b|\bprovided ['\"“]?as[- ]is\b",
    re.IGNORECASE,
)
_EDITED = regex(
    r"^#!|-\*-.*-\*-|^\W*(?:vim?|ex): ?(?:set?\b|\w+=)|^\W*(?:en)?coding[:=]|^\W*BEGIN INIT INFO",
    re.IGNORECASE,
)


def is_boilerplate(line: str) -> bool:
    """Tell whether a line or sentence is one that any document may begin with."""
    return any(pattern.search(line) for pattern in (_MADE, _LICENSED, _EDITED))


STUB = 400
"""A page of at most this many characters that names another place only redirects there."""

PROSE = 0.25
"""A register has less than this share of its text in sentences."""

LINES = 8
"""The fewest lines of a register."""

_PAGE = r"(?:page|document|article|site|content|section|file|wiki|manual|documentation)s?"
_MOVED = regex(
    rf"^\W*#? ?redirect\b|\b{_PAGE}\b[^.]{{0,80}}\b(?:moved|relocated|renamed|transferred)\b"
    r"|\b(?:has|have|was|were|is) (?:been |now )?(?:permanently )?moved (?:to|here)\b"
    rf"|\bmoved permanently\b|\bredirect(?:s|ed|ing)? (?:you )?to\b|\bnot redirected\b"
    rf"|\b{_PAGE}\b[^.]{{0,40}}\b(?:now (?:lives|at)|can now be found|no longer here)"
    r"|重定向|自动跳转|跳[转轉]到|(?:[页頁]面?|文档|文章|内容|网站)已经?被?[移迁搬转]",
    re.IGNORECASE | re.MULTILINE,
)
_REGISTER = regex(
    r"\b(?:index|(?:table of )?contents|site ?map|toc|permuted|see also|external links"
    r"|list of (?:\w+ ){0,3}(?:pages|articles|documents|links|tables|figures|examples))\b"
    r"|目[录錄次]|索引|网站地图|站点地图|链接列表|参考链接|外部链接",
    re.IGNORECASE,
)
_SENTENCE = regex(r"^\W*(?:\S+ ){6,}\S*[.!?]\W*$|[\u3400-\u9fff，、]{12,}[。！？]|^.{200,}$")
_ADDRESS = regex(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+", re.IGNORECASE)


def is_navigation_page(title: str, text: str) -> bool:
    """Tell whether a page is only a redirect, a list of links, an index or a table of contents."""
    if len(text) <= STUB and _MOVED.search(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < LINES:
        return False
    prose = sum(len(line) for line in lines if _SENTENCE.search(line))
    if prose > PROSE * len(text):
        return False
    addresses = sum(bool(_ADDRESS.search(line)) for line in lines)
    named = f"{title}\n{lines[0]}"
    return bool(_REGISTER.search(named)) or 2 * addresses > len(lines)


def asks_for_navigation(question: str) -> bool:
    """Tell whether a question is for such a page itself."""
    return bool(_REGISTER.search(question)) or "redirect" in question.lower()
