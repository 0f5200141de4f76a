"""The documentation says what the code does."""

from __future__ import annotations

import ast
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


ROOMS = (
    "app calls config graph library memory models nodes privacy prompts report runs storage text"
    " tools"
)

NOT_READ = {
    *("CAP_SETGID", "CAP_SETUID", "DEFAULT_LIMITS", "SC_CLK_TCK"),
    *("NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    *("ANONYMIZED_TELEMETRY", "ORT_DISABLE_TELEMETRY", "LANGGRAPH_CLI_NO_ANALYTICS"),
    *("PYDANTIC_DISABLE_PLUGINS", "AEGRA_CONFIG", "N_JOBS_PER_WORKER", "WORKER_COUNT"),
    *("LANGGRAPH_MIN_POOL_SIZE", "REDIS_BROKER_ENABLED"),
}
"""Names in the code that are no variables, or that the program itself sets for others."""

VARIABLE = re.compile(r"(?!SQLITE_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|VISUAL|EDITOR")


def test_every_variable_that_is_read_is_in_the_guide():
    pages = ("configuration.md", "deployment.md", "tracing.md")
    guide = " ".join((REFERENCE_PAGE.parent / one).read_text("utf-8") for one in pages)
    files = [file for room in ROOMS.split() for file in (README.parent / room).rglob("*.py")]
    named = {
        part.value
        for file in files
        for part in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }

    read = {one for one in named if VARIABLE.fullmatch(one)} - NOT_READ

    assert len(read) > 80
    # Several settings on one line are written with the ends of their names alone.
    assert not sorted(one for one in read if f"{one.removeprefix('DOSSIER')}`" not in guide)


def test_the_readme_is_short_enough_for_a_newcomer():
    assert len(README.read_text("utf-8").splitlines()) <= 120
