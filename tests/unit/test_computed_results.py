"""Which sentences of a report no longer hold when a program prints something else."""

from __future__ import annotations

import re

import pytest

from graph.records import DoubtedSentence, Source
from report.computed_results import (
    ReportComputation,
    add_doubts,
    cut_computations,
    list_outdated_statements,
    make_figure,
    render_figure_data,
    render_figures_html,
    render_figures_markdown,
    render_programs_html,
    render_programs_markdown,
)

BEFORE = "Mean fee: 15.0 euros\nBest boat: Tern\nMade in 0.12 s\n"
NORTH = "The mean fee is 15.0 euros [S2]."


@pytest.mark.parametrize(
    ("said", "after", "outdated"),
    [
        (NORTH, "Mean fee: 15.0 euros\nBest boat: Tern\nMade in 0.31 s\n", False),
        (NORTH, "Mean fee: 16.2 euros\nBest boat: Tern\nMade in 0.12 s\n", True),
        (NORTH, "", True),
        ("The best boat is the Tern [S2].", BEFORE.replace("Tern", "Gannet"), True),
        ("The best boat is the Tern [S2].", BEFORE.replace("15.0", "16.0"), False),
        ("The mean fee is 15 euros [S1].", "Mean fee: 16.2 euros\n", False),
        ("The mean fee is 15.0 euros [S2], as in May [S1].", "Mean fee: 16.2 euros\n", False),
    ],
)
def test_a_sentence_is_outdated_if_what_it_says_is_not_printed_again(
    said: str, after: str, *, outdated: bool
):
    others = {"S1": "In May the best boat had a mean fee of 15.0 euros.", "S2": BEFORE}

    found = list_outdated_statements(said, "S2", BEFORE, after, others)

    assert [one.strip() for one in found] == [said] * outdated


def test_a_further_doubt_takes_the_place_of_another_in_the_order_of_the_text():
    body = "Bees dance [S1]. The fee is 15 [S2]. Boats float [S3]."
    before = [
        DoubtedSentence(text="Boats float [S3].", reason="number"),
        DoubtedSentence(text="The fee is 15 [S2].", reason="number"),
    ]

    doubts = add_doubts(body, before, {"The fee is 15 [S2].": "recomputed"})

    assert [one["reason"] for one in doubts] == ["recomputed", "number"]


def computation(code: str) -> ReportComputation:
    where = Source(id="S2", page="p", title="Fee <b>", location="computation 1", kind="computed")
    figure = make_figure("fee.svg", b"<svg onload='x()'/>")
    return ReportComputation(
        source=where, code=code, inputs=["a.csv"], sha256="f" * 64, outcome="same", figures=[figure]
    )


def test_a_program_cannot_end_its_block_and_a_figure_is_only_an_image():
    shown = [computation("print('```\\n# Report\\n```')\n```\n</pre><script>x()</script>")]
    markdown = "\n\n".join(render_programs_markdown(shown, "en"))
    page = "".join([render_programs_html(shown, "en"), *render_figures_html(shown, "en")])

    assert "\n````python\n" in markdown
    assert markdown.rstrip().endswith("\n````")
    assert "from a.csv, run again with the same result, sha256 ffffffffffff" in markdown
    assert "<script>" not in page
    assert "<b>" not in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 1
    assert "onload" not in page
    assert "<li><figure>" not in page
    report = "\n\n".join(
        ["# Bees", *render_figures_markdown(shown, "en"), render_figure_data(shown)]
    )
    assert "data:image" not in cut_computations(report, "en")
    assert re.fullmatch(r"# Bees\n\n\*.+: report\.html\*\n", cut_computations(report, "en"))
    assert cut_computations("# Bees\n", "en") == "# Bees\n"
    assert render_figure_data(shown).startswith("[figure-1]: data:image/svg+xml;base64,")


@pytest.mark.parametrize("method", ["", "## How it was researched\n\n2024-05-05: 2 steps."])
def test_a_terminal_shows_no_programs(method: str):
    body = "# Bees\n\n## How it was computed\n\nBy counting [1].\n\n## Sources\n\n[1] Fee"
    programs = "\n\n".join(render_programs_markdown([computation("print('## Bees')")], "en"))
    short = f"{body}\n\n{method}".rstrip() + "\n"

    assert cut_computations(f"{body}\n\n{programs}\n\n{method}\n", "en") == short
    assert cut_computations(short, "en") == short


def test_a_figure_that_was_drawn_otherwise_the_second_time_is_marked():
    shown = [computation("draw()") | {"outcome": "files_differ", "changed": ["fee.svg"]}]
    (figure,) = render_figures_markdown(shown, "en")

    assert "\n\n*⚠ drawn otherwise" in figure
    assert "⚠ drawn otherwise" in "".join(render_figures_html(shown, "en"))
    told = "".join(render_programs_markdown(shown, "en"))
    assert "run again with the same words, files that came out differently: fee.svg" in told
