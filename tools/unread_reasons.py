"""Say in Chinese why a file was not read; the reason is stored in English, whoever asks later."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from text.pattern_files import read_packaged_toml
from tools.computed_pages import to_plain_line


@cache
def _read_reasons() -> dict[str, Any]:
    """Return the patterns of all reasons with their Chinese."""
    return read_packaged_toml("tools", "unread_reasons.toml")


def translate_reason(language: str, reason: str) -> str:
    """Return a reason in the language of the person; one that is not known stays as it is."""
    if language != "zh":
        return reason
    for english, chinese in _read_reasons().items():
        if found := re.fullmatch(english, reason):
            return str(chinese).format(*found.groups())
    return reason


def describe_unread_file(name: str, reason: str, language: str) -> str:
    """Return the name of a file with why it was not read, in the language of the person."""
    marks = "（{}）" if language == "zh" else " ({})"
    reason = to_plain_line(translate_reason(language, reason))
    return to_plain_line(name) + marks.format(reason)
