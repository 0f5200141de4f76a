"""Forget in data: whatever JSON and msgpack hold, without making an object of any class."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import ormsgpack

from memory.forgetting.erasure import MARK, Erasure
from prompts.loader import render
from retrieval.regex import regex

PROSE = {
    *("title", "text", "question", "query", "queries", "content", "body", "location", "place"),
    *("description", "thought", "feedback", "note", "abstract", "quote", "value", "message"),
    *("action", "observation", "why", "notices", "searched", "doubted", "knowledge", "args"),
    *("part", "says"),
}
"""Keys whose values are words of people and models even where they are a single word."""

_ONE_WORD = regex(r"[!-~]*")
_TURN = regex(r"(\d+/)(.*)", re.DOTALL)

NUMPY = 6
"""The extension of LangGraph's msgpack that holds an array; all others hold msgpack again."""


class Extension(NamedTuple):
    """What msgpack has of a class: a number, and data that is msgpack itself, or bytes."""

    code: int
    data: Any


def left(value: Any, erasure: Erasure, key: str = "") -> Any:
    """Return what is left of plain data; the very same object where nothing is forgotten."""
    match value:
        case str():
            return left_of_json(value, erasure, key)
        case Extension():
            data = left(value.data, erasure)
            return value if data is value.data else Extension(value.code, data)
        case list() | tuple():
            made = [left(one, erasure, key) for one in value]
            same = all(new is old for new, old in zip(made, value, strict=True))
            return value if same else made
        case dict():
            return _table(value, erasure)
        case _:
            return value


def left_of_json(text: str, erasure: Erasure, key: str = "") -> str:
    """Return what is left of JSON, written as it was; of any other text what is left of that."""
    if text[:1] in ("{", "[", '"'):
        try:
            data = json.loads(text)
        except ValueError:
            return _prose(text, erasure, key)
        made = left(data, erasure, key)
        escaped = "\\u" in text
        return text if made is data else json.dumps(made, ensure_ascii=escaped)
    return _prose(text, erasure, key)


def left_of_msgpack(data: bytes, erasure: Erasure, key: str = "") -> bytes:
    """Return what is left of data as LangGraph saves it, the value of a key if there is one."""
    tree = _unpacked(data)
    made = left(tree, erasure, key)
    return data if made is tree else _packed(made)


def texts_of_msgpack(data: bytes, show: Callable[[str], None]) -> None:
    """Show every text in data as LangGraph saves it."""
    see(_unpacked(data), show)


def see(value: Any, show: Callable[[str], None]) -> None:
    """Show every text in plain data, keys too."""
    match value:
        case str():
            show(value)
        case Extension():
            see(value.data, show)
        case dict():
            for one in (*value, *value.values()):
                see(one, show)
        case list() | tuple():
            for one in value:
                see(one, show)


def _prose(text: str, erasure: Erasure, key: str) -> str:
    # A single word is an id, a status or the name of a node, unless its key says that it is none.
    if key not in PROSE and _ONE_WORD.fullmatch(text):
        return text
    rest = erasure.left(text)
    return text if rest == text else rest


def _table(value: dict[Any, Any], erasure: Erasure) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, one in value.items():
        name = _key(key, erasure)
        while name != key and name in made:
            name = f"{name} {len(made)}"
        made[name] = left(one, erasure, key if isinstance(key, str) else "")
    _source(made, erasure)
    same = list(made) == list(value) and all(made[key] is value[key] for key in made)
    if same:
        return value
    if {"body", "notices", "language"} <= made.keys():
        made["notices"] = _told(made["notices"], made["language"])
    return made


def _key(key: Any, erasure: Erasure) -> Any:
    """Return a key; what the graph has found is kept under the words of its query."""
    if not isinstance(key, str) or _ONE_WORD.fullmatch(key):
        return key
    turn = _TURN.fullmatch(key)
    if turn is None:
        return erasure.left(key)
    words = erasure.left(turn[2])
    return key if words == turn[2] else turn[1] + words


def _source(made: dict[Any, Any], erasure: Erasure) -> None:
    """Forget what names a page or is a passage of it, and that it is cited."""
    if made.get("page") in erasure.pages and "title" in made:
        made |= {name: MARK for name in ("title", "location") if name in made}
    if made.get("source") in erasure.cited and "text" in made:
        made["text"] = MARK
    if erasure.cited & {*_ids(made.get("cited"))}:
        made["cited"] = [one for one in made["cited"] if one not in erasure.cited]


def _ids(cited: Any) -> list[str]:
    return [one for one in cited if isinstance(one, str)] if isinstance(cited, list) else []


def _told(notices: Any, language: str) -> list[str]:
    notice = render("notice_forgotten", language=language).strip()
    return [*(one for one in notices if one != notice), notice]


def _unpacked(data: bytes) -> Any:
    return ormsgpack.unpackb(data, ext_hook=_extension, option=ormsgpack.OPT_NON_STR_KEYS)


def _extension(code: int, data: bytes) -> Extension:
    return Extension(code, bytes(data) if code == NUMPY else _unpacked(data))


def _packed(tree: Any) -> bytes:
    option = (
        ormsgpack.OPT_NON_STR_KEYS
        | ormsgpack.OPT_PASSTHROUGH_TUPLE
        | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    )
    return ormsgpack.packb(tree, default=_default, option=option)


def _default(value: Any) -> Any:
    if isinstance(value, Extension):
        data = value.data if isinstance(value.data, bytes) else _packed(value.data)
        return ormsgpack.Ext(value.code, data)
    if isinstance(value, tuple):
        return list(value)
    msg = f"msgpack has no {type(value).__name__}"
    raise TypeError(msg)
