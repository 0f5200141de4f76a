"""The tables of a report as CSV: all of them in one archive, or the only one."""

from __future__ import annotations

from config.errors import ErrorCode, Problem
from report.exports.export_formats import ExportedReport
from report.exports.zip_file import write_zip
from report.pictures.report_tables import ReportTable, list_report_tables, name_csv, write_csv
from report.rendering.numbering import number_document


def export_csv(report: ExportedReport) -> bytes:
    """Return an archive with a file for each table of a report, in the order of its text.

    Raises:
        Problem: `no_tables` if the report has none.
    """
    return write_zip(
        {
            name_csv(table, number): write_csv(table).encode()
            for number, table in enumerate(_list_tables(report), start=1)
        }
    )


def export_only_table(report: ExportedReport) -> bytes:
    """Return the only table of a report as CSV.

    Raises:
        Problem: `no_tables` if the report has none, `bad_choice` if it has several.
    """
    tables = _list_tables(report)
    if len(tables) > 1:
        what = f"a file of CSV holds one table, and the report has {len(tables)}"
        hint = "give the file a name that ends in .zip, to have all of them"
        raise Problem(ErrorCode.BAD_CHOICE, what, where=report.run, hint=hint)
    return write_csv(tables[0]).encode()


def _list_tables(report: ExportedReport) -> list[ReportTable]:
    shown, _ = number_document(report.document)
    tables = list_report_tables(shown.body)
    if not tables:
        hint = "export the whole report, for example with --format docx"
        raise Problem(ErrorCode.NO_TABLES, "the report has no table", where=report.run, hint=hint)
    return tables
