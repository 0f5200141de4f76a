"""Tables of knowledge bases are computed over like those of the run's own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import pytest

from graph.records import entries_of_turn
from graph.session import ThreadSession
from graph.state import State
from library.knowledge_records import KnowledgeBase, save_base
from nodes.deliver import draw_report
from report.export import render_report_files
from storage.file_store import file_store
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_computing import OWNER, only_finding, running, runs, sandboxed
from tests.places import somewhere
from tools.input_descriptions import describe_run_inputs
from tools.knowledge.kinds import make_base, open_base
from tools.knowledge.removal import remove_base
from tools.knowledge.table_copies import copies_folder
from tools.run_files import list_base_files
from tools.run_inputs import list_run_inputs, read_run_inputs

__all__ = ["runs", "sandboxed"]

YIELDS = "hive,kilograms,year\nAurora,31,2023\nBoreas,24,2023\nZephyr,17,2023\n"
NOTES = (
    "# Hives\n\nThe Aurora hive stands by the river.\n\n| tool | price |\n|-|-|\n| smoker | 20 |\n"
)
QUESTION = "What is the total of kilograms in yields.csv?"

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Verdict", "Enough", "Checks", "TableQueries", "Lessons"
)


async def add(base: KnowledgeBase) -> KnowledgeBase:
    await open_base(base).refresh(lambda _: None)
    await save_base(base)
    return base


@pytest.fixture
async def hives(tmp_path: Path, thread: ThreadSession) -> KnowledgeBase:
    """A folder with a table and a page as a knowledge base."""
    folder = tmp_path / "hives"
    folder.mkdir()
    (folder / "yields.csv").write_text(YIELDS, encoding="utf-8")
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    return await add(make_base("hives", "Yields of hives", str(folder), {}, owner=OWNER))


def builtin(choices: dict[str, object], **more: object) -> dict[str, object]:
    return {**choices, "models": {"default": "extractive:"}, **more}


async def files_of(state: State) -> dict[str, str]:
    document = await draw_report(OWNER, state["run"], state, "2024-05-05")
    return {kind: data.decode() for kind, data in render_report_files(document).items()}


@pytest.mark.usefixtures("hives")
async def test_a_question_over_a_table_of_a_base_is_computed_without_a_model(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin(QUESTION, make(builtin(choices)), lambda _: None)

    assert outcome.state["status"] == "succeeded"
    assert "72" in outcome.state["report"]["body"]
    assert entries_of_turn(outcome.state["findings"], 1) == {}
    (cited,) = outcome.state["report"]["cited"]
    source = outcome.state["sources"][cited]
    assert (source["kind"], source["site"]) == ("computed", "hives")
    files = await files_of(outcome.state)
    assert "knowledge base hives" in files["md"]
    assert "knowledge base hives" in files["html"]
    assert "hives (1 computed)" in files["md"]


@pytest.mark.usefixtures("hives")
async def test_no_table_of_a_base_is_read_that_the_plan_does_not_name(
    thread: ThreadSession, choices: dict[str, object]
):
    none = make(builtin(choices, knowledge=["none"]))
    outcome = await thread.begin(QUESTION, none, lambda _: None)

    assert "72" not in outcome.state["report"]["body"]


@pytest.mark.usefixtures("hives")
async def test_a_plan_that_a_person_changed_is_researched_beside_what_was_computed(
    thread: ThreadSession, choices: dict[str, object]
):
    reviewed = make(builtin(choices, auto_accept=False))
    waiting = await thread.begin(QUESTION, reviewed, lambda _: None)
    assert waiting.request
    args = dict(waiting.request["action_requests"][0]["args"])
    args["steps"] = "1. the Aurora hive\n   search: Aurora hive river\n"
    edited = {"name": "research_plan", "args": args}
    decision = {"type": "edit", "edited_action": edited}
    outcome = await thread.answer_review(decision, reviewed, lambda _: None)

    assert len(entries_of_turn(outcome.state["findings"], 1)) == 1
    assert "72" in outcome.state["report"]["body"]


@pytest.mark.usefixtures("hives")
async def test_a_program_computes_over_the_table_of_a_base_and_is_run_again(
    thread: ThreadSession, choices: dict[str, object], script: Script, runs: list[str]
):
    program = (
        "import pandas as pd\n"
        "table = pd.read_csv('yields.csv')\n"
        "print(f\"Mean yield of the hives: {table['kilograms'].mean():.1f} kilograms\")\n"
    )
    said = "The mean yield of the hives is 24.0 kilograms [{}]."
    step = {"title": "Mean yield of the hives", "kind": "compute", "queries": []}

    def cite(messages: list[Any]) -> str:
        told = "\n".join(str(one.text) for one in messages)
        shown = [one for one in told.split("<page ")[1:] if "Mean yield of the hives: 24" in one]
        return said.format(shown[-1].split('"')[1])

    def compute(messages: list[Any]) -> Any:
        return cite(messages) if any(one.type == "tool" for one in messages) else running(program)

    draft = {"title": "Hives", "steps": [step], "knowledge": ["hives"]}
    script.on("DraftWithBases", draft)
    script.on("coder", compute)
    script.on("researcher", compute)
    script.on("reporter", lambda messages: said.format(only_id(messages)))
    asked = make(choices, max_reflections=0)
    outcome = await thread.begin("How much do hives yield, on the whole?", asked, lambda _: None)

    assert only_finding(outcome)["status"] == "ok"
    assert runs == [program, program]
    (again,) = outcome.state["report"]["recomputed"]
    assert again["outcome"] == "same"
    source = outcome.state["sources"][again["source"]]
    assert (source["kind"], source["site"]) == ("computed", "hives")
    asked_for = "\n".join(script.prompts("researcher") or script.prompts("coder"))
    assert "yields.csv (knowledge base hives): 3 rows" in asked_for


def only_id(messages: list[Any]) -> str:
    told = "\n".join(str(one.text) for one in messages)
    return told.split("24.0 kilograms [")[1].split("]")[0]


async def test_files_of_a_base_and_tables_on_its_pages_are_inputs(hives: KnowledgeBase):
    place = somewhere()._replace(owner=OWNER)
    inputs = await list_run_inputs(place, make({}), {}, bases=["hives"], described=True)

    assert [(one.name, one.base) for one in inputs] == [
        ("yields.csv", "hives"),
        ("notes.md", "hives"),
    ]
    assert (await read_run_inputs(inputs))["yields.csv"].decode() == YIELDS
    assert "yields.csv (knowledge base hives): 3 rows" in await describe_run_inputs(inputs)
    assert await list_run_inputs(place, make({}), {}, bases=["gone"]) == []
    await remove_base(OWNER, hives)
    assert await list_base_files(OWNER, ["hives"]) == []


async def test_tables_of_a_bucket_are_kept_as_copies_until_they_change_or_it_is_removed(
    thread: ThreadSession,
):
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pipe("/yields/yields.csv", YIELDS.encode())
    system.pipe("/yields/notes.md", NOTES.encode())
    base = await add(make_base("hives", "Yields", "memory://yields", {}, owner=OWNER))

    files = {one.name: one for one in await list_base_files(OWNER, ["hives"])}
    assert [*files] == ["yields.csv"]
    kept = Path(files["yields.csv"].path).read_text("utf-8")  # noqa: ASYNC240
    assert kept == YIELDS
    assert files["yields.csv"].location.endswith("/yields/yields.csv")
    system.pipe("/yields/yields.csv", f"{YIELDS}Notus,3,2023\n".encode())
    await open_base(base).refresh(lambda _: None)
    (copy,) = file_store().list(copies_folder(base))
    assert b"Notus" in file_store().read(copy)
    await remove_base(OWNER, base)
    assert file_store().list(copies_folder(base)) == []
    system.store.clear()
