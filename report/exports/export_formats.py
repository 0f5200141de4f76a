"""The formats in which a report can be exported, and the function that writes each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from config.errors import ErrorCode, Problem
from report.document import ReportDocument
from text.regex import regex


class ExportedReport(NamedTuple):
    """The report of a run with what exports say beside its document."""

    run: str
    thread: str
    document: ReportDocument
    read: Mapping[str, str]
    """The day on which each cited page was read, as an ISO date, by the id of its source."""
    style: str = ""
    """How sources are cited, one of the styles of the format; "" for the usual one."""


_UNFIT = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def replace_unfit_characters(report: ExportedReport) -> ExportedReport:
    """Return a report with blanks for the characters that XML cannot have, in all its words."""
    document = cast("ReportDocument", _replace_unfit(report.document))
    return report._replace(document=document)


def _replace_unfit(value: object) -> object:
    if isinstance(value, str):
        return _UNFIT.sub(" ", value)
    if isinstance(value, Mapping):
        return {name: _replace_unfit(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_replace_unfit(one) for one in value]
    return value


class Exporter(Protocol):
    """Writes a report in one format."""

    def __call__(self, report: ExportedReport) -> bytes:
        """Return the content of a file; the same report gives the same content.

        Raises:
            Problem: If the format needs what is not installed.
        """
        ...


class ExportFormat(NamedTuple):
    """A format."""

    suffix: str
    """How names of its files end, without the dot."""
    media_type: str
    exporter: str
    """The module below `report.exports` and the function in it, an `Exporter`. It is imported when
    a report is exported, since most formats need large packages."""
    styles: tuple[str, ...] = ()
    """The styles of citations that it can have, the usual one first; none for data."""

    other_exporters: Mapping[str, str] = {}
    """Functions for files whose names end otherwise, as `exporter` names one, by the ending."""

    def load(self, file: str = "") -> Exporter:
        """Import the function that writes it, into a file of some name if one is given."""
        chosen = self.other_exporters.get(file.lower().rpartition(".")[2], self.exporter)
        module, _, name = chosen.partition(".")
        return cast("Exporter", getattr(import_module(f"report.exports.{module}"), name))


NUMERIC, AUTHOR_YEAR, FOOTNOTES = "numeric", "author-year", "footnotes"
"""The styles of citations: `[2, p. 4]`, `(Frisch 1967, p. 4)`, a footnote for each."""

_PAGE_STYLES = (NUMERIC, AUTHOR_YEAR, FOOTNOTES)
_BOOK_STYLES = (FOOTNOTES, NUMERIC, AUTHOR_YEAR)

EXPORT_FORMATS: Mapping[str, ExportFormat] = {
    "md": ExportFormat("md", "text/markdown", "report_text.export_markdown", _PAGE_STYLES),
    "html": ExportFormat("html", "text/html", "report_text.export_html", _PAGE_STYLES),
    "pdf": ExportFormat("pdf", "application/pdf", "pdf_report.export_pdf", _PAGE_STYLES),
    "docx": ExportFormat(
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx_report.export_docx",
        _BOOK_STYLES,
    ),
    "epub": ExportFormat("epub", "application/epub+zip", "epub_report.export_epub", _BOOK_STYLES),
    "csv": ExportFormat(
        "zip",
        "application/zip",
        "csv_tables.export_csv",
        other_exporters={"csv": "csv_tables.export_only_table"},
    ),
    "json": ExportFormat("json", "application/json", "bundle.export_bundle"),
    "bib": ExportFormat("bib", "application/x-bibtex", "bibliography.export_bibtex"),
    "csl": ExportFormat(
        "csl.json", "application/vnd.citationstyles.csl+json", "bibliography.export_csl"
    ),
}
"""Every format by the name that chooses it."""


def find_format(name: str) -> ExportFormat:
    """Return the format of a name.

    Raises:
        Problem: `unknown_format`.
    """
    if found := EXPORT_FORMATS.get(name):
        return found
    hint = f"one of {', '.join(EXPORT_FORMATS)}"
    raise Problem(ErrorCode.UNKNOWN_FORMAT, f"there is no format {name[:40]!r}", hint=hint)


def check_export_style(name: str, style: str) -> str:
    """Return the style of an export in a format: the given one, or the usual one.

    Raises:
        Problem: `unknown_format`, or `bad_choice` if the format cannot have the style.
    """
    styles = find_format(name).styles
    if not style:
        return styles[0] if styles else ""
    if style in styles:
        return style
    what = f"{name} cannot cite in the style {style[:40]!r}"
    hint = f"one of {', '.join(styles)}" if styles else "leave the style out: this format is data"
    raise Problem(ErrorCode.BAD_CHOICE, what, hint=hint)


def find_format_of_file(name: str) -> str:
    """Return the name of the format that the name of a file ends in; "" if there is none."""
    endings = (
        (ending, key)
        for key, one in EXPORT_FORMATS.items()
        for ending in (one.suffix, *one.other_exporters)
    )
    fitting = [(suffix, key) for suffix, key in endings if name.lower().endswith(f".{suffix}")]
    return max(fitting, key=lambda one: len(one[0]))[1] if fitting else ""
