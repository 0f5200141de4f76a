"""Runs that search knowledge bases: those of the plan, before the steps and in them, no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.errors import Problem
from graph.session import ThreadSession
from library.knowledge_bases import save_base
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tools.knowledge.kinds import make_base, open_base

OWNER = join_owner("local", "")

HIVES = "The Aurora hive weighs 31 kilograms when it is empty."
TRAVEL = "Trips of beekeepers are paid by the Aurora office within nine days."


async def add_base(folder: Path, name: str, about: str, text: str, **options: object) -> None:
    """Name a folder with one file as a knowledge base of the person."""
    place = folder / name
    place.mkdir()
    (place / f"{name}.md").write_text(f"# The {name}\n\n{text}\n", encoding="utf-8")
    base = make_base(name, about, str(place), options, owner=OWNER)
    await open_base(base).refresh(lambda _: None)
    await save_base(base)


@pytest.fixture
async def bases(tmp_path: Path, choices: dict[str, object]) -> None:
    """Two knowledge bases beside the files of the run."""
    del choices
    await add_base(tmp_path, "hives", "Which hives we have, and what they weigh", HIVES)
    await add_base(tmp_path, "travel", "Who pays for trips, and when", TRAVEL)


def speak(script: Script, knowledge: list[str] | None, **step: object) -> None:
    """Let the scripted model plan one step."""
    planned = {"title": "the weight", "queries": ["Aurora hive weight"], **step}
    draft: dict[str, Any] = {"title": "Hives", "steps": [planned]}
    script.on("Triage", {"research": True})
    script.on("Rewrite", {"question": "", "queries": ["Aurora hive"]})
    script.on("DraftWithBases", draft if knowledge is None else {**draft, "knowledge": knowledge})
    script.on("Draft", draft)
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    script.on("Checks", {})
    script.on("researcher", "The Aurora hive weighs 31 kilograms [S1].")
    script.on("reporter", "The Aurora hive weighs 31 kilograms [S1].")


QUESTION = "What does the Aurora hive weigh?"


@pytest.mark.usefixtures("bases")
async def test_the_plan_names_a_base_and_only_that_is_searched_before_the_steps(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    speak(script, ["hives", "no such base"])

    outcome = await thread.begin(QUESTION, make(choices), lambda _: None)

    state = outcome.state
    found = " ".join(one["text"] for one in state["knowledge"])
    assert state["plan"]["knowledge"] == ["hives"]
    assert HIVES in found
    assert TRAVEL not in found
    (planned,) = script.prompts("DraftWithBases")
    assert "- travel: Who pays for trips, and when" in planned
    (researched,) = script.prompts("researcher")
    assert HIVES in researched
    assert TRAVEL not in researched
    kinds = {source["kind"]: source["site"] for source in state["sources"].values()}
    assert kinds["knowledge"] == "hives"
