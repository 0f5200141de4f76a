"""Find in sources what gives instructions to the model that reads them, and cut it out.

A source is material, and each prompt says so; a model may still follow what a page tells it. What
is recognised here it never sees: a command to ignore earlier instructions, or words to a model
together with what it is to do, to say, to hide or to give away. Quotations and texts about such
instructions stay as they are, but not a quoted command to ignore others that orders more. Other
wordings pass, so the prompts go on saying it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from prompts.loader import load_prompt_tables
from prompts.quotation_marks import find_quotation

INSTRUCTION_CUT = "[instructions to a program, left out / 此处略去对程序的指令]"
"""What stands in a prompt for the words that were cut out of a source."""

_MAX_GAP = 400  # characters between two signs of one attempt
_MAX_REST = 600  # characters of the paragraph behind it that belong to it
_BEFORE = 250  # characters before a sign in which a text says that it is an example
_DECISIVE = ("address", "override", "new_orders")  # no injection is without one of these signs
_OTHERS = ("secrecy", "answer_order", "disclosure", "command")
_ORDERS = frozenset(["new_orders", "secrecy", "answer_order", "disclosure", "command"])
_ASKS = frozenset(["secrecy", "answer_order", "disclosure"])
_ENDS = re.compile(r"[.!?](?=\s|[\"”’)\]]|$)|[。！？]|\n")
_BARE = 10  # characters of a quotation beside a command without which it orders nothing more
# JSON and what programs print have the ends of lines as two characters.
_ESCAPED = re.compile(r"\\+([nrt])")
_PART = re.compile(r"\{([a-z]\w*)\}")
_CAPITAL = re.compile(r"(?<!\\)[A-Z]")
# A text without one of these has no sign of its own, and is not searched any further.
_HINTS = (
    *("ignore", "disregard", "forget", "override", "system", "developer", "llm", "assistant"),
    *("chatbot", "chat bot", "gpt", "claude", "gemini", "copilot", "ai助", "ai代", "ai模", "ai智"),
    *("ai机", "ai機", "ai系", "忽略", "无视", "無視", "忘", "不要理", "人工智", "模型", "智能"),
    *("系统", "系統"),
)
# Patterns that begin with plain letters are found faster than a choice of them.
_HINT_PATTERNS = tuple(
    map(re.compile, (r"ai(?<!\wai)\b", "language.model", "artificial.intelligence", "the.user"))
)


class _Sign(NamedTuple):
    kind: str
    start: int
    end: int


def has_injection(text: str) -> bool:
    """Tell whether a text gives instructions to the model that reads it."""
    return bool(find_injections(text))


@lru_cache(maxsize=512)
def find_injections(text: str) -> tuple[tuple[int, int], ...]:
    """Return the ends of each part of a text that gives instructions to its reader's model."""
    text = _ESCAPED.sub(_to_space, text) if "\\" in text else text
    lower = _lower(text)
    hinted = any(hint in lower for hint in _HINTS)
    if not hinted and not any(hint.search(lower) for hint in _HINT_PATTERNS):
        return ()
    groups = _group(_list_signs(text, lower))
    return tuple(_widen(text, group) for group in groups if _is_injection(group))


def cut_injections(text: str) -> str:
    """Return a text with `INSTRUCTION_CUT` in the place of each part that instructs models."""
    parts, done = [], 0
    for start, end in find_injections(text):
        parts += [text[done : max(start, done)], INSTRUCTION_CUT]
        done = max(end, done)
    return "".join([*parts, text[done:]])


def _to_space(escaped: re.Match[str]) -> str:
    """Return the space that an escape stands for, in as many characters."""
    return ("\n" if escaped[1] == "n" else " ").ljust(len(escaped[0]))


def _lower(text: str) -> str:
    """Return a text of the same length in small letters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one.lower()[:1] for one in text)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for text in small letters: to ignore the case takes twice as long."""
    return re.compile(_CAPITAL.sub(lambda found: found[0].lower(), _written(name)), re.MULTILINE)


def _written(name: str) -> str:
    text = str(load_prompt_tables("prompt_injection")["patterns"][name]).replace("\n", "")
    return _PART.sub(lambda part: _written(part[1]), text)


def _list_signs(text: str, lower: str) -> list[_Sign]:
    """Return the signs that are not the subject of the text, in its order, if any is decisive."""
    signs = _find_signs(lower, _DECISIVE)
    if not signs:
        return []
    signs += _find_signs(lower, _OTHERS)
    about = [found.start() for found in _pattern("about").finditer(lower)]
    return sorted(
        (one for one in signs if not (_is_quoted(text, one) or _is_subject(text, one, about))),
        key=lambda sign: sign.start,
    )


def _find_signs(lower: str, kinds: Iterable[str]) -> list[_Sign]:
    return [
        _Sign(kind, found.end() - len(found[0].lstrip()), found.end())
        for kind in kinds
        for found in _pattern(kind).finditer(lower)
    ]


def _is_quoted(text: str, sign: _Sign) -> bool:
    """Tell whether a sign is quoted or code; of commands to ignore others, only a bare one is."""
    quotation = find_quotation(text, sign.start)
    if quotation is None or sign.kind != "override":
        return quotation is not None
    rest = text[quotation.start : sign.start] + text[sign.end : quotation.end]
    return len(rest) <= _BARE


def _is_subject(text: str, sign: _Sign, about: list[int]) -> bool:
    """Tell whether a text speaks about such instructions before a sign or in its sentence.

    Args:
        text: The text.
        sign: The sign.
        about: Where the text has words of that subject, in its order.
    """
    stop = _ENDS.search(text, sign.end, sign.end + _BEFORE)
    at = bisect_left(about, sign.start - _BEFORE)
    return at < len(about) and about[at] < (stop.end() if stop else sign.end + _BEFORE)


def _group(signs: list[_Sign]) -> list[list[_Sign]]:
    """Return signs in groups of those that stand close to each other."""
    groups: list[list[_Sign]] = []
    for sign in signs:
        if groups and sign.start - groups[-1][-1].end <= _MAX_GAP:
            groups[-1].append(sign)
        else:
            groups.append([sign])
    return groups


def _is_injection(group: list[_Sign]) -> bool:
    kinds = {sign.kind for sign in group}
    if "override" in kinds:
        return True
    if "address" in kinds:
        return bool(kinds & _ASKS) or {"new_orders", "command"} <= kinds
    return "new_orders" in kinds and len(kinds & _ASKS) > 1


def _widen(text: str, group: list[_Sign]) -> tuple[int, int]:
    """Return the ends of the sentences of a group.

    What is said to a model goes on to the end of its paragraph.
    """
    first, last = group[0].start, max(sign.end for sign in group)
    earliest = max(first - _MAX_REST, 0)
    start = max((end.end() for end in _ENDS.finditer(text, earliest, first)), default=earliest)
    start += len(text[start:first]) - len(text[start:first].lstrip())
    stop = _ENDS.search(text, last - 1)
    end = stop.end() if stop else len(text)
    if stop and stop[0] == "\n":
        end = stop.start()
    paragraph = text.find("\n", end)
    paragraph = len(text) if paragraph < 0 else paragraph
    near = paragraph - end <= _MAX_REST
    told = any(sign.kind in ("address", "override") for sign in group)
    return start, paragraph if told and near and paragraph > end else end
