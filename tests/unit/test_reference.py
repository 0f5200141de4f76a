"""The documentation says what the code does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from app.reference import GRAPH_PAGE, REFERENCE_PAGE, fill_graph, render_reference
from config.settings import Settings

README = Path(__file__).parents[2] / "README.md"


def test_the_reference_is_that_of_today():
    assert REFERENCE_PAGE.read_text("utf-8") == render_reference(), "run `make docs`"


def test_the_picture_of_the_graph_is_that_of_today():
    text = GRAPH_PAGE.read_text("utf-8")

    assert "human_feedback" in text
    assert text == fill_graph(text), "run `make docs`"


def test_the_reference_has_every_command_and_says_what_every_setting_means():
    text = render_reference()

    assert {"### dossier ask", "### dossier memory forget"} <= set(text.splitlines())
    for one in fields(Settings):
        assert re.search(rf"\| `DOSSIER_{one.name.upper()}` \|.*\| \S.* \|", text)


def test_the_guide_and_the_example_of_settings_have_every_setting():
    """Several settings on one line are written with the ends of their names alone."""
    guide = (REFERENCE_PAGE.parent / "configuration.md").read_text("utf-8")
    example = (README.parent / ".env.example").read_text("utf-8")

    for one in fields(Settings):
        assert f"_{one.name.upper()}`" in guide
        assert f"DOSSIER_{one.name.upper()}" in example


def test_the_readme_is_short_enough_for_a_newcomer():
    assert len(README.read_text("utf-8").splitlines()) <= 120
