"""Read Markdown as plain paragraphs; a place is the anchor of a heading."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from tools.files.decode import decode
from tools.files.markup import blocks, parse
from tools.files.outline import outline
from tools.files.shapes import Document, File

_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*\n", re.DOTALL)
_TITLE = re.compile(r"^title:(.*)$", re.MULTILINE)


def read(file: File) -> Document:
    """Read Markdown; its title is in its front matter or its first heading."""
    text = decode(file.data).replace("\r\n", "\n")
    front = _FRONT.match(text)
    title = _TITLE.search(front[0]) if front else None
    body = text[front.end() :] if front else text
    page = MarkdownIt("commonmark").enable("table").render(body)
    return outline(blocks(parse(f"<body>{page}</body>")), title[1].strip(" \t\"'") if title else "")
