"""Open untrusted zip archives, and read the two formats that are zipped XML: EPUB and ODT."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterable, Iterator
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
    declare_metadata,
    make_document,
    make_numbered_document,
    number_piece,
    render_text_blocks,
    table_blocks,
    unwrap_line,
)

_ROLE = "{http://www.idpf.org/2007/opf}role"
_EVENT = "{http://www.idpf.org/2007/opf}event"
_MAX_RATIO = 100
_SMALL = 1_000_000


def open_archive(file: FileContent) -> ZipFile:
    """Return the archive if it is neither a zip bomb nor a file of another format.

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
    if total > 10 * file.limits.size or total > max(_SMALL, _MAX_RATIO * len(file.data)):
        raise FileRefused(ErrorCode.FILE_BOMB, f"it unpacks from {len(file.data)} to {total} bytes")
    if any(member.flag_bits & 1 for member in members):
        raise FileRefused(ErrorCode.FILE_ENCRYPTED, "it is locked with a password")
    if not any(member.filename.startswith(ARCHIVE_MEMBERS[file.suffix]) for member in members):
        what = f"it is a zip archive, but not a {file.suffix} file"
        raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, what)
    return archive


def read_epub(file: FileContent) -> ParsedDocument:
    """Read the chapters of a book in reading order, with its authors, date and language."""
    with open_archive(file) as archive:
        container = _parse_xml(archive.read("META-INF/container.xml"))
        package = str(container.find(".//{*}rootfile").get("full-path"))
        if "META-INF/rights.xml" in archive.namelist():
            raise FileRefused(ErrorCode.FILE_ENCRYPTED, "it is locked by its seller (DRM)")
        book = _parse_xml(archive.read(package))
        chapters = list(_chapters(archive, book, posixpath.dirname(package)))
    title = unwrap_line(book.findtext(".//{*}metadata/{*}title") or "")
    return declare_metadata(
        make_numbered_document(title, chapters, "chapter"),
        author=_join_names(book.iterfind(".//{*}metadata/{*}creator")),
        published=_find_publication_date(book),
        language=book.findtext(".//{*}metadata/{*}language"),
    )


def _join_names(creators: Iterable[Any]) -> str:
    """Return the names of those who wrote a book; other roles are illustrators and the like."""
    authors = [
        one for one in creators if (one.get(_ROLE) or "aut") == "aut" and (one.text or "").strip()
    ]
    return "; ".join(unwrap_line(one.text) for one in authors)


def _find_publication_date(book: Any) -> str:
    """Return the date of a book: that of its publication if it has several."""
    dates = [one for one in book.iterfind(".//{*}metadata/{*}date") if one.text]
    first = sorted(dates, key=lambda one: one.get(_EVENT, "publication") != "publication")
    return str(first[0].text).strip() if first else ""


def _parse_xml(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(data, parser)


def _chapters(archive: ZipFile, book: Any, folder: str) -> Iterator[DocumentPiece]:
    """Yield the chapters that the spine lists and the archive contains."""
    items = book.iterfind(".//{*}manifest/{*}item")
    paths = {item.get("id"): item.get("href", "") for item in items}
    members = set(archive.namelist())
    for number, item in enumerate(book.iterfind(".//{*}spine/{*}itemref"), start=1):
        path = unquote(paths.get(item.get("idref"), ""))
        name = posixpath.normpath(posixpath.join(folder, path))
        if name in members:
            root = parse_html(decode_bytes(archive.read(name), markup=True))
            blocks = list(iterate_html_blocks(root))
            title = next((block.text for block in blocks if block.level), "")
            yield number_piece(number, render_text_blocks(blocks), title)


_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SPACES = frozenset([f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"])
# Deleted text of tracked changes, comments, notes, and generated tables of contents.
_IGNORED = frozenset(
    [f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note", f"{_TEXT}table-of-content"]
)
_REPEATED = f"{_TABLE}number-columns-repeated"
_MAX_REPEATED = 50


def read_odt(file: FileContent) -> ParsedDocument:
    """Read paragraphs, lists and tables, without notes, comments and tables of contents."""
    with open_archive(file) as archive:
        body = _parse_xml(archive.read("content.xml"))
        if body.find(f".//{_OFFICE}text") is None:
            raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, "it is no text document")
        told: dict[str, str] = {}
        if "meta.xml" in archive.namelist():
            told = _read_properties(_parse_xml(archive.read("meta.xml")))
    return declare_metadata(
        make_document(_blocks(body), unwrap_line(told.get("title", ""))),
        author=told.get("initial-creator") or told.get("creator"),
        published=told.get("date") or told.get("creation-date"),
        language=told.get("language"),
    )


def _read_properties(root: Any) -> dict[str, str]:
    """Return what a text document says of itself, by the names of the properties."""
    nodes = (one for one in root.iter("{*}*") if one.text and one.text.strip())
    return {etree.QName(one).localname: unwrap_line(one.text) for one in nodes}


def _blocks(body: Any) -> Iterator[TextBlock]:
    walk = etree.iterwalk(body, events=("start",))
    for _, node in walk:
        if node.tag == f"{_TABLE}table":
            yield from table_blocks([_cells(row) for row in node.iter(f"{_TABLE}table-row")])
        elif node.tag in {f"{_TEXT}h", f"{_TEXT}p"}:
            yield from _paragraph(node)
        elif node.tag not in _IGNORED:
            continue
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
        yield TextBlock(text, int(node.get(f"{_TEXT}style-name") == "Title"))


def _cells(row: Any) -> list[str]:
    cells: list[str] = []
    for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
        times = cell.get(_REPEATED, "1")
        text = unwrap_line(" ".join(_words(part) for part in cell))
        cells += [text] * min(int(times) if times.isdecimal() else 1, _MAX_REPEATED)
    return cells


def _words(root: Any) -> str:
    """Return the text of a paragraph; tabs, line ends and runs of spaces are elements in it."""
    parts: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            parts.append(node.tail or "" if node is not root else "")
        elif node.tag in _IGNORED:
            walk.skip_subtree()
        else:
            parts.append(" " if node.tag in _SPACES else node.text or "")
    return "".join(parts)
