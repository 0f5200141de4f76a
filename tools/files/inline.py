"""Write what HTML raises, lowers or draws in plain characters: powers, indices and formulas."""

from __future__ import annotations

import re
from typing import Any

from retrieval.regex import regex

DRAWN = frozenset(["img", "math", "sub", "sup"])
"""The elements whose words are not simply their text."""

_NOTE = regex(r"\W*[\[(]?(?:note |nb )?\d{1,3}[\])]?\W*|[a-z]", re.IGNORECASE)
_ORDINAL = regex(r"st|[nr]d|th|er?|re|ème|[ao]", re.IGNORECASE)
_ONE = regex(r"-?\w+(?:\.\w+)?")
_ELEMENT = regex(r"(?:[A-Z][a-z]?|\))\d*$")
_TEX = regex(r"\{\\displaystyle (.*)\}|\$(.*)\$", re.DOTALL)


def drawn(node: Any, before: str) -> str:
    r"""Return what stands for an element in a line of text.

    `2<sup>32</sup>` is 2^32, `x<sub>i</sub>` is x_i, a formula its TeX; `H<sub>2</sub>O` is H2O,
    `1<sup>st</sup>` is 1st, and the number of a footnote stands in brackets.

    Args:
        node: The element.
        before: What stands before it in the line.
    """
    if node.tag == "math":
        return _formula(node)
    if node.tag == "img":
        return _picture(node)
    text = " ".join(node.text_content().split())
    if not text or not before.strip() or before[-1].isspace():
        return text
    return _raised(node, text, before) if node.tag == "sup" else _lowered(text, before)


def _raised(node: Any, text: str, before: str) -> str:
    if node.find(".//a") is not None and _NOTE.fullmatch(text):
        return f"[{text.strip('[]() ')}]"
    if _ORDINAL.fullmatch(text) and before[-1].isdigit():
        return text
    return f"^{_grouped(text)}" if any(map(str.isalnum, text)) and text[0] not in "[(" else text


def _lowered(text: str, before: str) -> str:
    if text.isdigit() and _ELEMENT.search(before):
        return text
    return f"_{_grouped(text)}" if any(map(str.isalnum, text)) else text


def _grouped(text: str) -> str:
    text = text.replace("\u2212", "-")
    return text if _ONE.fullmatch(text) else f"({text})"


def _formula(node: Any) -> str:
    """Return the TeX that a formula carries with it, or else its signs."""
    notes = (one for one in node.iter() if str(one.tag).endswith("annotation"))
    tex = next((one.text or "" for one in notes), "") or node.get("alttext", "")
    return _bare(" ".join((tex or node.text_content()).split()))


def _picture(node: Any) -> str:
    """Return the formula that a picture shows; other pictures say nothing."""
    alt = " ".join(node.get("alt", "").split())
    return _bare(alt) if _TEX.fullmatch(alt) else ""


def _bare(tex: str) -> str:
    found = _TEX.fullmatch(tex)
    return (found[1] or found[2] or "").strip() if found else tex
