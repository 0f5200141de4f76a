"""Take out of a model's text what a model may not write: addresses, links, images and HTML."""

from __future__ import annotations

import re

from retrieval.text import normalise

URL = re.compile(
    r"[ \t]?(?:[a-z][a-z0-9+.-]{1,20}://"
    r"|(?<![a-z0-9])(?:www\.|(?:javascript|vbscript|mailto):(?=\S)|data:(?=\w+/)))"
    r"[!#-;=?-Z_a-z~%]*[A-Za-z0-9/#=&_~%+$@-]",
    re.IGNORECASE,
)
"""A web address, or another kind of address that a reader could be sent to."""

_LABEL = r"((?:[^\[\]]|\[[^\[\]]*\]){0,500})"
_TARGET = r"\((?:[^()]|\([^()]*\)){0,2000}\)"
_IMAGE = re.compile(rf"[ \t]?!\[{_LABEL}\]\s?(?:{_TARGET}|\[[^\[\]\n]*\])")
_LINK = re.compile(rf"\[{_LABEL}\]{_TARGET}")
_REST_OF_LINK = re.compile(rf"(?<=\]){_TARGET}")
_DEFINITION = re.compile(
    r"^[ \t]{0,3}\[[^\]\n]+\]:[ \t]*\S+[ \t]*"
    r"(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))?[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_TAG = re.compile(r"<(?:/?[A-Za-z]|!|\?)[^<>]*>")
_BREAK = re.compile(r"<\s*br\s*/?\s*>", re.IGNORECASE)
_EMPTY = re.compile(r"[ \t]\([ \t]*\)|（[ \t]*）")

_REPEATED = re.compile(r"([^\w\s])\1{80,}")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_BEFORE = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"\A\s*#[ \t]+[^\n]*(?:\n|\Z)")
_HEADING = re.compile(r"^(?:#{1,6}[ \t]+|\*\*)(?:\d+[.、]?\s*)?([^\n]*)$", re.MULTILINE)
_LISTS = {
    "bibliography",
    "citations",
    "reference list",
    "references",
    "source list",
    "sources",
    "works cited",
    "参考文献",
    "参考来源",
    "参考资料",
    "引用来源",
    "来源",
    "资料来源",
}


def strip(text: str) -> str:
    """Return `text` without addresses, links, images and HTML; what a link says is kept."""
    text = _BREAK.sub(" ", text)
    text = _LINK.sub(_label, _IMAGE.sub("", text))
    text = _TAG.sub("", _REST_OF_LINK.sub("", text))
    return _EMPTY.sub("", URL.sub("", text))


def unframe(body: str) -> str:
    """Return what a model meant for the reader.

    Left out are its thoughts, a title line, definitions of links and a list of references at the
    end: title and references are added from the registry.
    """
    body = _THOUGHT_BEFORE.sub("", _THOUGHT.sub("", normalise(body)))
    body = _REPEATED.sub(lambda run: run[0][:80], body)
    body = _DEFINITION.sub("", _TITLE.sub("", body))
    headings = list(_HEADING.finditer(body))
    if headings and headings[-1][1].strip(" #*:：_").lower() in _LISTS:
        return body[: headings[-1].start()]
    return body


def _label(link: re.Match[str]) -> str:
    """Return what a link says; a number or an id between brackets is a citation, not words."""
    label = link[1].strip()
    if re.fullmatch(r"\^?\d{1,3}", label):
        return "[?]"
    return f"[{label}]" if re.fullmatch(r"S\d+", label) else label
