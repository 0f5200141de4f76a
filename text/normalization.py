"""Normalize text: to store it, to show it in one line, to find a quote in it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from text.regex import regex
from text.script import CJK
from text.sentences import Span

_LETTER = "[^\\W\\d_]"
# Lines may have been joined after a soft hyphen; the one in "pre- and postwar" is not soft.
_SOFT = "[\u2010\u00ad][^\\S\n]+(?!(?:and|or|to)\\b)"
_BROKEN = f"(?<={_LETTER})(?:[-\u2010\u00ad][^\\S\n]*\n\\s*|{_SOFT})(?={_LETTER})"
_INSIDE = regex(f"(?<={_LETTER})-(?={_LETTER})")
_ODD = regex(
    f"(?P<hyphen>{_BROKEN})"
    "|(?P<space>\\s{2,}|[^\\S ]|(?<![!-~]) | (?![!-~]))"
    "|(?P<single>[\u2018\u2019\u201a\u201b\u2032`\u00b4])"
    "|(?P<double>[\u201c-\u201f\u2033\u00ab\u00bb\u300c-\u300f\u301d-\u301f])"
    "|(?P<dash>[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+)"
    "|(?P<unseen>[\u00ad\u200b-\u200d\u2060\ufeff]+)"
    f"|(?P<other>[!-~]?[\u0300-\u036f]+|[^\\x00-\\x7f{CJK}][\u0300-\u036f]*)"
)
_BECOMES = {"single": "'", "double": '"', "dash": "-", "unseen": ""}
_CJK_OR_ITS_MARKS = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]")


class _Folded(NamedTuple):
    """A folded text, with the start and the origin of each of its pieces.

    A changed piece has both ends of its origin; the end of an unchanged one is 0.
    """

    text: str
    starts: list[int]
    origins: list[tuple[int, int]]

    def unfolded(self, first: int, last: int) -> tuple[int, int]:
        """Return where a character of the folded text begins in the unfolded one, and one ends."""
        return self._origin(first)[0], self._origin(last)[1]

    def _origin(self, at: int) -> tuple[int, int]:
        piece = bisect_right(self.starts, at) - 1
        start, end = self.origins[piece]
        inside = start + at - self.starts[piece]
        return (start, end) if end else (inside, inside + 1)


def fold_text(text: str) -> str:
    """Return `text` in the form in which quotes are compared; case is kept.

    NFKC; white space collapsed, and dropped beside Chinese, kana and hangul; quotation marks,
    dashes and soft hyphens made plain; a word broken over two lines joined.
    """
    if _plain(text):
        return text
    return _fold(text, "").text.strip()


def locate_folded(quote: str, text: str) -> tuple[int, int] | None:
    """Return the ends of `quote` in `text`, both folded for the comparison, or None."""
    wanted = fold_text(quote)
    if not wanted:
        return None
    start = text.find(quote.strip())
    if start >= 0:
        return start, start + len(quote.strip())
    # A hyphen at the end of a line is either typography ("inter-national") or spelling
    # ("well-known"), and whoever joined the lines may have confused the two.
    place = _locate(wanted, _fold(text, ""))
    if place is None and re.search(_BROKEN, text):
        place = _locate(wanted, _fold(text, "-"))
    return place or _locate_unhyphenated(wanted, _fold(text, ""))


def _locate(wanted: str, folded: _Folded) -> tuple[int, int] | None:
    at = folded.text.find(wanted)
    return None if at < 0 else folded.unfolded(at, at + len(wanted) - 1)


def _locate_unhyphenated(wanted: str, folded: _Folded) -> tuple[int, int] | None:
    """Return the ends of `quote` in `text` regardless of the hyphens in compounds, or None."""
    bare = _INSIDE.sub("", wanted)
    at = _INSIDE.sub("", folded.text).find(bare)
    if at < 0:
        return None
    left_out = [hyphen.start() - n for n, hyphen in enumerate(_INSIDE.finditer(folded.text))]
    last = at + len(bare) - 1
    return folded.unfolded(at + bisect_right(left_out, at), last + bisect_right(left_out, last))


def _plain(text: str) -> bool:
    """Tell whether a text is folded already, as most questions are: printable ASCII in one line."""
    odd = "`" in text or "--" in text or text != " ".join(text.split())
    return text.isascii() and text.isprintable() and not odd


@lru_cache(maxsize=8)
def _fold(text: str, hyphen: str) -> _Folded:
    pieces: list[str] = []
    starts, origins = [0], [(0, 0)]
    done = length = 0
    for odd in _ODD.finditer(text):
        plain, new = text[done : odd.start()], _replacement(odd, hyphen)
        length += len(plain)
        starts += [length, length + len(new)]
        origins += [odd.span(), (odd.end(), 0)]
        pieces += [plain, new]
        length, done = length + len(new), odd.end()
    return _Folded("".join([*pieces, text[done:]]), starts, origins)


def _replacement(odd: re.Match[str], hyphen: str) -> str:
    kind = odd.lastgroup or ""
    if kind == "hyphen":
        return hyphen
    if kind == "other":
        return unicodedata.normalize("NFKC", odd[0])
    if kind == "space":
        around = odd.string[max(odd.start() - 1, 0) : odd.start()]
        around += odd.string[odd.end() : odd.end() + 1]
        return "" if _CJK_OR_ITS_MARKS.search(around) else " "
    return _BECOMES[kind]


_BREAKS = regex("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = regex(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
# Letters and a symbol that are displayed as blank space.
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_NOTHING = frozenset(["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"])


def normalize_text(text: str) -> str:
    r"""Return `text` in NFC with `\n` line ends, without control, bidi and surrogate characters.

    A vertical tab, a form feed and the Unicode line separators become `\n`.
    """
    return unicodedata.normalize("NFC", _UNSEEN.sub("", _BREAKS.sub("\n", text)))


def to_one_line(text: str, most: int) -> str:
    """Return a text in one line of at most `most` characters, truncated with "…"."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def cut_at_word(text: str, most: int) -> str:
    """Return a text in one line of at most `most` characters, with "…" for the words left out.

    Where no word ends in its second half, as in Chinese, it is cut between two characters.
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    end = line.rfind(" ", most // 2, most)
    kept = line[: end if end > 0 else most - 1].rstrip(" ,;:，；：、")
    return f"{kept}…"


def is_blank(text: str) -> bool:
    """Tell whether a text has only spaces, invisible characters and marks on no letter."""
    return all(one in _FILLERS or unicodedata.category(one) in _NOTHING for one in text)


def find_quote(quote: str, text: str) -> Span | None:
    """Return the place in `text` that reads like `quote` when both are folded, or None."""
    place = locate_folded(quote, text)
    return Span(*place, text[slice(*place)]) if place else None


MAX_ACTION_CHARS = 2_000
"""The longest stored text of an utterance or action, in characters."""


def clip_long_text(text: str) -> str:
    """Return a text as it is stored: only the beginning and the end of a long one."""
    clean, half = drop_unstorable(text), MAX_ACTION_CHARS // 2
    return clean if len(clean) <= MAX_ACTION_CHARS else f"{clean[:half]} … {clean[-half:]}"


def drop_unstorable(text: str) -> str:
    """Return a text without lone surrogates and null characters, which databases reject."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")
