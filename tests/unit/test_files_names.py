"""A document is called what it calls itself, and only at last by the name of its file."""

from __future__ import annotations

import pytest

from tests.unit.test_files_samples import docx, pdf
from tools.files.extractor import extract_document

LINE = "The mill grinds wheat twice a day."


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("n1.txt", f"Notes on tide mills\n\n{LINE}", "Notes on tide mills"),
        ("n1.txt", f"==== TIDE MILLS ====\n\n{LINE}", "TIDE MILLS"),
        ("n1.txt", f"Source: https://mills.example/eling\nDate: 2026\n\nEling\n\n{LINE}", "Eling"),
        ("n1.txt", f"URL: https://mills.example/a\nTitle: The mill\n\n{LINE}", "The mill"),
        ("n1.rst", f"Tide mills\n==========\n\n{LINE}", "Tide mills"),
        ("n1.txt", "word " * 60, "word " * 15 + "word…"),
        ("n1.txt", "潮汐磨坊笔记\n\n磨坊每天磨两次小麦。", "潮汐磨坊笔记"),
        ("n1.txt", f"NAME\n    miller - Grind wheat\n\n{LINE}", "miller - Grind wheat"),
        (
            "n1.txt",
            f"MILL(1)  Mills  MILL(1)\n\nNAME\n  mill — grind\n    wheat\n\n{LINE}",
            "mill - grind wheat",
        ),
        ("n1.txt", f"NAME\n\n{LINE}", "NAME"),
        ("n1.md", LINE, LINE.strip(".")),
        ("n1.docx", docx("Minutes of March", LINE), "Minutes of March"),
        ("n1.pdf", pdf(["Minutes of March", LINE]), "Minutes of March"),
        ("n1.html", f"<p>Minutes of March</p><p>{LINE}</p>", "Minutes of March"),
        ("n1.csv", "mill,year\nEling,1785\n", "n1"),
        ("n1.py", "import os\n", "n1"),
        ("n1.txt", "12 34 56\n7 8 9\n", "n1"),
    ],
)
async def test_a_document_is_named_by_its_first_line_before_its_file(
    tmp_path, name, content, title
):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)

    assert (await extract_document(path))["title"] == title


@pytest.mark.parametrize(
    "header",
    [
        "<!-- saved from url=(0030)https://mills.example/eling -->",
        "<!-- Mirrored from mills.example/eling by HTTrack Website Copier/3.x -->",
    ],
)
async def test_the_address_that_a_copy_was_made_from_is_kept(tmp_path, header):
    path = tmp_path / "a.html"
    path.write_text(f"{header}<html><title>Eling</title><body><p>{LINE}</p></body></html>")

    document = await extract_document(path)

    assert document["sections"][0]["text"] == f"Source: https://mills.example/eling\n\n{LINE}"
    assert document["title"] == "Eling"
