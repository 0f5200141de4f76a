"""Checks of a report that need no document: its markers, its list, its tables, its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urlsplit

from report.citations import extract_host
from report.markdown.code import mask_code
from report.markdown.markdown_blocks import MarkdownBlock, split_cells
from report.markdown.markers import MARKER, QUOTED_WORDS
from report.verify.check_results import CheckResult
from report.verify.cited_report import CitedReport, Reference
from report.verify.given_documents import GivenDocument, to_bare_address
from report.verify.reference_list import HEADING_LINE, is_list_heading
from text.pattern_files import PatternFile
from text.script import detect_single_language

_PATTERNS = PatternFile("report.verify", "structure_checks.toml")

_REPEATED_CHARS = 200
_MIN_LAST_CHARS = 40
_MAX_DOMAIN_SHARE = 0.6
_MIN_DOMAIN_SOURCES = 3
_MIN_LANGUAGE_SHARE = 0.8


class CheckedSources(NamedTuple):
    """What a report may rest on."""

    documents: Mapping[str, GivenDocument]
    """The document of each reference, by its id, as far as it was given."""
    complete: bool
    """Whether the report may cite nothing but the documents that were given."""
    canonicalise: Callable[[str], str]
    """Returns the one form of a web address."""
    language: str = ""
    """The language that was asked for; empty if it is not known."""


def check_markers(report: CitedReport, sources: CheckedSources) -> CheckResult:
    """Check that every marker leads to a source (C1)."""
    result = CheckResult("C1")
    listed = {one.id: one for one in report.references}
    for use in report.uses:
        result.checked += 1
        reference = listed.get(use.id)
        if reference is None:
            result.add(use.line, f"no source has the marker {_show(use.label)}")
        elif use.address and not use.linked and reference.address.startswith("http"):
            one, other = map(sources.canonicalise, (use.address, reference.address))
            if one != other:
                where = f"{use.address}, and its source is {reference.address}"
                result.add(use.line, f"{_show(use.label)} leads to {where}")
    if not report.uses:
        result.skip("the report has no markers")
    return result


def _show(label: str) -> str:
    return f"[{label}]" if label.isdigit() else label


def check_addresses(report: CitedReport, sources: CheckedSources) -> CheckResult:
    """Check that every address is that of a source, and that of a real place (C3)."""
    result = CheckResult("C3")
    listed = {one.id for one in report.references if one.listed}
    known = {one.id for one in report.references if one.id in sources.documents}
    for use in (one for one in report.uses if one.address):
        if listed or sources.complete:
            result.checked += 1
            if use.id not in (listed or known):
                result.add(use.line, "no source has this address", use.address)
        else:
            result.skip("links in the text are its only references")
    for line, address, name in _list_addresses(report):
        result.checked += 1
        host = extract_host(address)
        if not address.startswith(("http://", "https://")):
            result.add(line, "not a web address", address)
        elif name not in known and _PATTERNS.placeholder_host.fullmatch(_host(address) or host):
            result.add(line, "an address that stands for any", address)
    if not result.checked and not result.unchecked:
        result.skip("the report has no addresses", 0)
    return result


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _list_addresses(report: CitedReport) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the address and the id of what has a scheme; each address once."""
    uses = [(one.line, one.address, one.id) for one in report.uses]
    listed = [(one.line, one.address, one.id) for one in report.references]
    seen: set[str] = set()
    for line, address, name in [*listed, *uses]:
        scheme, colon, _ = address.partition(":")
        if colon and scheme.isalpha() and len(scheme) > 1 and " " not in address:
            if address not in seen:
                yield line, address, name
            seen.add(address)


def check_list(report: CitedReport, _sources: CheckedSources) -> CheckResult:
    """Check that the list has exactly what is cited, in order and without gaps (C4)."""
    result = CheckResult("C4")
    listed = [one for one in report.references if one.listed]
    if not listed or not report.uses:
        result.skip("no list of sources" if not listed else "the text cites none of the list")
        return result
    used = list(dict.fromkeys(one.id for one in report.uses))
    for one in listed:
        result.checked += 1
        if one.id not in used:
            result.add(one.line, "listed, and never cited", _name(one))
    for label, count in Counter(one.label for one in listed if one.label).items():
        if count > 1:
            line = max(one.line for one in listed if one.label == label)
            result.add(line, f"the number {label} is given {count} times")
    _check_numbers(result, report, [one for one in listed if one.label.isdigit()], used)
    return result


def _check_numbers(
    result: CheckResult, report: CitedReport, listed: Sequence[Reference], used: Sequence[str]
) -> None:
    numbers = [int(one.label) for one in listed]
    if report.style != "numbers" or not numbers:
        return
    named = any(one.listed and one.label and not one.label.isdigit() for one in report.references)
    missing = [one for one in range(1, max(numbers)) if one not in numbers]
    for number in [] if named else missing:
        result.add(listed[0].line, f"the list has no number {number}")
    first = [int(one[1:]) for one in used if int(one[1:]) in numbers]
    late = next((at for at, one in enumerate(first, start=1) if one != at), 0)
    if late and first == [*dict.fromkeys(first)] and first != sorted(first):
        line = next(one.line for one in report.uses if one.id == f"S{first[late - 1]}")
        what = (
            f"numbers are not in the order of their first use: [{first[late - 1]}] is number {late}"
        )
        result.add(line, what, warning=not report.own)


