"""A question over a table, from the file to the report."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from graph.records import entries_of_turn
from graph.session import ThreadSession
from report.document import list_gaps
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage",
    "Rewrite",
    "Draft",
    "researcher",
    "Verdict",
    "Enough",
    "reporter",
    "Checks",
    "TableQueries",
)

HIVES = """hive,apiary,honey kg
A1,North,"1,204.5"
A2,North,880
B1,South,n/a
C1,South,950.5
"""
EXTRACTIVE = {"default": "extractive:"}


@pytest.fixture
async def hives(tmp_path: Path, thread: ThreadSession) -> str:
    """A folder with one table, read in; its root."""
    folder = tmp_path / "hives"
    folder.mkdir()
    (folder / "hives.csv").write_text(HIVES, encoding="utf-8")
    return (await ingest_folder(join_owner("local", ""), folder, lambda _: None)).root


async def test_a_sum_over_a_table_is_computed_and_cited_without_a_model(
    thread: ThreadSession, hives: str
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


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Plot the total honey in the North", "No figure was drawn: that needs a language model"),
        ("请画一张每个养蜂场蜂蜜产量的柱状图", "没有画图：画图需要由语言模型编写程序"),
    ],
)
async def test_without_a_model_a_request_for_a_figure_is_told_what_it_needs(
    thread: ThreadSession, hives: str, asked: str, told: str
):
    alone = {"models": EXTRACTIVE, "files": [hives], "auto_accept": True, "query_count": 0}
    outcome = await thread.begin(asked, make(alone), quiet)

    (notice,) = [one for one in outcome.state["report"]["notices"] if one.startswith(told)]
    assert "OPENAI_API_KEY" in notice
    assert outcome.state["status"] != "succeeded"


async def test_a_plan_is_not_shown_for_what_is_computed(thread: ThreadSession, hives: str):
    context = make({"models": EXTRACTIVE, "files": [hives], "auto_accept": False})
    outcome = await thread.begin("How many hives are there in the South?", context, quiet)

    assert outcome.request is None
    assert "2 of the 4 rows" in outcome.state["report"]["body"]


async def test_any_model_is_shown_what_was_computed_and_may_say_it(
    thread: ThreadSession, hives: str, script: Script
):
    script.on("reporter", "The hives in the North gave 2,084.5 kg in all [S1].")
    chosen = {"models": {"default": "fake:any"}, "files": [hives], "query_count": 0}
    outcome = await thread.begin("What is the total honey in the North?", make(chosen), quiet)

    assert 'kind="computed"' in script.prompts("reporter")[0]
    assert outcome.state["report"]["body"].startswith("The hives in the North gave 2,084.5 kg")
    assert not outcome.state["report"]["doubted"]
    assert "Draft" not in script.names()


async def read_in(folder: Path, **files: str) -> str:
    """Write files into a folder and read it in; return its root."""
    written(folder, files)
    return (await ingest_folder(join_owner("local", ""), folder, lambda _: None)).root


def written(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


BOATS = "boat,mooring fee,winter fee\nGannet,40,15\nTern,55,25\n"
PAINT = "The hull of a boat is painted every spring. Copper keeps barnacles off the hull.\n"


async def test_a_question_that_two_files_answer_is_answered_for_both(
    thread: ThreadSession, tmp_path: Path
):
    years = {f"y{year}_csv": f"hive,honey\nA1,{got}\nA2,4\n" for year, got in ((21, 5), (22, 9))}
    root = await read_in(tmp_path / "years", **years)
    context = make({"models": EXTRACTIVE, "files": [root], "auto_accept": True})
    outcome = await thread.begin("What is the total honey?", context, quiet)

    assert "In y21.csv, the total of honey is 9 [" in outcome.state["report"]["body"]
    assert "In y22.csv, the total of honey is 13 [" in outcome.state["report"]["body"]


@pytest.mark.parametrize("models", [EXTRACTIVE, {"default": "fake:any"}])
async def test_what_is_not_computed_is_told_and_the_rest_is_researched(
    thread: ThreadSession, tmp_path: Path, script: Script, models: dict[str, str]
):
    root = await read_in(tmp_path / "port", boats_csv=BOATS, paint_txt=PAINT)
    context = make({"models": models, "files": [root], "auto_accept": True})
    asked = "What keeps barnacles off the hull? And what is the average fee in boats.csv?"
    outcome = await thread.begin(asked, context, quiet)

    report = outcome.state["report"]
    assert "Copper keeps barnacles off the hull" in report["body"]
    assert outcome.state["status"] == "partial"
    (gap,) = [one for one in list_gaps(outcome.state) if one["reason"].startswith("not_computed")]
    assert gap["title"] == "what is the average fee in boats.csv?"
    assert "mooring fee or winter fee" in gap["reason"]
    assert not any(one["kind"] == "computed" for one in outcome.state["sources"].values())


@pytest.mark.parametrize("depth", ["standard", "quick"])
async def test_a_number_and_the_research_beside_it_are_both_in_the_report(
    thread: ThreadSession, tmp_path: Path, depth: str
):
    root = await read_in(tmp_path / "port", boats_csv=BOATS, paint_txt=PAINT)
    chosen = {"models": EXTRACTIVE, "files": [root], "auto_accept": True, "depth": depth}
    asked = "What keeps barnacles off the hull? What is the total mooring fee in boats.csv?"
    outcome = await thread.begin(asked, make(chosen), quiet)

    body = outcome.state["report"]["body"]
    assert "the total of mooring fee is 95 [" in body
    assert "Copper keeps barnacles off the hull" in body
    assert not outcome.state["report"]["doubted"]


async def test_what_no_model_could_write_up_still_has_the_number(
    thread: ThreadSession, tmp_path: Path, script: Script
):
    script.on("reporter", "Nothing with a source.")
    root = await read_in(tmp_path / "port", boats_csv=BOATS, paint_txt=PAINT)
    context = make({"models": {"default": "fake:any"}, "files": [root], "auto_accept": True})
    asked = "What keeps barnacles off the hull? What is the total mooring fee in boats.csv?"
    outcome = await thread.begin(asked, context, quiet)

    assert "the total of mooring fee is 95 [" in outcome.state["report"]["body"]
    assert 'kind="computed"' in script.prompts("Draft")[0]


LENT = """title,lent,back
Moss,2020-01-01,2020-01-11
Fern,2020-02-01,2020-02-04
Reed,2020-03-01,
"""
KEPT = {
    "asked": "Which book stayed away longest?",
    "table": "lent.csv",
    "operation": "max",
    "column": "lent",
    "until": "back",
    "filters": [{"column": "back", "is": "filled"}],
}


async def test_a_model_reads_a_question_in_unusual_words_into_a_query_that_code_runs(
    thread: ThreadSession, tmp_path: Path, script: Script
):
    root = await read_in(tmp_path / "books", lent_csv=LENT)
    script.on("TableQueries", {"queries": [KEPT], "rest": ""})
    context = make({"models": {"default": "fake:any"}, "files": [root], "auto_accept": True})
    outcome = await thread.begin("Of all lent, which stayed away the longest?", context, quiet)

    (source,) = [one for one in outcome.state["sources"].values() if one["kind"] == "computed"]
    assert "days from lent to back" in source["title"]
    assert "back filled" in source["title"]
    assert "is 10 days (Moss)" in outcome.state["report"]["body"]
    assert "title (text, 0 empty): Moss, Fern, Reed" in script.prompts("TableQueries")[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"column": "returned"},
        {"table": "other.csv"},
        {"operation": "total", "until": ""},
        {"filters": [{"column": "title", "is": "equal", "values": ["Mosses"]}]},
    ],
)
async def test_a_query_with_a_name_that_the_table_has_not_is_not_run(
    thread: ThreadSession, tmp_path: Path, script: Script, wrong: dict[str, object]
):
    root = await read_in(tmp_path / "books", lent_csv=LENT)
    script.on("TableQueries", {"queries": [{**KEPT, **wrong}], "rest": ""})
    context = make({"models": {"default": "fake:any"}, "files": [root], "auto_accept": True})
    outcome = await thread.begin("Of all lent, which stayed away the longest?", context, quiet)

    assert any(one["reason"].startswith("not_computed") for one in list_gaps(outcome.state))
    assert not any(one["kind"] == "computed" for one in outcome.state["sources"].values())


@pytest.mark.parametrize(
    "question", ["What is moss?", "How many rows are in lent.csv?", "What is the longest river?"]
)
async def test_no_model_is_asked_where_no_table_is_near_or_the_rules_read_it_all(
    thread: ThreadSession, tmp_path: Path, script: Script, question: str
):
    root = await read_in(tmp_path / "books", lent_csv=LENT)
    context = make({"models": {"default": "fake:any"}, "files": [root], "auto_accept": True})
    await thread.begin(question, context, quiet)

    assert "TableQueries" not in script.names()


async def test_files_beyond_what_is_read_for_one_question_are_named(
    thread: ThreadSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tools.tables.table_answers.MOST", 1)
    root = await read_in(tmp_path / "books", a_csv=LENT, b_csv="hive,honey\nA1,3\nA2,4\n")
    context = make({"models": EXTRACTIVE, "files": [root], "auto_accept": True})
    outcome = await thread.begin("How many titles have no back?", context, quiet)

    assert "1 of the 3 rows" in outcome.state["report"]["body"]
    (gap,) = [one for one in list_gaps(outcome.state) if one["reason"].startswith("not_computed")]
    assert "b.csv" in gap["reason"]


async def test_a_table_that_has_changed_since_it_was_read_is_not_computed_with(
    thread: ThreadSession, hives: str
):
    await anyio.Path(hives, "hives.csv").write_text(HIVES + "C2,South,1\n", encoding="utf-8")
    context = make({"models": EXTRACTIVE, "files": [hives], "auto_accept": True})
    outcome = await thread.begin("How many hives are there?", context, quiet)

    assert not any(one["kind"] == "computed" for one in outcome.state["sources"].values())


async def test_another_question_of_the_folder_is_researched_as_before(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin("How many eggs does the queen lay?", make(choices), quiet)

    assert entries_of_turn(outcome.state["findings"], 1)
