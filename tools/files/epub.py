"""Read EPUB books along their spine; a place is a chapter."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from tools.files.archive import unpack
from tools.files.decode import decode
from tools.files.markup import blocks, parse
from tools.files.outline import one_line, written
from tools.files.sections import Piece, arrange, numbered
from tools.files.shapes import Document, File, Refused


def read(file: File) -> Document:
    """Read the chapters in the order of reading; their headings are found in them."""
    with unpack(file) as archive:
        package = _package(archive)
        if "META-INF/rights.xml" in archive.namelist():
            raise Refused("file_encrypted", "it is locked by its seller (DRM)")
        book = _xml(archive.read(package))
        chapters = list(_chapters(archive, book, posixpath.dirname(package)))
    title = one_line(book.findtext(".//{*}metadata/{*}title") or "")
    return Document(title=title, sections=arrange(chapters, numbered("chapter")))


def _package(archive: ZipFile) -> str:
    """Return the name of the file that lists the parts of the book."""
    container = _xml(archive.read("META-INF/container.xml"))
    return str(container.find(".//{*}rootfile").get("full-path"))


def _xml(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(data, parser)


def _chapters(archive: ZipFile, book: Any, folder: str) -> Iterator[Piece]:
    """Yield the chapters named by the spine; what it names but the book lacks is passed over."""
    files = {
        item.get("id"): item.get("href", "") for item in book.iterfind(".//{*}manifest/{*}item")
    }
    there = set(archive.namelist())
    for number, item in enumerate(book.iterfind(".//{*}spine/{*}itemref"), start=1):
        name = posixpath.normpath(posixpath.join(folder, unquote(files.get(item.get("idref"), ""))))
        if name in there:
            yield _chapter(str(number), archive.read(name))


def _chapter(number: str, data: bytes) -> Piece:
    found = list(blocks(parse(decode(data, markup=True))))
    title = next((block.text for block in found if block.level), "")
    return Piece(title, number, number, "".join(map(written, found)))
