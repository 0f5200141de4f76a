"""A question over a table, from the file to the report."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from graph.records import of_turn
from graph.session import Session
from runs.place import owned
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tools.ingest import ingest

HIVES = """hive,apiary,honey kg
A1,North,"1,204.5"
A2,North,880
B1,South,n/a
C1,South,950.5
"""
EXTRACTIVE = {"default": "extractive:"}


@pytest.fixture
async def hives(tmp_path: Path, thread: Session) -> str:
    """A folder with one table, read in; its root."""
    folder = tmp_path / "hives"
    folder.mkdir()
    (folder / "hives.csv").write_text(HIVES, encoding="utf-8")
    return (await ingest(owned("local", ""), folder, lambda _: None)).root


async def test_a_sum_over_a_table_is_computed_and_cited_without_a_model(
    thread: Session, hives: str
):
    alone = {"models": EXTRACTIVE, "files": [hives], "auto_accept": True, "query_count": 0}
    outcome = await thread.begin("What is the total honey in the North?", make(alone), quiet)

    report = outcome.state["report"]
    assert outcome.state["status"] == "succeeded"
    assert report["body"] == (
        "In hives.csv, the total of honey kg where apiary = “North” is 2084.5 [S1].\n\n"
        "Computed over rows 2–5 of hives.csv: total of honey kg where apiary = “North”; "
        "2 of 4 rows used [S1]."
    )
    assert not report["removed"]
    assert not report["doubted"]
    source = outcome.state["sources"]["S1"]
    assert source["kind"] == "computed"
    assert source["location"] == f"{hives}/hives.csv#rows=2-5"


async def test_a_plan_is_not_shown_for_what_is_computed(thread: Session, hives: str):
    context = make({"models": EXTRACTIVE, "files": [hives], "auto_accept": False})
    outcome = await thread.begin("How many hives are there in the South?", context, quiet)

    assert outcome.request is None
    assert "2 of the 4 rows" in outcome.state["report"]["body"]


async def test_any_model_is_shown_what_was_computed_and_may_say_it(
    thread: Session, hives: str, script: Script
):
    script.on("reporter", "The hives in the North gave 2,084.5 kg in all [S1].")
    chosen = {"models": {"default": "fake:any"}, "files": [hives], "query_count": 0}
    outcome = await thread.begin("What is the total honey in the North?", make(chosen), quiet)

    assert 'kind="computed"' in script.prompts("reporter")[0]
    assert outcome.state["report"]["body"].startswith("The hives in the North gave 2,084.5 kg")
    assert not outcome.state["report"]["doubted"]
    assert "Draft" not in script.names()


async def test_a_question_that_can_be_read_in_two_ways_is_partial_and_says_which(
    thread: Session, tmp_path: Path
):
    folder = tmp_path / "years"
    folder.mkdir()
    for year, honey in (("2021", 5), ("2022", 9)):
        text = f"hive,honey\nA1,{honey}\nA2,4\n"
        (folder / f"hives-{year}.csv").write_text(text, encoding="utf-8")
    root = (await ingest(owned("local", ""), folder, lambda _: None)).root
    context = make({"models": EXTRACTIVE, "files": [root], "auto_accept": True})
    outcome = await thread.begin("What is the total honey?", context, quiet)

    assert outcome.state["status"] == "partial"
    assert "hives-2021.csv" in outcome.state["report"]["body"]
    assert "hives-2022.csv" in outcome.state["report"]["body"]
    assert "13" not in outcome.state["report"]["body"]


async def test_a_table_that_has_changed_since_it_was_read_is_not_computed_with(
    thread: Session, hives: str
):
    await anyio.Path(hives, "hives.csv").write_text(HIVES + "C2,South,1\n", encoding="utf-8")
    context = make({"models": EXTRACTIVE, "files": [hives], "auto_accept": True})
    outcome = await thread.begin("How many hives are there?", context, quiet)

    assert not any(one["kind"] == "computed" for one in outcome.state["sources"].values())


async def test_another_question_of_the_folder_is_researched_as_before(
    thread: Session, choices: dict[str, object]
):
    outcome = await thread.begin("How many eggs does the queen lay?", make(choices), quiet)

    assert of_turn(outcome.state["findings"], 1)
