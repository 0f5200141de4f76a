"""The sources of a report for bibliographies: BibTeX and CSL-JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from graph.records import Source
from report.citations import describe_location, get_document_key, get_origin
from report.exports.export_formats import ExportedReport
from report.markdown.sanitizer import to_safe_url, to_single_line
from report.rendering.numbering import number_document
from text.regex import regex

_SPECIAL = regex(r"[\\{}$&#%_~^]")
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_UNBALANCED = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
_NO_KEY = regex(r"[^a-z0-9]+")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = regex(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


class CitedWork(NamedTuple):
    """A source of a report as a bibliography names it."""

    key: str
    number: int
    title: str
    authors: list[str]
    published: str
    """An ISO date or its beginning; may be empty."""
    read: str
    address: str
    """Its web address; empty for what is on no site."""
    path: str
    """Where it is otherwise."""
    site: str
    language: str
    is_paper: bool


def export_bibtex(report: ExportedReport) -> bytes:
    """Return the cited sources as BibTeX in UTF-8, in the order of their numbers.

    What TeX would take for a command is escaped, in all fields but addresses.
    """
    return "\n".join(map(_format_entry, _list_works(report))).encode()


def export_csl(report: ExportedReport) -> bytes:
    """Return the cited sources as CSL-JSON, in the order of their numbers."""
    items = [_to_csl_item(one) for one in _list_works(report)]
    return (json.dumps(items, ensure_ascii=False, indent=1) + "\n").encode()


def _list_works(report: ExportedReport) -> list[CitedWork]:
    shown, _ = number_document(report.document)
    return list_cited_works(report, shown.documents)


def list_cited_works(report: ExportedReport, documents: Sequence[Source]) -> list[CitedWork]:
    """Return the cited sources in the order of their numbers, each with a key of its own.

    Args:
        report: The report.
        documents: Its documents, from number 1.
    """
    days: dict[str, str] = {}
    for source in report.document["sources"]:
        if day := report.read.get(source["id"]):
            key = get_document_key(source)
            days[key] = max(days.get(key, ""), day)
    works = [
        _describe(number, source, days.get(get_document_key(source), ""))
        for number, source in enumerate(documents, start=1)
    ]
    return [*_make_keys_unique(works)]


def _describe(number: int, source: Source, read: str) -> CitedWork:
    address, title = to_safe_url(source["location"]), to_single_line(source["title"])
    published = source.get("published", "")
    return CitedWork(
        key=_make_key(source, number),
        number=number,
        title=title or to_single_line(source["location"]),
        authors=[one for one in map(str.strip, source.get("author", "").split(";")) if one],
        published=published if _DATE.fullmatch(published) else "",
        read=read if get_origin(source) == "web" else "",
        address=address,
        path="" if address else to_single_line(describe_location(source)),
        site=source.get("site", "") if address else "",
        language=source.get("language", ""),
        is_paper=source.get("genre") == "paper",
    )


def _make_key(source: Source, number: int) -> str:
    """Return the first author's last name or the site, and the year, in ASCII."""
    first = source.get("author", "").partition(";")[0].split()
    for name in (*first[-1:], source.get("site", "").removeprefix("www."), source["title"]):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        words = _NO_KEY.sub("", plain.partition(".")[0])[:20]
        if words and not words.isdigit():
            return words + source.get("published", "")[:4]
    return f"source{number}"


def _make_keys_unique(works: Sequence[CitedWork]) -> Iterator[CitedWork]:
    """Yield works; a key that another one has already gets the number of the source."""
    taken: set[str] = set()
    for one in works:
        key = one.key if one.key not in taken else f"{one.key}-{one.number}"
        taken.add(key)
        yield one._replace(key=key)


def _format_entry(work: CitedWork) -> str:
    """Return a work as an entry, with the fields that are known."""
    year, _, month = work.published[:7].partition("-")
    fields = {
        "title": f"{{{_escape(work.title)}}}",
        "author": " and ".join(map(_format_author, work.authors)),
        "year": year,
        "month": _MONTHS[int(month) - 1] if month and 0 < int(month) < 13 else "",
        "date": work.published,
        "organization": _escape(work.site),
        "url": work.address.translate(_UNBALANCED),
        "urldate": work.read,
        "howpublished": _escape(work.path),
        "langid": _escape(work.language),
        "note": f"Source {work.number} of the report",
    }
    bare = ("month",)  # the names of months are macros
    lines = [
        f"  {name} = {text if name in bare else f'{{{text}}}'},"
        for name, text in fields.items()
        if text
    ]
    return "\n".join([f"@misc{{{work.key},", *lines, "}", ""])


def _format_author(name: str) -> str:
    """Return a name; one that is no person's name in the order of the west is kept whole."""
    escaped = _escape(name)
    return escaped if is_personal_name(name) else f"{{{escaped}}}"


def is_personal_name(name: str) -> bool:
    """Tell whether a name looks like one of a person in the order of the west."""
    words = name.split()
    is_western = len(words) in (2, 3, 4) and all(one.isascii() or one.isalpha() for one in words)
    return is_western and " and " not in name


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPED.get(found[0], f"\\{found[0]}"), text)


def _to_csl_item(work: CitedWork) -> dict[str, Any]:
    kind = "article" if work.is_paper else "webpage" if work.address else "document"
    item: dict[str, Any] = {
        "id": work.key,
        "type": kind,
        "title": work.title,
        "author": [{"literal": name} for name in work.authors],
        "issued": _to_date_parts(work.published),
        "accessed": _to_date_parts(work.read),
        "container-title": work.site,
        "URL": work.address,
        "archive_location": work.path,
        "language": work.language,
        "citation-number": work.number,
    }
    return {name: value for name, value in item.items() if value}


def _to_date_parts(day: str) -> dict[str, Any]:
    parts = [int(part) for part in re.findall(r"\d+", day)]
    return {"date-parts": [parts]} if parts else {}
