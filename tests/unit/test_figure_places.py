"""A figure stands behind what is said of it, in Markdown and in HTML."""

from __future__ import annotations

from typing import Any

import pytest

from graph.records import Source
from report.computed_results import ReportComputation, make_figure
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown

BODY = (
    "The fee is 15 euros [S1].\n\n## Fees\n\n{fees} [S2].\n\n## Boats\n\nThe Tern leads [S2]. It "
    "is cheap [S2].\n\n- One is [S2]\n- {boats}\n\n## What is not known\n\n- The price [S2]."
)


def source(number: int) -> Source:
    return Source(
        id=f"S{number}", page=f"p{number}", title="Fee", location="computation", kind="computed"
    )


def document(body: str, **more: Any) -> Any:
    """Return a document whose source S2 has two figures."""
    made = [make_figure(name, b"<svg/>") for name in ("one.svg", "two.svg")]
    computed = ReportComputation(
        source=source(2), code="x", inputs=[], sha256="f" * 64, outcome="same", figures=made
    )
    plain = {"title": "Boats", "question": "", "status": "succeeded", "notices": [], "body": body}
    empty = {"gaps": [], "texts": {}, "removed": [], "doubted": [], "unreviewed": 0}
    around = {"language": "en", "created": "2026-01-12", "sources": [source(1), source(2)]}
    method = {"summary": "", "parts": []}
    return {**plain, **empty, **around, "method": method, "computations": [computed], **more}


def order(text: str, *parts: str) -> list[str]:
    """Return parts of a text in their order in it."""
    assert all(text.count(part) == 1 for part in parts)
    return sorted(parts, key=text.index)


@pytest.mark.parametrize("render", [render_markdown, render_html])
@pytest.mark.parametrize(
    ("fees", "boats", "expected"),
    [
        ("The figure shows the fees", "Two", ["the fees", "one.svg", "two.svg", "Tern leads"]),
        (
            "The fees are low",
            "A chart has them [S2]",
            ["Tern leads", "one.svg", "two.svg", "known"],
        ),
        ("The fees are low", "Two", ["Tern leads", "one.svg", "two.svg", "known"]),
        ("The figures show the fees", "Two", ["the fees", "one.svg", "two.svg", "Tern leads"]),
        (
            "The figures of fees end in May",
            "A chart has them [S2]",
            ["Tern leads", "one.svg", "two.svg", "known"],
        ),
        ("The 图 fees", "Two", ["fees", "one.svg", "two.svg", "Tern leads"]),
    ],
)
def test_a_figure_stands_behind_what_is_said_of_it(
    render: Any, fees: str, boats: str, expected: list[str]
):
    shown = render(document(BODY.format(fees=fees, boats=boats)))
    if render is render_html:
        shown = shown.partition("<article>")[2].partition("</article>")[0]
        expected = [one for one in expected if one != "two.svg"]
        expected = ["<figure>" if one == "one.svg" else one for one in expected]
        assert shown.count("<figure>") == 2
        shown = shown.replace("<figure>", "", 1)
    else:
        shown = shown.partition("\n\n## Sources")[0]

    assert order(shown, *expected) == expected
    assert not any("\U00108000" <= one <= "\U0010bfff" for one in shown)


def test_a_figure_of_which_no_section_is_about_stands_at_the_end():
    for body in ("The fee is 15 euros [S1].", "The fee is 15 \U00108000 [S1]."):
        shown = render_markdown(document(body))
        assert order(shown, "15", "one.svg", "two.svg", "## Sources")[1] == "one.svg"
        page = render_html(document(body))
        assert page.count("<figure>") == 2
        assert "\U00108000" not in page + shown
