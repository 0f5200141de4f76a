"""A report as PDF, made from its page of HTML without a network."""

from __future__ import annotations

import logging
import threading
from functools import cache
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from config.errors import ErrorCode, Problem
from report.document import ReportDocument
from report.exports.column_widths import measure_table_columns
from report.exports.export_formats import ExportedReport
from report.exports.paper_style import flatten_style
from report.exports.styled_page import render_styled_page
from report.labels import get_label, is_chinese_tag
from text.pattern_files import read_packaged_text
from text.regex import regex
from text.script import CJK

_LOGGER = "weasyprint"
_VARIANT = "pdf/ua-1"  # tagged, with title and language, for screen readers
_MISSING_GLYPH = ".notdef"  # how a line of its log begins that tells of a letter without a font
_CJK = regex(f"[{CJK}]")
_LONG_WORD = regex(f"[^\\s{CJK}]{{300,}}")
"""The time in which a word is broken into lines grows with the square of its length."""

_PIECE_CHARS = 200  # of such a word
_TEXT_WIDTH = 470  # of a page, in points
_TABLE_LOOKS = (("", 9.0, 12.6), ("dense", 7.5, 7.0), ("very-dense", 6.5, 6.0))
"""The classes of tables, with the size of their letters and the space of a column, in points."""

_KEPT_ROWS = 3  # at both ends of a table that stay together
_MAX_SHORT_ROWS = 7  # of a table that is not broken over pages
_MIN_CONTENTS_CHARS = 8_000  # of a page; on a shorter one its headings are seen at a glance


def export_pdf(report: ExportedReport) -> bytes:
    """Return a report as PDF with contents, page numbers, running title, links and tags.

    Raises:
        Problem: `pdf_unavailable` without WeasyPrint, its libraries, or a font for Chinese.
    """
    weasyprint = _import_weasyprint()
    page = prepare_page(render_styled_page(report, floating=True), report.document)
    fetcher = weasyprint.URLFetcher(allowed_protocols=["data"], allow_redirects=False)
    with _MissingLetters() as missing:
        drawn = weasyprint.HTML(string=page, url_fetcher=fetcher)
        made: bytes = drawn.write_pdf(pdf_variant=_VARIANT)
    if _CJK.search(missing.letters):
        what = f"no font has these characters: {''.join(dict.fromkeys(missing.letters))[:20]}"
        hint = "install a font for Chinese, such as Noto Sans CJK (apt install fonts-noto-cjk)"
        raise Problem(ErrorCode.PDF_UNAVAILABLE, what, hint=hint)
    return made


def prepare_page(page: str, document: ReportDocument) -> str:
    """Return a page without what only a screen shows, with contents if it is long.

    Its style for paper comes last, so that it counts, and the PDF gets its author and day.

    Args:
        page: The page of HTML.
        document: Its document.
    """
    root = lxml_html.document_fromstring(page)
    _drop_screen_parts(root)
    _split_long_words(root.find("body"))
    _fit_tables(root)
    header = root.find(".//header")
    is_long = len(root.find("body").text_content()) >= _MIN_CONTENTS_CHARS
    if is_long and header is not None and root.find(".//nav") is None:
        header.addnext(_make_contents(list(root.iter("h2")), document["language"]))
    head = root.find("head")
    for name, told in (("author", "Dossier"), ("dcterms.created", document["created"])):
        if told:
            etree.SubElement(head, "meta", name=name, content=told)
    styles = list(head.iter("style"))
    css = "\n".join([*(one.text or "" for one in styles), _read_style()])
    for one in styles:
        head.remove(one)
    chinese = is_chinese_tag(document["language"])
    etree.SubElement(head, "style").text = flatten_style(css, chinese=chinese)
    return str(lxml_html.tostring(root, encoding="unicode", doctype="<!doctype html>"))


def _drop_screen_parts(root: Any) -> None:
    """Take out of a page what paper never shows; laying it out would only take time."""
    for one in [*root.find_class("card"), *root.iter("details", "script")]:
        one.drop_tree()
    for one in root.xpath('//*[@class="doubts" or @class="footnotes"]//a[@class="back"]'):
        one.drop_tree()
    for one in root.iter("a"):
        one.attrib.pop("title", None)


