"""Read PDF files; a place is a page."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

from config.errors import ErrorCode
from text.regex import regex
from text.script import CJK
from tools.files.formats import FileContent, FileRefused
from tools.files.parsed_document import (
    DocumentPiece,
    ParsedDocument,
    TextBlock,
    declare_metadata,
    make_numbered_document,
    number_piece,
    render_text_blocks,
)
from tools.files.text_files import HyphenSpelling, join_wrapped_line

BROKEN = (pdfium.PdfiumError,)
"""What PDFium raises on files that are not quite PDF."""

_MIN_SECTION = 300
_LOCKED = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
# What programs put into the title of a PDF if its author did not write one.
_NO_TITLE = regex(r"untitled|microsoft word|powerpoint|\.(?:docx?|pptx?|tex|dvi|indd)$", re.I)
_LAST_SENTENCE = regex(r"[.!?。！？:：][\"'”’」』）)\]]*$")
_FIRST_SENTENCE = regex(r"[^.!?。！？]{0,600}?(?:[.!?](?=\s|$)|[。！？])[\"'”’」』）)]*\s*")
# PDFium reads a hyphen and the line end behind it as one character.
_LINE = regex("([^\r\n\ufffe]*)(\r\n|[\r\n\ufffe]|$)")
_CJK = regex(f"[{CJK}]")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}
_PRINTED = str.maketrans({**_LIGATURES, "\xa0": " ", "\u2010": "-", "\u2011": "-"})
_BULLET = regex(r"[-•·▪◦*]\s|\(?\d{1,3}[.)]\s|\[\d+\]\s")
_ENDED = regex("[.!?。！？:：;；][\"'”’」』）)]*$")
_DIGITS = regex(r"\d+")
_EDGE = 2
_MAX_RUNNING_HEAD = 60
_WIDE_GAP = 0.13
_LARGE = 1.15
_MAX_HEADING = 120
_HEADING_LEVELS = 3
_MIN_LETTERS = 25
_MOSTLY_PICTURE = 0.5


class _Line(NamedTuple):
    """A printed line, the height of its letters, and its distance from the foot of its page."""

    text: str
    height: float
    bottom: float


class _Page(NamedTuple):
    lines: list[_Line]
    is_picture: bool


def read_pdf(file: FileContent) -> ParsedDocument:
    """Read the text of all pages; a page that is a picture has none."""
    document = _open(file)
    try:
        pages = [_page(document, at) for at in range(len(document))]
        title = document.get_metadata_value("Title").strip()
        author, created = map(document.get_metadata_value, ("Author", "CreationDate"))
    finally:
        document.close()
    pictures = sum(page.is_picture for page in pages)
    # A stamp on the pages of a scan may have words.
    if pictures and pictures >= 0.8 * len(pages):
        what = "it is a scan: its pages are pictures and need text recognition (OCR)"
        raise FileRefused(ErrorCode.FILE_NO_TEXT, what)
    bodies = _without_running_heads([page.lines for page in pages])
    if not title or _NO_TITLE.search(title):
        title = _first_heading(bodies)
    made = make_numbered_document(title, _pieces(bodies), "page", _MIN_SECTION)
    return declare_metadata(made, author=author, published=created)


def _open(file: FileContent) -> pdfium.PdfDocument:
    """Open the file with the empty password, which is how most protected files are locked."""
    try:
        document = pdfium.PdfDocument(file.data)
    except pdfium.PdfiumError as error:
        if error.err_code in _LOCKED:
            raise FileRefused(ErrorCode.FILE_ENCRYPTED, "it is locked with a password") from None
        raise
    pages, most = len(document), file.limits.pages
    if pages > most:
        what = f"it has {pages} pages; {most} are read at most"
        raise FileRefused(ErrorCode.FILE_TOO_LARGE, what)
    return document


def _page(document: pdfium.PdfDocument, at: int) -> _Page:
    page = document[at]
    text = page.get_textpage()
    lines = list(_lines(text))
    letters = sum(sign.isalnum() for line in lines for sign in line.text)
    is_picture = letters < _MIN_LETTERS and _shows_picture(page)
    text.close()
    page.close()
    return _Page(lines, is_picture)


def clean_printed_line(line: str) -> str:
    """Return a printed line without ligatures and repeated spaces."""
    return " ".join(line.translate(_PRINTED).split())


def _lines(text: Any) -> Iterator[_Line]:
    box = raw.FS_RECTF()
    for found in _LINE.finditer(text.get_text_range()):
        line = _restore_spaces(text, found.start(), found[1])
        line = clean_printed_line(line) + ("-" if found[2] == "\ufffe" else "")
        if line:
            first = found.start() + len(found[1]) - len(found[1].lstrip())
            raw.FPDFText_GetLooseCharBox(text, first, ctypes.byref(box))
            yield _Line(line, round(box.top - box.bottom, 1), box.bottom)


def _restore_spaces(text: Any, first: int, line: str) -> str:
    """Return a line with the spaces that only the positions of its letters show.

    PDFium overlooks a space beside a letter with an overhang. Where all letters have wide gaps, as
    in some headings, the text is letter-spaced.
    """
    gaps = list(_gaps(text, first, line))
    usual = max(0.0, median([gap for _, gap in gaps] or [0.0]))
    wide = {at for at, gap in gaps if gap - usual > _WIDE_GAP}
    return "".join(f" {sign}" if at in wide else sign for at, sign in enumerate(line))


def _gaps(text: Any, first: int, line: str) -> Iterator[tuple[int, float]]:
    """Yield the index of each letter after another, and the gap between them in letter heights."""
    box = raw.FS_RECTF()
    end = None
    for at, sign in enumerate(line):
        if sign.isspace() or _CJK.match(sign):
            end = None
            continue
        raw.FPDFText_GetLooseCharBox(text, first + at, ctypes.byref(box))
        if end is not None:
            yield at, (box.left - end) / max(box.top - box.bottom, 1.0)
        end = box.right


def _shows_picture(page: pdfium.PdfPage) -> bool:
    width, height = page.get_size()
    pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
    boxes = (picture.get_bounds() for picture in pictures)
    largest = max(((right - left) * (top - low) for left, low, right, top in boxes), default=0)
    return bool(largest > _MOSTLY_PICTURE * width * height)


def _without_running_heads(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Return the pages without page numbers and the lines that half of them share at an edge."""
    edges = ({_shape(line) for line in [*page[:_EDGE], *page[-_EDGE:]]} for page in pages)
    counts = Counter(shape for edge in edges for shape in edge)
    often = max(2, len(pages) / 2)
    running = {shape for shape, count in counts.items() if count >= often} | {"#", "- # -"}
    bodies = [
        [
            line
            for at, line in enumerate(page)
            if _EDGE <= at < len(page) - _EDGE or _shape(line) not in running
        ]
        for page in pages
    ]
    return bodies if any(bodies) else pages


