"""Read Rich Text; a place is a range of lines."""

from __future__ import annotations

import re

from striprtf.striprtf import rtf_to_text

from retrieval.regex import regex
from tools.files.lines import by_lines
from tools.files.shapes import Document, File

_TITLE = regex(r"\{\\info\b.*?\{\\title\s+((?:[^{}\\]|\\.)*)\}", re.DOTALL)


def read(file: File) -> Document:
    """Read the words of a document; its title is among what its author wrote about it."""
    # All other characters are written as ASCII.
    source = file.data.decode("cp1252", errors="replace")
    title = _TITLE.search(source[:20_000])
    lines = (line.strip() for line in rtf_to_text(source, errors="replace").splitlines())
    text = "\n\n".join(line.replace("|", "; ") if line.endswith("|") else line for line in lines)
    return Document(
        title=rtf_to_text(f"{{\\rtf1 {title[1]}}}").strip() if title else "",
        sections=by_lines(re.sub("\n{3,}", "\n\n", text)),
    )
