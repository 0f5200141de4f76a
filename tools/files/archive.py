"""Open zip archives that strangers made, and read the formats that are zipped XML.

EPUB books and OpenDocument texts.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from lxml import etree

from config.errors import ErrorCode
from tools.files.encoding import decode_bytes
from tools.files.formats import ARCHIVE_MEMBERS, FileContent, FileRefused
from tools.files.html import iterate_html_blocks, parse_html
from tools.files.parsed_document import (
    DocumentPiece,
    ParsedDocument,
    TextBlock,
    arrange_sections,
    make_document,
    make_place_namer,
    render_row,
    render_text_block,
    unwrap_line,
)

_WIDEST_RATIO = 100
_SMALL = 1_000_000


def open_archive(file: FileContent) -> ZipFile:
    """Return the archive, once its contents are known to be neither a bomb nor another format.

    Members cannot be larger than the directory says: `zipfile` reads no further than that.

    Raises:
        FileRefused: `file_broken`, `file_bomb`, `file_encrypted` or `file_type_mismatch`.
    """
    try:
        archive = ZipFile(io.BytesIO(file.data))
    except BadZipFile as error:
        raise FileRefused(ErrorCode.FILE_BROKEN, "it is cut off or damaged") from error
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if total > 10 * file.limits.size or total > max(_SMALL, _WIDEST_RATIO * len(file.data)):
        raise FileRefused(ErrorCode.FILE_BOMB, f"it unpacks from {len(file.data)} to {total} bytes")
    if any(member.flag_bits & 1 for member in members):
        raise FileRefused(ErrorCode.FILE_ENCRYPTED, "it is locked with a password")
    if not any(member.filename.startswith(ARCHIVE_MEMBERS[file.suffix]) for member in members):
        raise FileRefused(
            ErrorCode.FILE_TYPE_MISMATCH, f"it is a zip archive, but not a {file.suffix} file"
        )
    return archive


def read_epub(file: FileContent) -> ParsedDocument:
    """Read the chapters in the order of reading; their headings are found in them."""
    with open_archive(file) as archive:
        package = _package(archive)
        if "META-INF/rights.xml" in archive.namelist():
            raise FileRefused(ErrorCode.FILE_ENCRYPTED, "it is locked by its seller (DRM)")
        book = _xml(archive.read(package))
        chapters = list(_chapters(archive, book, posixpath.dirname(package)))
    title = unwrap_line(book.findtext(".//{*}metadata/{*}title") or "")
    return ParsedDocument(
        title=title, sections=arrange_sections(chapters, make_place_namer("chapter"))
    )


def _package(archive: ZipFile) -> str:
    """Return the name of the file that lists the parts of the book."""
    container = _xml(archive.read("META-INF/container.xml"))
    return str(container.find(".//{*}rootfile").get("full-path"))


def _xml(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(data, parser)


def _chapters(archive: ZipFile, book: Any, folder: str) -> Iterator[DocumentPiece]:
    """Yield the chapters named by the spine; what it names but the book lacks is passed over."""
    files = {
        item.get("id"): item.get("href", "") for item in book.iterfind(".//{*}manifest/{*}item")
    }
    there = set(archive.namelist())
    for number, item in enumerate(book.iterfind(".//{*}spine/{*}itemref"), start=1):
        name = posixpath.normpath(posixpath.join(folder, unquote(files.get(item.get("idref"), ""))))
        if name in there:
            yield _chapter(str(number), archive.read(name))


def _chapter(number: str, data: bytes) -> DocumentPiece:
    found = list(iterate_html_blocks(parse_html(decode_bytes(data, markup=True))))
    title = next((block.text for block in found if block.level), "")
    return DocumentPiece(title, number, number, "".join(map(render_text_block, found)))


_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_SPACES = frozenset([f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"])
# What was deleted with tracked changes, remarks, and numbers that the program puts in itself.
_UNREAD = frozenset(
    [f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note", f"{_TEXT}table-of-content"]
)
_REPEATED = f"{_TABLE}number-columns-repeated"
_MOST_REPEATED = 50


def read_odt(file: FileContent) -> ParsedDocument:
    """Read paragraphs, lists and tables; notes, remarks and contents are left out."""
    with open_archive(file) as archive:
        names = archive.namelist()
        body = _xml(archive.read("content.xml"))
        if body.find(f".//{_OFFICE}text") is None:
            raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, "it is no text document")
        about = _xml(archive.read("meta.xml")) if "meta.xml" in names else None
    title = unwrap_line(about.findtext(f".//{_TITLE}") or "") if about is not None else ""
    return make_document(_blocks(body), title)


def _blocks(body: Any) -> Iterator[TextBlock]:
    walk = etree.iterwalk(body, events=("start",))
    for _, node in walk:
        if node.tag in _UNREAD:
            walk.skip_subtree()
        elif node.tag == f"{_TABLE}table":
            yield from _rows(node)
            walk.skip_subtree()
        elif node.tag in {f"{_TEXT}h", f"{_TEXT}p"}:
            yield from _paragraph(node)
            walk.skip_subtree()


def _paragraph(node: Any) -> Iterator[TextBlock]:
    text = unwrap_line(_words(node))
    if not text:
        return
    if node.tag == f"{_TEXT}h":
        level = node.get(f"{_TEXT}outline-level", "1")
        yield TextBlock(text, min(int(level), 9) if level.isdecimal() else 1)
    elif node.getparent().tag == f"{_TEXT}list-item":
        yield TextBlock(f"- {text}")
    else:
        is_title = node.get(f"{_TEXT}style-name") == "Title"
        yield TextBlock(text, int(is_title))


def _rows(table: Any) -> Iterator[TextBlock]:
    rows = [_cells(line) for line in table.iter(f"{_TABLE}table-row")]
    if len(rows) == 1:
        yield TextBlock(render_row([], rows[0]))
    yield from (TextBlock(render_row(rows[0], cells)) for cells in rows[1:] if any(cells))


def _cells(line: Any) -> list[str]:
    cells: list[str] = []
    for cell in line.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
        times = cell.get(_REPEATED, "1")
        text = unwrap_line(" ".join(_words(part) for part in cell))
        cells += [text] * min(int(times) if times.isdecimal() else 1, _MOST_REPEATED)
    return cells


def _words(node: Any) -> str:
    """Return the words of a paragraph; tabs, line ends and runs of spaces are elements in it."""
    parts: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end"))
    for event, one in walk:
        if event == "end":
            parts.append(one.tail or "" if one is not node else "")
        elif one.tag in _UNREAD:
            walk.skip_subtree()
        else:
            parts.append(" " if one.tag in _SPACES else one.text or "")
    return "".join(parts)
