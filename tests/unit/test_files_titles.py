"""What documents are called that do not say it first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.files.extractor import extract_document

INTRO = "Wax is a small library that melts, filters and pours the wax of bees into moulds.\n"


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("README.md", f"{INTRO}\n## Benchmarks\n\nFast.\n", "Wax is a small library that melts"),
        ("README.md", f"{INTRO}\n# Install\n\nx\n\n# Use\n\ny\n", "Wax is a small library that"),
        ("README.md", f"{INTRO}\n# Wax\n\nMore.\n\n## Use\n\ny\n", "Wax"),
        ("README.md", "A motto.\n\n## Wax\n\nMore of it.\n", "Wax"),
        ("README.md", f"## Wax\n\n{INTRO}\n# Install\n\nx\n\n# Use\n\ny\n", "Wax"),
        (
            "wax.txt",
            f"This is wax.info, produced by makeinfo version 7.1 from wax.texi.\n\n{INTRO}",
            "Wax is a small library that melts",
        ),
        ("wax.txt", f"Copyright (C) 2020 The Wax Authors\n\n{INTRO}", "Wax is a small library"),
    ],
)
async def test_a_document_is_not_called_by_one_of_its_parts_or_its_boilerplate(
    tmp_path: Path, name: str, text: str, title: str
):
    file = tmp_path / name
    file.write_text(text, "utf-8")

    assert (await extract_document(file))["title"].startswith(title)
