"""Walk through HTML and give back its headings, paragraphs, list items and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree, html

from tools.files.outline import Block, one_line, row

_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCK_TAGS = (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption"
    " figure footer form head header hr html legend li main nav ol p pre section summary table"
    " tbody td tfoot th thead title tr ul"
)
_UNREAD_TAGS = "script style noscript template head title svg math iframe object button select"
_BLOCKS = frozenset([*_BLOCK_TAGS.split(), *_LEVELS])
_UNREAD = frozenset(_UNREAD_TAGS.split())
_AROUND = frozenset(["nav", "footer", "aside", "form"])


def parse(text: str) -> Any:
    """Return the root element of an HTML text; nothing is fetched, no entity is expanded."""
    # lxml refuses a text that both is decoded and names its encoding in an XML declaration.
    data = text.encode("utf-8", errors="replace")
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True
    )
    return html.document_fromstring(data, parser=parser, ensure_head_body=True)


def title(root: Any) -> str:
    """Return what stands in the `title` element."""
    return one_line(root.findtext(".//title") or "")


def blocks(root: Any, *, around: bool = True) -> Iterator[Block]:
    """Yield the blocks of an element; without menus, footers and forms if `around` is False."""
    unread = _UNREAD if around else _UNREAD | _AROUND
    reader = _Reader()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            yield from reader.close(node)
        elif node.tag in unread:
            walk.skip_subtree()
        elif node.tag == "pre" or (node.tag == "tr" and node.find(".//table") is None):
            yield from reader.whole(node)
            walk.skip_subtree()
        else:
            yield from reader.open(node)


class _Reader:
    """The words of the block at hand, and the lists and the table it stands in."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.mark = ""
        self.lists: list[int] = []
        self.header: list[str] = []

    def open(self, node: Any) -> Iterator[Block]:
        if node.tag in _BLOCKS:
            yield from self.flush()
        if node.tag in {"ol", "ul"}:
            self.lists.append(int(node.tag == "ol"))
        elif node.tag == "li":
            self.mark = self.next_mark()
        elif node.tag == "table":
            self.header = []
        self.words.append(node.text or "")

    def close(self, node: Any) -> Iterator[Block]:
        if node.tag in _BLOCKS:
            yield from self.flush(_LEVELS.get(node.tag, 0))
        if node.tag in {"ol", "ul"} and self.lists:
            self.lists.pop()
        self.words.append(node.tail or "")

    def flush(self, level: int = 0) -> Iterator[Block]:
        text = one_line("".join(self.words))
        self.words.clear()
        if text:
            yield Block(self.mark + text, level)
            self.mark = ""

    def whole(self, node: Any) -> Iterator[Block]:
        yield from self.flush()
        if node.tag == "pre":
            yield Block(node.text_content().strip("\n"))
            return
        cells = [" ".join(block.text for block in blocks(cell)) for cell in node]
        if all(cell.tag == "th" for cell in node):
            self.header = cells
        elif any(cells):
            yield Block(row(self.header, cells))

    def next_mark(self) -> str:
        """Return what stands before a list item, and count it."""
        if not self.lists or not self.lists[-1]:
            return "- "
        self.lists[-1] += 1
        return f"{self.lists[-1] - 1}. "
