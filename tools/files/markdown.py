"""Read Markdown and Jupyter notebooks; a place is the anchor of a heading or a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from config.errors import ErrorCode
from text.regex import regex
from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent, FileRefused
from tools.files.html import iterate_html_blocks, parse_html
from tools.files.html_elements import BLOCK_ELEMENTS, IGNORED_ELEMENTS
from tools.files.parsed_document import (
    DocumentPiece,
    ParsedDocument,
    TextBlock,
    declare_metadata,
    make_document,
    make_numbered_document,
    number_piece,
    render_text_blocks,
)

_FRONT = regex(r"\A(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = regex(r"^title[ \t]*[:=][ \t]*(?:[>|][+-]?[ \t]*\n[ \t]+)?(.*)$", re.MULTILINE | re.I)
_FIELD = regex(r"^(date|authors?|lang(?:uage)?)[ \t]*[:=][ \t]*(.+)$", re.MULTILINE | re.I)


def read_markdown(file: FileContent) -> ParsedDocument:
    """Read Markdown; the title is in the front matter (YAML or TOML) or the first heading."""
    text = decode_bytes(file.data).replace("\r\n", "\n")
    front = _FRONT.match(text)
    title = _TITLE.search(front[0]) if front else None
    body = text[front.end() :] if front else text
    made = make_document(iterate_markdown_blocks(body), title[1].strip(" \t\"'") if title else "")
    if not front:
        return made
    fields = {name.lower(): value.strip(" \t\"'[]") for name, value in _FIELD.findall(front[0])}
    author = fields.get("author") or fields.get("authors") or ""
    language = fields.get("lang") or fields.get("language") or ""
    return declare_metadata(
        made, author=author, published=fields.get("date", ""), language=language
    )


def iterate_markdown_blocks(text: str) -> Iterator[TextBlock]:
    """Yield the blocks of a Markdown text; a tag that is none in HTML is a part of its words."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.at("inline", _parse_inline)
    tokens = parser.parse(text)
    for _ in range(_UNCLOSED):
        line = next((one.map[0] for one in tokens if one.map and _is_unclosed(one)), None)
        if line is None:
            break
        # It would hide the whole rest of the text.
        lines = text.split("\n")
        lines[line] = lines[line].replace("<", "\\<", 1)
        text = "\n".join(lines)
        tokens = parser.parse(text)
    closed = {name.lower() for name in _CLOSED.findall(text)}
    for token in tokens:
        _keep_words(token, closed)
    page = parser.renderer.render(tokens, parser.options, {})
    return iterate_html_blocks(parse_html(f"<body>{page}</body>"))


_MAX_PARAGRAPH = 20_000
"""The most characters of a paragraph of which links and emphasis are looked for."""


def _parse_inline(state: StateCore) -> None:
    """Parse what stands within blocks; the time grows with the square of what stands in one."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _MAX_PARAGRAPH:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


_UNCLOSED = 5
"""How many tags at the beginning of a block that hide the rest of a text are taken for words."""

_CLOSED = regex(r"</([A-Za-z][\w:.-]*)")
_TAG = regex(r"<(/?)([A-Za-z][\w:.-]*)([^<>]*)>?|<!--")
_HIDING = regex(r"\s*<(?:(script|style|textarea|pre)\b|!--)", re.IGNORECASE)
_NEVER = frozenset(["head", "title"])
_INLINE_NAMES = (
    "a abbr acronym area audio b bdi bdo big br cite code col colgroup data del dfn em font i img"
    " input ins kbd label map mark math picture q rp rt ruby s samp small source span strike strong"
    " sub sup time track tt u var video wbr"
)
_KNOWN = BLOCK_ELEMENTS.union(_INLINE_NAMES.split())


def _is_unclosed(token: Token) -> bool:
    """Tell whether a block begins with a comment or an element that nothing ends."""
    found = _HIDING.match(token.content) if token.type == "html_block" else None
    end = f"</{found[1]}" if found and found[1] else "-->"
    return found is not None and end.lower() not in token.content.lower()


def _keep_words(token: Token, closed: set[str]) -> None:
    """Make words of the tags in a block that hide or lose what a reader of the file sees."""
    if token.type == "html_block":
        its = {name.lower() for name in _CLOSED.findall(token.content)}
        token.content = _TAG.sub(
            lambda tag: tag[0] if _is_markup(tag, its, closed) else f"&lt;{tag[0][1:]}",
            token.content,
        )
    tags = [one for one in token.children or [] if one.type == "html_inline"]
    its = {name.lower() for one in tags for name in _CLOSED.findall(one.content)}
    for one in tags:
        tag = _TAG.match(one.content)
        one.type = "html_inline" if not tag or _is_markup(tag, its, closed) else "text"


def _is_markup(tag: re.Match[str], here: set[str], closed: set[str]) -> bool:
    """Tell whether a tag is markup: of HTML, with attributes, or closed.

    Args:
        tag: The tag, or the beginning of a comment.
        here: The names of the elements that are closed in its block.
        closed: Those that are closed anywhere in the text.
    """
    name = (tag[2] or "").lower()
    if name in IGNORED_ELEMENTS:
        return name in here and name not in _NEVER
    if not name or "=" in tag[3]:
        return True
    # What is compared with a letter, such as "a<b and c>d", is no tag.
    known = name in _KNOWN and (len(name) > 1 or not tag[3].strip(" /"))
    return known or name in closed


_MAX_OUTPUT = 4_000


def read_notebook(file: FileContent) -> ParsedDocument:
    """Read the text, the code and the printed results of all cells, without pictures."""
    book = json.loads(decode_bytes(file.data))
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, "it is no notebook of the present format")
    pieces = [_read_cell(number, cell) for number, cell in enumerate(cells, start=1)]
    title = book.get("metadata", {}).get("title", "")
    headings = (piece.title for piece in pieces if piece.title)
    return make_numbered_document(str(title or next(headings, "")), pieces, "cell")


def _read_cell(number: int, cell: dict[str, Any]) -> DocumentPiece:
    source = _join(cell.get("source", ""))
    if cell.get("cell_type") == "markdown":
        blocks = list(iterate_markdown_blocks(source))
    else:
        outputs = (
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.get("outputs", [])
        )
        texts = [source, *(_join(output)[:_MAX_OUTPUT] for output in outputs)]
        blocks = [TextBlock(text.strip("\n")) for text in texts if text.strip()]
    heading = next((block.text for block in blocks if block.level), "")
    return number_piece(number, render_text_blocks(blocks), heading)


def _join(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
