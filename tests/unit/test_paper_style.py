"""The style of a page as a PDF needs it."""

from __future__ import annotations

from report.exports.paper_style import flatten_style

CSS = """
:root { --ink: #111; --font: 1em var(--sans); --sans: Arial, serif; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; } a { color: red } }
/* a { color: blue } */
p { color: var(--ink); font: var(--font); top: var(--unknown) }
:lang(zh) { --sans: Song; }
@media screen { .card { position: fixed } a:hover { color: green } }
@media print { :root { --ink: #000; } }
"""


def test_variables_have_the_last_value_that_counts_on_paper():
    flat = flatten_style(CSS, chinese=False)

    assert "p { color: #000; font: 1em Arial, serif; top: var(--unknown) }" in flat
    assert "font: 1em Song;" in flatten_style(CSS, chinese=True)


def test_rules_for_screens_and_comments_are_left_out():
    flat = flatten_style(CSS, chinese=False)

    for word in ("red", "blue", "green", "fixed", "#eee"):
        assert word not in flat
    assert "@media print" in flat
