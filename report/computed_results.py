"""What a report shows of the programs whose results it cites: figures, code, and a second run."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NotRequired

from typing_extensions import TypedDict

from graph.records import DoubtedSentence, Recomputed, Source
from report.checks.calculations import iter_all_numbers, with_rounding
from report.checks.numbers import is_known_number
from report.checks.source_text import normalize_statement
from report.figure_captions import find_figure_caption
from report.labels import append_detail, get_label, get_method_label
from report.markdown.markdown_blocks import iter_statements, parse_blocks, statement_key
from report.markdown.markers import list_cited_ids
from report.markdown.sanitizer import escape_markdown
from report.rendering.html_parts import escape_line, render_disclosure, render_section
from text.regex import regex
from text.words import search_words

_FIGURE = regex(r"(?m)^!\[(.+)\]\[figure-\d+\]$")
_FIGURE_DATA = regex(r"(?m)^\[figure-\d+\]: (?:data:|report-figure-)\S+$\n?")

_TICKS = regex("`+")

MEDIA_TYPES = {"png": "image/png", "svg": "image/svg+xml"}
"""The media types of figures by suffix."""


class ReportFigure(TypedDict):
    """A figure that a program drew."""

    name: str
    data: str
    """Its bytes in base64."""


class ReportComputation(TypedDict):
    """A program whose result a report cites."""

    source: Source
    code: str
    inputs: list[str]
    sha256: str
    """The hash of what it printed."""
    outcome: str
    """What came of running it again; empty if it was not."""
    changed: NotRequired[list[str]]
    """The names of the files that it did not write again as before."""
    figures: list[ReportFigure]


def make_figure(name: str, data: bytes) -> ReportFigure:
    """Return a figure as a document holds it."""
    return ReportFigure(name=name, data=base64.b64encode(data).decode())


def list_outdated_statements(
    body: str, source: str, before: str, after: str, others: Mapping[str, str]
) -> list[str]:
    """Return the statements that cite a program which printed something else the second time.

    Those are left out of which every number, or without numbers every word, still stands in what
    it printed, in another source that they cite, or never stood in its output.

    Args:
        body: The report.
        source: The id of the source.
        before: What the program printed first.
        after: What it printed when it was run again.
        others: The texts of the other sources by id.
    """
    said = list_citing_statements(body, source)
    kept = after.splitlines()
    changed = "\n".join(line for line in before.splitlines() if line not in kept)
    return [one for one in said if _is_outdated(one, source, changed, after, others)]


def _is_outdated(
    statement: str, source: str, changed: str, after: str, others: Mapping[str, str]
) -> bool:
    beside = [
        others[name] for name in list_cited_ids(statement) if name != source and name in others
    ]
    known, plain = "\n".join([after, *beside]), normalize_statement(statement)
    numbers = [with_rounding(one) for one in iter_all_numbers(plain)]
    was, now = sorted(iter_all_numbers(changed)), sorted(iter_all_numbers(known))
    if any(is_known_number(one, was) and not is_known_number(one, now) for one in numbers):
        return True
    lost = set(search_words(changed)) - set(search_words(known))
    return bool(lost.intersection(search_words(plain)) - {f"{one.value:g}" for one in numbers})


def list_citing_statements(body: str, source: str) -> list[str]:
    """Return the statements of a text that cite a source."""
    return [one for one in iter_statements(parse_blocks(body)) if source in list_cited_ids(one)]


def add_doubts(
    body: str, doubted: Sequence[DoubtedSentence], new: Mapping[str, str]
) -> list[DoubtedSentence]:
    """Return doubts with further ones, in the order of the text; a statement has only one.

    Args:
        body: The text.
        doubted: The doubts there are.
        new: The reasons of the further ones by statement.
    """
    keys = {statement_key(one) for one in new}
    kept = [one for one in doubted if statement_key(one["text"]) not in keys]
    added = [DoubtedSentence(text=text, reason=reason) for text, reason in new.items()]
    order = {statement_key(one): at for at, one in enumerate(iter_statements(parse_blocks(body)))}
    return sorted(
        [*kept, *added], key=lambda one: order.get(statement_key(one["text"]), len(order))
    )


def list_recomputed(
    recomputed: Sequence[Recomputed], sources: Mapping[str, Source], language: str
) -> list[str]:
    """Return in words what came of running each program again."""
    return [
        append_detail(
            sources[one["source"]]["title"],
            _describe_outcome(one["outcome"], one.get("files", []), language),
            language,
        )
        for one in recomputed
        if one["source"] in sources
    ]


def _describe_outcome(outcome: str, changed: Sequence[str], language: str) -> str:
    """Return in words what came of running a program again, and which files came out otherwise."""
    files = get_label("comma", language).join(changed)
    more = get_method_label("again_other_files", language).format(files) if files else ""
    said = get_method_label(f"again_{outcome}", language) if outcome else ""
    return get_label("clause", language).join(filter(None, (said, more)))


def render_figures_markdown(
    computations: Sequence[ReportComputation], language: str
) -> Iterator[str]:
    """Yield each figure as a reference to data that stands at the end of the report."""
    for number, (title, figure, mark) in enumerate(_list_figures(computations, language), start=1):
        name = f"{escape_markdown(title)} ({escape_markdown(figure['name'])})"
        yield f"![{name}][figure-{number}]" + (f"\n\n*{mark}*" if mark else "")


def cut_computations(report: str, language: str, where: str = "report.html") -> str:
    """Return a report in Markdown without its programs, and with figures only named.

    A terminal shows no image, and would be sent its data, which are tens of thousands of letters;
    programs are longer than the report. Both stand in its files.

    Args:
        report: What `render_markdown` returns.
        language: The language of the report.
        where: Where its figures are.
    """
    named = _FIGURE.sub(lambda figure: f"*{figure[1]}: {where}*", report)
    named = _FIGURE_DATA.sub("", named)
    sources, programs, method = (
        f"\n## {get_label(name, language)}\n" for name in ("sources", "programs", "method")
    )
    # A section of the report may have the same heading; the programs stand behind the sources.
    below = named.rfind(sources)
    start, end = named.find(programs, below), named.rfind(method)
    if 0 <= below < start:
        named = named[:start] + (named[end:] if end > start else "")
    return named.rstrip() + "\n"


def render_figure_data(computations: Sequence[ReportComputation], *, in_files: bool = False) -> str:
    """Return what the references to figures stand for, a line each.

    Args:
        computations: The programs of the report.
        in_files: Whether the figures are the files of `list_figure_files`, and not data.
    """
    figures = [figure for one in computations for figure in one["figures"]]
    places = [*list_figure_files(computations)] if in_files else map(_to_uri, figures)
    return "\n".join(f"[figure-{at}]: {place}" for at, place in enumerate(places, start=1))


def list_figure_files(computations: Sequence[ReportComputation]) -> dict[str, bytes]:
    """Return the bytes of the figures by the names of their files, in their order."""
    figures = [figure for one in computations for figure in one["figures"]]
    return {
        f"report-figure-{at}.{_find_suffix(one)}": base64.b64decode(one["data"])
        for at, one in enumerate(figures, start=1)
    }


def name_figures(computations: Sequence[ReportComputation]) -> list[ReportComputation]:
    """Return programs with figures that have a name and no data."""
    return [
        {**one, "figures": [{**figure, "data": ""} for figure in one["figures"]]}
        for one in computations
    ]


def render_programs_markdown(
    computations: Sequence[ReportComputation], language: str
) -> Iterator[str]:
    """Yield the heading of the programs, and each with its inputs and its code."""
    if computations:
        yield f"## {get_label('programs', language)}"
    for one in computations:
        title, about = one["source"]["title"], _about(one, language)
        yield f"**{escape_markdown(title)}** — {escape_markdown(about)}"
        longest = max((len(run[0]) for run in _TICKS.finditer(one["code"])), default=0)
        fence = "`" * max(3, longest + 1)
        yield f"{fence}python\n{one['code'].strip()}\n{fence}"


def render_figures_html(computations: Sequence[ReportComputation], language: str) -> Iterator[str]:
    """Yield each figure as an image whose data stands in the page."""
    for title, figure, mark in _list_figures(computations, language):
        yield (
            f'<figure><img src="{_to_uri(figure)}" alt="{escape_line(title)}">'
            f"<figcaption>{escape_line(f'{title} {mark}'.rstrip())}</figcaption></figure>"
        )


def render_programs_html(computations: Sequence[ReportComputation], language: str) -> str:
    """Return the programs, each with its inputs and its code, which a reader opens."""
    items = [
        f"<li>{escape_line(one['source']['title'])} — {escape_line(_about(one, language))}"
        + render_disclosure(
            get_label("program", language), f"<pre>{escape(one['code'].strip())}</pre>", "program"
        )
        + "</li>"
        for one in computations
    ]
    return render_section("programs", items, language, "ul")


def _list_figures(
    computations: Sequence[ReportComputation], language: str
) -> Iterator[tuple[str, ReportFigure, str]]:
    """Yield each figure with what it shows, and a mark if it is in doubt."""
    for one in computations:
        for figure in one["figures"]:
            is_other = figure["name"] in one.get("changed", [])
            mark = f"⚠ {get_label('figure_changed', language)}" if is_other else ""
            caption = find_figure_caption(one["code"], figure["name"])
            yield caption or one["source"]["title"], figure, mark


def _to_uri(figure: ReportFigure) -> str:
    return f"data:{MEDIA_TYPES[_find_suffix(figure)]};base64,{figure['data']}"


def _find_suffix(figure: ReportFigure) -> str:
    return figure["name"].rpartition(".")[2].lower()


def _about(one: ReportComputation, language: str) -> str:
    """Return in words what a program read, what came of its second run, and a hash."""
    comma = get_label("comma", language)
    outcome = _describe_outcome(one["outcome"], one.get("changed", []), language)
    inputs = get_label("program_inputs", language).format(comma.join(one["inputs"]))
    parts = (inputs if one["inputs"] else "", outcome, f"sha256 {one['sha256'][:12]}")
    return get_label("clause", language).join(filter(None, parts))
