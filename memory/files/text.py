"""What a memory file says to a model: its text without comments and invisible characters."""

from __future__ import annotations

import re
from functools import lru_cache

from config.errors import Problem
from retrieval.regex import regex

LARGEST = 65_536
"""The largest memory file, in bytes; every model call reads it."""

# Whatever begins first wins: a comment in a code block is an example, a fence in a comment is none.
MARKUP = regex(
    r"^[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$"
    r"(?:.*?^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|.*\Z)"
    r"|(?<!`)(?P<code>`+)(?!`)[^\n]*?(?<!`)(?P=code)(?!`)"
    r"|(?P<comment><!--)",
    re.DOTALL | re.MULTILINE,
)
"""Code blocks, code in a line, and beginnings of comments (CommonMark 0.31: 4.5, 6.1, 6.6)."""

# Control characters, which a terminal may obey, soft hyphens, zero-width and direction marks, byte
# order marks, and the tags and variation selectors of plane 14, in which sentences can be hidden.
INVISIBLE = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
    "|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e0fff]"
    # Joiners belong to the writing of many languages, and to emoji, but not between ASCII.
    "|(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])|[\u200c\u200d]{2,}"
)


def decoded(data: bytes, where: str) -> str:
    """Return the text of a file, to the letter.

    Raises:
        Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
    """
    if len(data) > LARGEST:
        raise too_large(len(data), where)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        what, hint = "it is no text in UTF-8", "save it as UTF-8"
        raise Problem("memory_file_unreadable", what, where=where, hint=hint) from error


def too_large(size: int, where: str) -> Problem:
    """Return the problem of a file that would fill every call."""
    what = f"it has {size} bytes, the most is {LARGEST}"
    return Problem("memory_file_too_large", what, where=where, hint="keep what matters")


@lru_cache(maxsize=256)
def shown(text: str) -> str:
    """Return what of a text a model is shown: no comments outside of code, nothing invisible."""
    return visible(_uncommented(text)).strip()


def _uncommented(text: str) -> str:
    kept: list[str] = []
    at = 0
    while found := MARKUP.search(text, at):
        kept.append(text[at : found.start()])
        at = found.start()
        if not found["comment"]:
            kept.append(found[0])
            at = found.end()
        # The two dashes of a beginning may be those of the end, in a comment without words.
        elif (end := text.find("-->", at + len("<!"))) >= 0:
            at = end + len("-->")
        else:
            break
    return "".join([*kept, text[at:]])


def visible(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return INVISIBLE.sub("", text)
