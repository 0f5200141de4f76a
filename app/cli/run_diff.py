"""dossier diff: what the report of a run says otherwise than that of another one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from config.user_files import check_new_file, write_user_file
from nodes.finished_report import load_report_document
from report.labels import describe_doubted_sentence
from report.rendering.diff_page import render_diff_page
from report.report_diff import (
    CHANGES,
    DiffLine,
    ReportDiff,
    ReportEnd,
    SectionDiff,
    compare_reports,
)
from runs.lifecycle import find_run
from text.pluralization import pluralize

_SIGNS = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "changed": ("~", "yellow"),
    "moved": (">", "cyan"),
    "recited": ("=", "cyan"),
}
_WORDS = {"added": ("{+", "+}", "green"), "removed": ("[-", "-]", "red")}
_LEGEND = {"changed": "~ changed", "moved": "> moved", "recited": "= other sources"}


async def show_differences(
    *, before: str, after: str, html: Path | None, force: bool, invocation: Invocation
) -> None:
    """Show what the report of a run says otherwise than that of another one, or write a page.

    Raises:
        Problem: `run_not_found`, `report_not_found`, `output_exists` or `output_not_writable`.
    """
    file = await asyncio.to_thread(html.absolute) if html else None
    if file:
        check_new_file(file, force=force)
    ends = [await _load_end(invocation.owner, name) for name in (before, after)]
    found = await asyncio.to_thread(compare_reports, *ends)
    data = found.as_dict()
    if not file:
        invocation.print_result(data, *list_diff_lines(found))
        return
    page = await asyncio.to_thread(render_diff_page, found)
    write_user_file(file, page, force=force)
    invocation.print_result({**data, "file": str(file)}, str(file))


async def _load_end(owner: str, name: str) -> ReportEnd:
    run = await find_run(owner, name)
    return ReportEnd(run.id, await load_report_document(run))


def list_diff_lines(found: ReportDiff) -> Iterator[Text]:
    """Yield the lines that show what differs, section by section, without what is the same."""
    for sign, end in (("-", found.before), ("+", found.after)):
        document = end.document
        about = f"{end.run}  {document['created']}  {document['status']}  "
        yield Text(f"{sign * 3} {about}{one_line(document['title'])}", "bold")
    if found.is_empty:
        yield Text("The reports say the same.")
        return
    yield Text(summarize_differences(found))
    yield from _list_head_lines(found)
    for section in found.sections:
        if section.change != "same":
            yield from _list_section_lines(section)
    if signs := [told for name, told in _LEGEND.items() if found.count(name)]:  # type: ignore[arg-type]
        yield Text("")
        yield Text(", ".join(signs), "dim")


def summarize_differences(found: ReportDiff) -> str:
    """Return how many sentences, sources and doubts differ, in a line."""
    if not found.comparable:
        return "The reports are in different languages, so their sentences are not compared."
    told = {"moved": "moved", "recited": "with other sources"}
    counts = [
        f"{pluralize(count, 'sentence')} {told.get(name, name)}"
        for name in CHANGES
        if (count := found.count(name))
    ]
    lists = {"gained": found.sources_gained, "lost": found.sources_lost}
    counts += [f"{pluralize(len(some), 'source')} {how}" for how, some in lists.items() if some]
    return f"{', '.join(counts) or 'Every sentence is the same'}."


def _list_head_lines(found: ReportDiff) -> Iterator[Text]:
    statuses = [one.document["status"] for one in (found.before, found.after)]
    if statuses[0] != statuses[1]:
        yield from _list_group("Status", [Text(" → ".join(statuses))])
    sources = [
        Text(f"{sign} {one_line(one['title'])}  {one_line(one['location'])}", colour)
        for some, (sign, colour) in (
            (found.sources_lost, _SIGNS["removed"]),
            (found.sources_gained, _SIGNS["added"]),
        )
        for one in some
    ]
    yield from _list_group("Sources", sources)
    doubts = [
        Text(f"{sign} {one_line(describe_doubted_sentence(one, language))}", colour)
        for some, (sign, colour), language in (
            (found.doubts_lost, _SIGNS["removed"], found.before.document["language"]),
            (found.doubts_gained, _SIGNS["added"], found.after.document["language"]),
        )
        for one in some
    ]
    yield from _list_group("Doubts", doubts)


def _list_group(title: str, lines: list[Text]) -> Iterator[Text]:
    if lines:
        yield Text("")
        yield Text(title, "bold")
        yield from lines


def _list_section_lines(section: SectionDiff) -> Iterator[Text]:
    yield Text("")
    heading = section.heading
    if heading is None:
        yield Text("(beginning)", "bold")
    elif heading.change == "same":
        yield Text(f"## {one_line(heading.after)}", "bold")
    else:
        yield _render_line(heading, "## ")
    for line in section.lines:
        if line.change != "same":
            yield _render_line(line)


def _render_line(line: DiffLine, mark: str = "") -> Text:
    """Return a line with its sign; what is gone in a changed one stands in `[-…-]`."""
    sign, colour = _SIGNS[line.change]
    if line.change != "changed":
        return Text(f"{sign} {mark}{one_line(line.after or line.before)}", colour)
    shown = Text(f"{sign} {mark}", colour)
    for run in line.words:
        start, end, style = _WORDS.get(run.change, ("", "", ""))
        # A space at the end of a run belongs to it.
        shown.append(f"{start}{one_line(f'|{run.text}|')[1:-1]}{end}", style)
    return shown