def _shape(line: _Line) -> str:
    """Return what a running head has in common on all pages; a long line is none."""
    return _DIGITS.sub("#", line.text) if len(line.text) <= _MAX_RUNNING_HEAD else line.text


def _first_heading(pages: list[list[_Line]]) -> str:
    """Return the largest text of the first page, if it is larger than the usual text."""
    lines = next((page for page in pages if page), [])
    usual = _usual_height(pages)
    largest = max((line.height for line in lines), default=0.0)
    if largest < _LARGE * usual:
        return ""
    title = " ".join(line.text for line in lines if line.height == largest)
    return title if len(title) <= _MAX_HEADING else ""


def _usual_height(pages: list[list[_Line]]) -> float:
    heights = [line.height for page in pages for line in page for _ in line.text]
    return median(heights) if heights else 0.0


def _pieces(pages: list[list[_Line]]) -> list[DocumentPiece]:
    """Return the pages as paragraphs; a sentence belongs to the page it begins on."""
    spelling = HyphenSpelling(line.text for page in pages for line in page)
    usual = _usual_height(pages)
    larger = {line.height for page in pages for line in page if line.height >= _LARGE * usual}
    levels = {height: at for at, height in enumerate(sorted(larger, reverse=True), start=1)}
    texts = ["\n\n".join(_paragraphs(page, levels, spelling)) for page in pages]
    for at in range(len(texts) - 1):
        texts[at], texts[at + 1] = _complete_sentence(texts[at], texts[at + 1])
    return [number_piece(number, f"{text}\n\n") for number, text in enumerate(texts, 1)]


def _paragraphs(
    page: list[_Line], levels: dict[float, int], spelling: HyphenSpelling
) -> Iterator[str]:
    """Yield the headings and the paragraphs of a page."""
    for run in _runs(page):
        texts = [line.text for line in run]
        level = levels.get(run[0].height, 0)
        heading = " ".join(texts)
        if level and len(heading) <= _MAX_HEADING:
            block = TextBlock(heading, min(level, _HEADING_LEVELS))
            yield render_text_blocks([block]).strip()
        else:
            yield from join_paragraphs(texts, spelling)


def join_paragraphs(lines: list[str], spelling: HyphenSpelling) -> list[str]:
    """Join lines that were wrapped at the width of the page, and the words that this cut."""
    lengths = sorted(map(len, lines))
    # Nine in ten lines are no longer than a full one.
    width = lengths[math.ceil(0.9 * (len(lengths) - 1))]
    paragraphs = lines[:1]
    for previous, line in pairwise(lines):
        if _ends_paragraph(previous, line, width):
            paragraphs.append(line)
        else:
            paragraphs[-1] = join_wrapped_line(paragraphs[-1], line, spelling)
    return paragraphs


def _ends_paragraph(line: str, following: str, width: float) -> bool:
    """Tell whether a paragraph ends with a line: it is short, or a list item follows."""
    if _BULLET.match(following):
        return True
    short = len(line) < (0.85 if _ENDED.search(line) else 0.7) * width
    return short and not following[0].islower() and not line.endswith((",", "，", "、", "-"))


def _runs(page: list[_Line]) -> Iterator[list[_Line]]:
    """Yield lines close below each other, in letters of about the same size."""
    distances = [above.bottom - below.bottom for above, below in pairwise(page)]
    usual = median([distance for distance in distances if distance > 0] or [1_000.0])
    run: list[_Line] = []
    for line in page:
        if run and not _belongs(run[-1], line, usual):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _belongs(line: _Line, following: _Line, usual: float) -> bool:
    same = abs(line.height - following.height) <= 0.1 * line.height
    return same and line.bottom - following.bottom <= 1.5 * usual


def _complete_sentence(page: str, following: str) -> tuple[str, str]:
    """Move the end of a page's last sentence back to it from the next page."""
    rest = _FIRST_SENTENCE.match(following)
    if not page or not rest or _LAST_SENTENCE.search(page) or not following[0].islower():
        return page, following
    glue = "" if page.endswith("-") else " "
    return f"{page.removesuffix('-')}{glue}{rest[0].rstrip()}", following[rest.end() :]
