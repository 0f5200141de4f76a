"""Read HTML without the menus around it; a place is the anchor of a heading."""

from __future__ import annotations

import re

from retrieval.regex import regex
from tools.files.article import read_article
from tools.files.decode import decode
from tools.files.outline import Block, outline
from tools.files.shapes import Document, File

_HEADER = 4_000
# What browsers and mirroring programs write into the head of a copy.
_MIRRORED = regex(
    r"<!--[^>]{0,200}?(?:saved from url=\(\d+\)|mirrored from |source: ?|archived from )"
    r"((?:https?://)?[\w-]+\.[^\s<>\"']{3,500})",
    re.IGNORECASE,
)


def read(file: File) -> Document:
    """Read the text of a page; its title is in its metadata or its first heading."""
    text = decode(file.data, markup=True)
    found = read_article(text)
    mirrored = _MIRRORED.search(text[:_HEADER])
    origin = [Block(f"Source: {_address(mirrored[1])}")] if mirrored else []
    return outline([*origin, *found.blocks], found.title)


def _address(text: str) -> str:
    return text if "://" in text else f"https://{text}"