def _fit_tables(root: Any) -> None:
    """Give tables smaller letters that would be wider than the page; few rows stay together."""
    for frame in root.find_class("table"):
        rows = list(frame.iter("tr"))
        least = [one.least for one in measure_table_columns(rows)]
        looks = [
            look
            for look, size, space in _TABLE_LOOKS
            if size * sum(least) + space * len(least) <= _TEXT_WIDTH
        ]
        classes = ["table", *looks[:1]] if looks else ["table", _TABLE_LOOKS[-1][0], "broken"]
        for row in (*rows[:_KEPT_ROWS], *rows[-_KEPT_ROWS:-1]):
            row.set("class", "kept")
        if len(rows) <= _MAX_SHORT_ROWS:
            classes.append("short")
        frame.set("class", " ".join(filter(None, classes)))


def _split_long_words(root: Any) -> None:
    """Put the pieces of very long words into elements of their own, which are broken anywhere."""
    for element in list(root.iter(etree.Element)):
        text, tail = element.text or "", element.tail or ""
        if _LONG_WORD.search(text):
            element.text, element[:0] = _split_text(text)
        if _LONG_WORD.search(tail):
            parent = element.getparent()
            behind = parent.index(element) + 1
            element.tail, parent[behind:behind] = _split_text(tail)


def _split_text(text: str) -> tuple[str, list[Any]]:
    """Return a text as words before its first long word, and elements for what follows."""
    first, pieces, done = "", list[Any](), 0
    for word in _LONG_WORD.finditer(text):
        between, done = text[done : word.start()], word.end()
        if pieces:
            pieces[-1].tail = between
        else:
            first = between
        for at in range(word.start(), word.end(), _PIECE_CHARS):
            piece = etree.Element("span", {"class": "piece"})
            piece.text = text[at : min(at + _PIECE_CHARS, word.end())]
            pieces.append(piece)
    pieces[-1].tail = text[done:]
    return first, pieces


def _make_contents(headings: list[Any], language: str) -> Any:
    """Return a list of links to some headings, which get ids where they have none."""
    label = get_label("contents", language)
    contents = lxml_html.fragment_fromstring(
        f'<nav class="contents"><h2>{label}</h2><ol></ol></nav>'
    )
    for at, heading in enumerate(headings, start=1):
        if not heading.get("id"):
            heading.set("id", f"h{at}")
        entry = lxml_html.fragment_fromstring('<li><a href=""></a></li>')
        entry[0].set("href", f"#{heading.get('id')}")
        entry[0].text = " ".join(heading.text_content().split())
        contents[1].append(entry)
    return contents


@cache
def _read_style() -> str:
    return read_packaged_text("report.exports", "pdf_report.css")


def _import_weasyprint() -> Any:
    """Return the package.

    Raises:
        Problem: `pdf_unavailable` if it or a library that it loads is not installed.
    """
    try:
        # It takes half a second to import, and is an extra.
        import weasyprint  # noqa: PLC0415
    except ModuleNotFoundError as error:
        hint = "pip install 'dossier[pdf]', or in a checkout: .venv/bin/pip install weasyprint"
        what = f"{error.name} is not installed"
        raise Problem(ErrorCode.PDF_UNAVAILABLE, what, hint=hint) from error
    except OSError as error:
        hint = "install Pango (apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0)"
        what = "a library of WeasyPrint is not installed"
        raise Problem(ErrorCode.PDF_UNAVAILABLE, what, where=str(error)[:80], hint=hint) from error
    return weasyprint


class _MissingLetters(logging.Handler):
    """Collects, while a page is drawn in this thread, the letters that no font has."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.letters = ""
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the letter that a line of the log is about."""
        args = record.args if isinstance(record.args, tuple) else ()
        if record.thread == self._thread and str(record.msg).startswith(_MISSING_GLYPH) and args:
            self.letters += str(args[0])

    def __enter__(self) -> _MissingLetters:
        """Listen to the log."""
        logging.getLogger(_LOGGER).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        logging.getLogger(_LOGGER).removeHandler(self)
