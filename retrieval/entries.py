"""Read the lines of configuration, code and logs: keys with values, and the sections over them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from retrieval.regex import regex

_NAME = r"(?P<quote>[\"']?)(?P<key>[A-Za-z_\u4e00-\u9fff][\w./-]*)(?P=quote)"
_LEAD = r"\s*(?:- |(?:export|const|let|var|set|final|static)\s+)?"
_ASSIGNED = regex(rf"{_LEAD}{_NAME}(?:\s*:\s*[\w\[\], .]+)?\s*[:+]?=(?!=)\s*(?P<value>\S.*)")
_PAIRED = regex(rf"{_LEAD}{_NAME}\s*[:：]\s*(?P<value>[^\s=].*)")
_SECTION = regex(
    rf"\s*\[+(?P<table>[^\[\]\n]+)\]+\s*(?:[#;].*)?$|{_LEAD}{_NAME}\s*(?::|[:=]\s*[{{\[(]|\{{)\s*$"
    r"|\s*(?:(?:async|export|public|private|static)\s+)*(?:def|class|func|fn|function|struct"
    r"|interface|module|namespace)\s+(?P<named>[\w.]+)\s*[(:{<]"
)
_STAMPED = regex(
    r"\s*[\[(<]?(?:\d{4}[-/]\d\d[-/]\d\d\b|\d\d:\d\d:\d\d\b|\d\d/\w{3}/\d{4}\b"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d)"
)
_CODE = regex(
    r"\s*(?:(?:return|raise|yield|await) )?[\w.]+\(|.*[;{}]\s*$"
    r"|\s*(?:import|from [\w.]+ import|#include)\b"
)
_TELLING = regex(r"[=:：{}()\[;<\d#]")
"""One of these stands in every entry but an import, and in few lines of prose."""

_WORDS, _CHARACTERS = 6, 40
"""A value after a colon is no longer than this, or else a line like "Note: …" is prose."""


class Setting(NamedTuple):
    """A key and the value that a line gives it, as they are spelt."""

    key: str
    value: str


def setting(line: str) -> Setting | None:
    """Return the setting that a line makes: `port = 8443`, `"port": 8443,`, `- port: 8443`."""
    assigned = _ASSIGNED.fullmatch(line)
    found = assigned or _PAIRED.fullmatch(line)
    if not found or not found["value"].strip("{[( "):
        return None
    long = len(found["value"]) > _CHARACTERS or len(found["value"].split()) > _WORDS
    return None if long and not assigned else Setting(found["key"], found["value"])


def section(line: str) -> str:
    """Return the name of the section that a line opens: `[server]`, `server:`, `def serve(`."""
    found = _SECTION.match(line)
    return next(filter(None, (found["table"], found["key"], found["named"])), "") if found else ""


# A line is asked about once with the line above it and once with the line below it.
@lru_cache(maxsize=64)
def entry(line: str) -> bool:
    """Tell whether a line is a setting, a line of a log or of code, and no prose and no heading."""
    if not _TELLING.search(line) and "import" not in line:
        return False
    return bool(setting(line) or section(line) or _STAMPED.match(line) or _CODE.match(line))
