"""Read HTML without the menus around it; a place is the anchor of a heading."""

from __future__ import annotations

import trafilatura

from tools.files.decode import decode
from tools.files.markup import blocks, parse, title
from tools.files.outline import outline
from tools.files.shapes import Document, File


def read(file: File) -> Document:
    """Read the main text of a page; its title is in its `title` element or its first heading."""
    text = decode(file.data, markup=True)
    root = parse(text)
    everything = list(blocks(root, around=False))
    main = trafilatura.extract(
        text, output_format="html", include_comments=False, include_links=False, favor_recall=True
    )
    kept = list(blocks(parse(main))) if main else []
    # A page that was written by hand has no menus to drop, and loses tables and short lines.
    whole = 2 * sum(len(block.text) for block in kept) < sum(len(b.text) for b in everything)
    return outline(everything if whole else kept, title(root))
