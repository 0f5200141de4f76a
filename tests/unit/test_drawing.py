"""The README shows what the code is."""

from __future__ import annotations

from graph.readme import README, fill_readme


def test_the_readme_holds_the_graph_and_the_choices_of_today():
    text = README.read_text("utf-8")

    assert "human_feedback" in text
    assert text == fill_readme(text), "run `make docs`"
