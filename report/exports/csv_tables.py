"""The tables of a report as files of CSV in one archive."""

from __future__ import annotations

from config.errors import ErrorCode, Problem
from report.exports.export_formats import ExportedReport
from report.exports.zip_file import write_zip
from report.pictures.report_tables import list_report_tables, name_csv, write_csv
from report.rendering.numbering import number_document


def export_csv(report: ExportedReport) -> bytes:
    """Return an archive with a file for each table of a report, in the order of its text.

    Raises:
        Problem: `no_tables` if the report has none.
    """
    shown, _ = number_document(report.document)
    tables = list_report_tables(shown.body)
    if not tables:
        hint = "export the whole report, for example with --format docx"
        raise Problem(ErrorCode.NO_TABLES, "the report has no table", where=report.run, hint=hint)
    return write_zip(
        {
            name_csv(table, number): write_csv(table).encode()
            for number, table in enumerate(tables, start=1)
        }
    )
