"""Tell lines that say nothing of what a document is about: licences, generators, editors' marks."""

from __future__ import annotations

import re

from retrieval.regex import regex

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


def boilerplate(line: str) -> bool:
    """Tell whether a line or sentence is of the kind that any document may begin with."""
    return any(pattern.search(line) for pattern in (_MADE, _LICENSED, _EDITED))
