"""Make the parsers by which the Markdown of reports becomes HTML or plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as is_table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from text.regex import regex

ALIGNMENT_CLASSES = {"right", "center"}
"""The classes of the cells of a column that is aligned so."""

_LINK_RULES = ["autolink", "code", "html_block", "html_inline", "link"]
_IMAGE_RULES = ["image", "reference"]
_MARKUP = regex(r"[\\`*_~&!\[\]<\n]")
_CELL_END = regex(r"(?<!\\)\|")
_UNIT_SPACE = regex(r"^([-−–+±<>≤≥~≈$€£¥]{0,2}\d[\d.,–-]*) (?=\w|[%‰°])")
_NUMBER_WITH_UNIT = "\\1\u00a0"
_MAX_MISSING_CELLS = 0x10000  # that are added to the rows of a table


def make_markdown_reader(*, images: bool = False) -> MarkdownIt:
    """Return a parser of Markdown with tables, and without HTML, links and indented code.

    Args:
        images: Whether it reads images, if they are data.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.disable(_LINK_RULES if images else [*_LINK_RULES, *_IMAGE_RULES])
    reader.core.ruler.at("inline", _parse_inline)
    reader.block.ruler.at("table", _write_table, {"alt": ["paragraph", "reference"]})
    if images:
        # The parser itself would take no figure in SVG.
        reader.validateLink = lambda url: url.startswith("data:image/")  # type: ignore[method-assign]
    return reader


def may_have_markup(words: str) -> bool:
    """Tell whether some words may have markup; of a long table most cells have none."""
    return bool(_MARKUP.search(words))


def _parse_inline(state: StateCore) -> None:
    """Parse the words of blocks; a rule of the parser, which would parse each letter by letter."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if may_have_markup(token.content):
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            token.children.append(Token("text", "", 0, content=token.content))


def _write_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Write a table as HTML; a rule of the parser, which would keep six objects for each cell."""
    if not is_table(state, start, end, True):
        return False
    if silent:
        return True
    marks = _split_row(_get_line(state, start + 1))
    classes = [_CLASSES.get((one[0], one[-1]), "") for one in marks]
    head = _write_row(state, "th", _split_row(_get_line(state, start)), classes)
    cells = _iter_rows(state, start + 2, end, len(marks))
    rows = [_write_row(state, "td", row, classes) for row in cells]
    body = f"<tbody>\n{''.join(rows)}</tbody>\n" if rows else ""
    state.push("html_block", "", 0).content = f"<table>\n<thead>\n{head}</thead>\n{body}</table>\n"
    state.line = start + 2 + len(rows)
    return True


_RIGHT = ' class="right"'
_CLASSES = {(":", ":"): ' class="center"', ("-", ":"): _RIGHT}
"""The attribute of cells by the ends of the mark of their column."""


def _iter_rows(state: StateBlock, start: int, end: int, columns: int) -> Iterator[list[str]]:
    """Yield the cells of each row from a line on, as many as there are columns."""
    ends = state.md.block.ruler.getRules("blockquote")
    missing = 0
    for at in range(start, end):
        line = _get_line(state, at)
        is_over = state.sCount[at] < state.blkIndent or not line or state.is_code_block(at)
        if is_over or (line[0] != "|" and any(rule(state, at, end, True) for rule in ends)):
            return
        cells = _split_row(line)
        missing += max(columns - len(cells), 0)
        if missing > _MAX_MISSING_CELLS:
            return
        yield [*cells[:columns], *[""] * (columns - len(cells))]


def _get_line(state: StateBlock, at: int) -> str:
    return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]].strip()


def _split_row(line: str) -> list[str]:
    cells = [one.replace("\\|", "|").strip() for one in _CELL_END.split(line)]
    first = 0 if cells[0] else 1
    return cells[first : None if cells[-1] or len(cells) == 1 else -1]


def _write_row(state: StateBlock, tag: str, cells: Sequence[str], classes: Sequence[str]) -> str:
    """Return a row; where it is aligned right no line ends between a number and its unit."""
    whole = (
        _UNIT_SPACE.sub(_NUMBER_WITH_UNIT, one, count=1) if about == _RIGHT else one
        for one, about in zip(cells, classes, strict=True)
    )
    written = "".join(
        f"<{tag}{about}>{_write_cell(state, one)}</{tag}>\n"
        for one, about in zip(whole, classes, strict=True)
    )
    return f"<tr>\n{written}</tr>\n"


def _write_cell(state: StateBlock, cell: str) -> str:
    return (
        state.md.renderInline(cell, state.env)
        if may_have_markup(cell)
        else escape(cell, quote=False)
    )
