"""Read HTML without the menus around it; a place is the anchor of a heading."""

from __future__ import annotations

from tools.files.article import read_article
from tools.files.decode import decode
from tools.files.outline import outline
from tools.files.shapes import Document, File


def read(file: File) -> Document:
    """Read the text of a page; its title is in its metadata or its first heading."""
    found = read_article(decode(file.data, markup=True))
    return outline(found.blocks, found.title)