def _name(reference: Reference) -> str:
    return f"[{reference.label}] {reference.title}" if reference.label else reference.title


def check_duplicates(report: CitedReport, sources: CheckedSources) -> CheckResult:
    """Check that no two references are one address or one document (C5)."""
    result = CheckResult("C5")
    seen: dict[str, Reference] = {}
    listed = [one for one in report.references if one.listed] or report.references
    for one in listed:
        document = sources.documents.get(one.id)
        keys = [key for key in (_key(one, sources), _name_document(document)) if key]
        result.checked += bool(keys)
        other = next((seen[key] for key in keys if key in seen and seen[key].id != one.id), None)
        if other:
            what = f"the same source as {_name(other) or other.address}"
            result.add(one.line, what, _name(one), warning=_is_footnote(report, one))
        seen |= dict.fromkeys(keys, one)
    if not result.checked:
        result.skip("no source has an address or a document")
    return result


def _is_footnote(report: CitedReport, reference: Reference) -> bool:
    """Tell whether a reference is a footnote of another system, in which sources are named anew."""
    return not report.own and report.text.split("\n")[reference.line - 1].lstrip().startswith("[^")


def _name_document(document: GivenDocument | None) -> str:
    """Return by what a document is known; results computed from one table have other titles."""
    return f"\0{document.name}\0{document.title}" if document else ""


def _key(reference: Reference, sources: CheckedSources) -> str:
    """Return the address of a web page without what makes no other page of it."""
    address = sources.canonicalise(reference.address)
    if not address.startswith(("http://", "https://")):
        return ""
    return to_bare_address(address)


def check_leftovers(report: CitedReport, sources: CheckedSources) -> CheckResult:
    """Check that nothing of a prompt or a tool is left, and that the language is one (C12)."""
    result = CheckResult("C12")
    for number, line in _iter_prose_lines(report.text):
        found = _PATTERNS.leftover.search(line)
        result.checked += bool(line.strip())
        if found:
            result.add(number, "left over from a prompt or a tool", found[0])
    texts = [QUOTED_WORDS.sub("", MARKER.sub("", one.text)) for one in report.statements]
    lengths: Counter[str] = Counter()
    for text in texts:
        lengths[detect_single_language(text) or "mixed"] += len(text)
    main, most = max(lengths.items(), key=lambda one: one[1], default=("", 0))
    share = most / max(sum(lengths.values()), 1)
    result.note = f"{main} {share:.0%}" if main else ""
    if texts and share < _MIN_LANGUAGE_SHARE:
        result.add(0, f"only {share:.0%} of the text is in one language", warning=True)
    if not sources.language:
        result.reason = "the language that was asked for is not known"
    elif main and main not in ("mixed", sources.language[:2]):
        result.add(0, f"it is in {main}, and {sources.language} was asked for")
    return result


def check_completeness(report: CitedReport, _sources: CheckedSources) -> CheckResult:
    """Check that there is text with an end, in every section, and nothing twice (C13)."""
    result = CheckResult("C13", checked=1)
    fences = [
        one.text for one in report.blocks if one.kind in ("text", "item") and "```" in one.text
    ]
    if fences:
        result.add(0, "a block of code is not closed")
    for block in _list_empty_sections(report.blocks):
        result.add(_find_line(report, block.text), "a section without text", block.text)
    if not any(line.strip() and not HEADING_LINE.match(line) for line in report.text.split("\n")):
        result.add(0, "the report has no text")
    last = next((one for one in reversed(report.blocks) if one.kind not in ("blank", "rule")), None)
    prose = last and last.kind == "text" and len(last.text) >= _MIN_LAST_CHARS
    if last and prose and not _PATTERNS.end.search(last.text):
        result.add(len(report.lines), "it ends within a sentence", last.text[-60:])
    _check_repetition(result, report)
    return result


