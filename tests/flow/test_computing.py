"""A step that computes: a model writes a program, which runs in the sandbox and can be cited."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from graph.records import entries_of_turn
from graph.session import ThreadSession
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Verdict", "Enough", "Checks", "TableQueries"
)

SALES = """region,month,boats
North,2024-01,12
North,2024-02,18
South,2024-01,7
South,2024-02,
"""
MEAN = """import pandas as pd
sales = pd.read_csv("sales.csv").dropna()
means = sales.groupby("region")["boats"].mean()
print(f"Mean boats sold per month in the North: {means['North']:.1f}")
print(f"Mean boats sold per month in the South: {means['South']:.1f}")
"""
ASKED = "By how much did the North outsell the South, on an average month with a count?"
PLAN = {
    "title": "Boats",
    "steps": [{"title": "Mean boats sold per month by region", "kind": "compute", "queries": []}],
}


@pytest.fixture
async def sales(tmp_path: Path, thread: ThreadSession) -> str:
    """A folder with one table, read in; its root."""
    folder = tmp_path / "sales"
    folder.mkdir()
    (folder / "sales.csv").write_text(SALES, encoding="utf-8")
    return (await ingest_folder(join_owner("local", ""), folder, lambda _: None)).root


def running(code: str) -> AIMessage:
    """Return a message of a model that runs a program."""
    return AIMessage(
        "",
        tool_calls=[{"name": "run_python", "args": {"code": code}, "id": "1"}],
        response_metadata={"finish_reason": "tool_calls"},
    )


def choices(root: str, **more: object) -> dict[str, object]:
    return {
        "models": {"default": "fake:any"},
        "files": [root],
        "auto_accept": True,
        "max_reflections": 0,
        **more,
    }


async def test_a_number_that_a_program_printed_is_cited_and_stands_in_the_report(
    thread: ThreadSession, sales: str, script: Script
):
    script.on("Draft", PLAN)
    said = "The mean in the North is 15.0 boats per month, in the South 7.0 [S2]."
    script.on("researcher", running(MEAN), said)
    script.on("reporter", said)
    outcome = await thread.begin(ASKED, make(choices(sales)), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    print(finding, outcome.state["report"], outcome.state["sources"])
    assert finding["status"] == "ok"
    assert outcome.state["report"]["body"] == said
    assert not outcome.state["report"]["doubted"]
