"""A memory file that is too long for a call: its beginning, and what the call is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.doctor import _instructions
from graph.session import ThreadSession
from memory.agents_md import memory
from memory.agents_md.content import order_by_relevance
from memory.agents_md.memory import AgentsMdMemory, files_over_budget
from memory.middleware import recall_block
from memory.protocol import Query
from memory.registry import explain_recall
from storage.engine import close_database
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

RULE = (
    "- Rule {n}: write about topic{n} in the way of house{n}, with all of its colours and forms.\n"
)
BEES = "- Name every dance of bees by the person who described it first.\n"
WINE = "- For wine give the year of the harvest.\n"


def many(at: int, special: str = BEES) -> str:
    rules = [RULE.format(n=n) for n in range(400)]
    rules[at] = special
    return "# How I work\n\nWrite to me as to a colleague.\n\n## Rules\n\n" + "".join(rules)


def written(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "AGENTS.md").write_text(text, encoding="utf-8")


async def told(about: str) -> str:
    block = await recall_block(Query("local/", "reporter", about), [AgentsMdMemory()], 3_000)
    (part,) = block.groups
    return part.notes[0].text


@pytest.mark.parametrize("at", [30, 390])
async def test_what_a_call_is_about_is_told_wherever_it_stands_and_the_beginning_too(
    home: Path, at: int
):
    written(home, many(at))

    text = await told("How do bees dance?")

    assert text.startswith("# How I work\n\nWrite to me as to a colleague.")
    assert BEES.strip() in text
    assert "…" in text
    assert "Rule 0:" in text


async def test_a_rule_is_told_under_its_heading_and_rules_in_their_order(home: Path):
    text = many(50) + "\n## Wine\n\n" + WINE + "- And the grape, if it is wine from Alsace.\n"
    written(home, text)

    lines = (await told("Which wine of Alsace is dry?")).split("\n")

    places = [lines.index(line) for line in ("## Wine", WINE.strip())]
    assert places == sorted(places)


async def test_a_file_that_fits_is_told_whole(home: Path):
    written(home, "- One.\n\n- Two.\n")

    assert await told("anything") == "- One.\n\n- Two."


async def test_files_of_few_bytes_fit_without_being_counted(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    written(home, "- One.\n\n- Two.\n")
    counted: list[str] = []
    monkeypatch.setattr(memory, "count_tokens", lambda text: counted.append(text) or 1)

    assert await files_over_budget("local/", 900) == []
    assert counted == []
    assert await files_over_budget("local/", 0)
    assert counted


def test_code_and_items_of_several_lines_stay_together():
    text = "Start.\n\n```\n- not an item\n\nbees\n```\n\n- one\n  goes on with bees\n- two"

    order = order_by_relevance("x " * 400 + "\n" + text, "bees")

    together = [order.index(at) for at in (4, 5, 6, 7)]
    assert together == list(range(together[0], together[0] + 4))
    assert order.index(10) == order.index(9) + 1
    assert sorted(order) == list(range(12))


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
async def test_a_person_is_told_that_it_was_cut(
    thread: ThreadSession, choices: dict[str, object], script: Script, home: Path
):
    written(home, many(390))

    state = (await thread.begin("How do bees dance?", make(choices), quiet)).state
    (one,) = [one for one in (await explain_recall("local/", state["run"])).items if one.cut[1]]

    assert one.memory == "instructions"
    assert 0 < one.cut[0] < one.cut[1]
    assert "beginning and what fits it" in await _instructions()
    await close_database()
