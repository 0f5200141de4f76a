"""Find in source code what it says of itself: its docstrings, its comments, its names."""

from __future__ import annotations

import re

from retrieval.boilerplate import boilerplate
from retrieval.regex import regex

_CODED = regex(
    r"[{};]\s*$|^\s*(?:#include\b|(?:from|import|package|use|using)\s+[\w.:<\"*{]"
    r"|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[:({]|return\b|else\b|elif\s|if\s*\(|for\s*\("
    r"|(?:export|public|private|static|const|let|var|fn|func|struct|enum)\s+\w|@\w+"
    r"|\w[\w.\[\]]*\s*(?:=|:=|\+=)\s*\S|\w[\w.]*\(.*\)\s*:?$"
    r"|(?:fi|done|esac|do|then|echo|exit|set|case|while)\b)|\$[{(]?\w|\|\||&&"
)
_COMMENTED = regex(r"^\s*(?:#(?!include|define|if|else|end|pragma)|//|--\s|/?\*|;;|%|\"\"\"|''')")
_DOCSTRING = regex(
    r"(?:\"\"\"|''')(?P<python>.*?)(?:\"\"\"|''')|/\*+(?P<c>.*?)\*/"
    r"|(?P<lines>(?:^[ \t]*(?:#(?!!|include|define|if|else|end|pragma)|//+!?|--(?=\s)|;;+|%+)"
    r"[^\n]*\n?)+)",
    re.DOTALL | re.MULTILINE,
)
_APART = "\0"
_SIGN = regex(r"^[ \t]*(?:#+|//+!?|--|;;+|%+|\*+(?!\*))[ \t]?", re.MULTILINE)
_NAMED = regex(
    r"^[^\S\n]*(?:export |public |private |static |async |pub )*(?:def|class|fn|func|function"
    r"|struct|enum|interface|trait|type)\s+(?P<name>\w+)",
    re.MULTILINE,
)

SHARE = 0.4
"""A text is code if so many of its lines can be nothing else, comments aside."""

NAMES = 12
"""So many names are told of code that has no words."""


def is_code(text: str) -> bool:
    """Tell whether a text is source code."""
    lines = [line for line in text.splitlines() if line.strip() and not _COMMENTED.match(line)]
    coded = sum(bool(_CODED.search(line)) for line in lines)
    return len(lines) >= 3 and coded >= SHARE * len(lines)


def described(text: str) -> str:
    """Return the words of source code about itself, or else the names that it defines."""
    blocks = [_words(found[found.lastgroup or 0]) for found in _DOCSTRING.finditer(_closed(text))]
    said = "\n\n".join(filter(None, blocks))
    names = [found["name"] for found in _NAMED.finditer(text)]
    return said or ", ".join(list(dict.fromkeys(names))[:NAMES])


def _closed(text: str) -> str:
    """Return a text in which no comment begins that does not end; each would be read to its end."""
    head, end, rest = text.rpartition("*/")
    return head + end + rest.replace("/*", f"/{_APART}*")


def _words(comment: str) -> str:
    """Return the sentences of a comment, without signs, rules and boilerplate."""
    paragraphs = re.split(r"\n\s*\n", _SIGN.sub("", comment.replace(_APART, "")))
    kept = (" ".join(one.split()) for one in paragraphs if not boilerplate(" ".join(one.split())))
    return "\n\n".join(one for one in kept if len(re.findall(r"[^\W\d_]+", one)) > 2)