def _list_empty_sections(blocks: Sequence[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    full = [one for one in blocks if one.kind not in ("blank", "rule")]
    for at, block in enumerate(full):
        following = full[at + 1] if at + 1 < len(full) else None
        is_title = at == 0 and (following is None or block.lead.strip() == "#")
        if block.kind != "heading" or is_title or is_list_heading(block.lead + block.text):
            continue
        deeper = following and following.lead.count("#") > block.lead.count("#")
        if following is None or (following.kind == "heading" and not deeper):
            yield block


def _find_line(report: CitedReport, text: str) -> int:
    first = text.split("\n")[0].strip()
    return next((at for at, one in enumerate(report.lines, start=1) if first in one), 0)


def _check_repetition(result: CheckResult, report: CitedReport) -> None:
    """Record where a passage of 200 characters stands for the second time."""
    texts = [one.text for one in report.statements if not one.row]
    lines = [one.line for one in report.statements if not one.row]
    seen: dict[str, int] = {}
    for at in range(len(texts)):
        passage = ""
        for text in texts[at : at + 8]:
            passage = f"{passage} {text}"
            if len(passage) > _REPEATED_CHARS:
                break
        key = passage[:_REPEATED_CHARS]
        if len(key) == _REPEATED_CHARS and key in seen:
            result.add(lines[at], f"it repeats line {seen[key]}", texts[at])
            return
        seen.setdefault(key, lines[at])


def check_tables(report: CitedReport, _sources: CheckedSources) -> CheckResult:
    """Check that rows of a table have as many cells, and that totals are right (C14)."""
    result = CheckResult("C14")
    for is_row, run in groupby(report.blocks, key=lambda one: one.kind == "row"):
        rows = [split_cells(MARKER.sub("", one.text)) for one in run] if is_row else []
        if len(rows) < 2:
            continue
        result.checked += 1
        for row in rows[1:]:
            if len(row) != len(rows[0]):
                line = _find_line(report, row[0].strip() or "|")
                what = f"{len(row)} cells in a table of {len(rows[0])} columns"
                result.add(line, what, " | ".join(row))
        _check_total(result, report, rows)
    if not result.checked:
        result.skip("there is no table", 0)
    return result


def is_total(row: str) -> bool:
    """Tell whether a row of a table sums up the others."""
    return bool(_PATTERNS.total.fullmatch(split_cells(row)[0]))


def _check_total(result: CheckResult, report: CitedReport, rows: Sequence[Sequence[str]]) -> None:
    body = [one for one in rows[1:] if any(map(str.isalnum, "".join(one)))]
    if len(body) < 3 or not _PATTERNS.total.fullmatch(body[-1][0]):
        return
    for column in range(1, min(map(len, body))):
        cells = [_PATTERNS.number_cell.fullmatch(one[column]) for one in body]
        if not all(cells) or any("%" in one[column] for one in body):
            continue
        values = [_value(one["value"]) for one in cells if one]
        *parts, total = values
        decimals = max(len(one["value"].partition(".")[2]) for one in cells if one)
        slack = 0.5 * 10.0**-decimals * (len(parts) + 1) + 1e-9
        if total > max(parts) and abs(sum(parts) - total) > slack:
            line = _find_line(report, body[-1][0].strip())
            result.add(
                line,
                f"the sum is {sum(parts):.{decimals}f}, and not {total:.{decimals}f}",
                " | ".join(body[-1]),
            )


def _value(written: str) -> float:
    return float(written.replace(",", "").replace(" ", "").replace(" ", "").replace("−", "-"))


def check_diversity(report: CitedReport, _sources: CheckedSources) -> CheckResult:
    """Tell from how many sites the sources are; one with most of them is worth a warning (C15)."""
    result = CheckResult("C15")
    hosts = Counter(filter(None, (_site(one.address) for one in report.references)))
    count = sum(hosts.values())
    result.checked = count
    if not count:
        result.skip("no source has a web address")
        return result
    site, most = hosts.most_common(1)[0]
    result.note = f"{len(hosts)} sites; {site} {most / count:.0%}"
    if count >= _MIN_DOMAIN_SOURCES and most / count > _MAX_DOMAIN_SHARE:
        result.add(0, f"{most} of {count} sources are from {site}")
    return result


def _site(address: str) -> str:
    """Return the last two parts of a host, three below such as `co.uk`."""
    host = extract_host(address) if address.startswith("http") else ""
    if host.replace(".", "").isdigit():
        return host
    parts = host.split(".") if host else []
    short = len(parts) > 2 and len(parts[-1]) == 2 and len(parts[-2]) <= 3
    return ".".join(parts[-3:] if short else parts[-2:])


def check_safety(report: CitedReport, _sources: CheckedSources) -> CheckResult:
    """Check that nothing in a report is run or loaded by what shows it (C18)."""
    result = CheckResult("C18", checked=1)
    lines = [*_iter_prose_lines(report.text)]
    shown = [_PATTERNS.escaped.sub(_show_sign, line) for _, line in lines]
    # Within an element of HTML, a backslash escapes nothing.
    strict = any(_PATTERNS.element.search(line) for line in shown)
    for (number, line), text in zip(lines, shown, strict=True):
        for pattern, what in (
            (_PATTERNS.active, "active content"),
            (_PATTERNS.loaded, "a picture of another site"),
        ):
            found = pattern.search(text) or (pattern.search(line) if strict else None)
            if found:
                result.add(number, what, found[0])
    return result


def _show_sign(found: re.Match[str]) -> str:
    """Return an escaped sign, or a blank for one that would begin an element or a picture."""
    return " " if found["sign"] in "<![" else found["sign"]


def check_page_safety(page: str) -> CheckResult:
    """Check that nothing of a page in HTML is loaded, and no attribute is a script (C18)."""
    result = CheckResult("C18", checked=1)
    for number, line in enumerate(page.split("\n"), start=1):
        found = _PATTERNS.active_page.search(line)
        if found:
            result.add(number, "active content", found[0])
    return result


def _iter_prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of code, with their numbers."""
    inside = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith(("```", "~~~")):
            inside = not inside
        elif not inside:
            yield number, mask_code(line)[0]
