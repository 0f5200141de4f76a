"""Read Markdown as plain paragraphs; a place is the anchor of a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

from retrieval.regex import regex
from tools.files.decode import decode
from tools.files.markup import blocks, parse
from tools.files.outline import Block, outline
from tools.files.shapes import Document, File

_FRONT = regex(r"\A(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = regex(r"^title[ \t]*[:=][ \t]*(?:[>|][+-]?[ \t]*\n[ \t]+)?(.*)$", re.MULTILINE | re.I)


def read(file: File) -> Document:
    """Read Markdown; its title is in its front matter (YAML or TOML) or its first heading."""
    text = decode(file.data).replace("\r\n", "\n")
    front = _FRONT.match(text)
    title = _TITLE.search(front[0]) if front else None
    body = text[front.end() :] if front else text
    return outline(as_blocks(body), title[1].strip(" \t\"'") if title else "")


def as_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a text in Markdown."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    return blocks(parse(f"<body>{page}</body>"))
