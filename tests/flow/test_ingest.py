"""A chat that is read with a model: one call for each new session, and none without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from config.errors import ErrorCode, Problem
from graph.context import Context
from library.tables import pages
from nodes.ingest import make_ingest_graph
from storage.engine import read_rows
from tests.fake_model import Script

pytestmark = pytest.mark.usefixtures("database")

SAID = [
    {"speaker": "Ann", "text": "I adopted a cat named Tom.", "session": 1},
    {"speaker": "Ben", "text": "Tom the cat is ill.", "session": 2},
]


async def read(folder: Path, *said: dict[str, Any], model: str = "fake:any", **more: Any) -> Any:
    file = folder / "pets.jsonl"
    file.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    config: Any = {"configurable": {"thread_id": "pets"}}
    context = Context(models={"default": model}, **more)
    state = await make_ingest_graph().ainvoke({"file": str(file)}, config, context=context)
    return state["conversation"]


async def abstracts() -> list[str]:
    wanted = select(pages.c.abstract).where(pages.c.kind == "session").order_by(pages.c.origin)
    return list((await read_rows(wanted)).scalars())


async def test_each_session_gets_its_abstract_from_the_model(tmp_path: Path, script: Script):
    script.on("Abstract", {"abstract": "Ann adopts Tom."}, {"abstract": "Tom falls ill."})

    done = await read(tmp_path, *SAID)

    assert await abstracts() == ["Ann adopts Tom.", "Tom falls ill."]
    assert (done["name"], done["sessions"], done["messages"]) == ("pets", 2, 2)
    assert "<abstract>\nAnn adopts Tom.\n</abstract>" in script.prompts("Abstract")[1]


async def test_a_chat_that_has_grown_costs_a_call_for_what_is_new(tmp_path: Path, script: Script):
    script.on("Abstract", {"abstract": "Ann adopts Tom."}, {"abstract": "Tom falls ill."})
    await read(tmp_path, SAID[0])

    await read(tmp_path, *SAID)

    assert script.names() == ["Abstract", "Abstract"]


@pytest.mark.parametrize(
    "reply", ["no JSON", Problem(ErrorCode.MODEL_REFUSED, "no"), {"abstract": " "}]
)
async def test_an_answer_that_is_none_leaves_the_sentences_of_the_session(
    tmp_path: Path, script: Script, reply: Any
):
    script.on("Abstract", reply)

    await read(tmp_path, SAID[0])

    assert await abstracts() == ["Ann: I adopted a cat named Tom."]


async def test_a_chat_is_read_to_its_end_when_the_budget_is_spent(tmp_path: Path, script: Script):
    script.on("Abstract", {"abstract": "Ann adopts Tom."})

    done = await read(tmp_path, *SAID, max_calls=1, max_tokens=1000)

    assert done["sessions"] == len(await abstracts()) == 2


async def test_without_a_model_nobody_is_asked(tmp_path: Path):
    await read(tmp_path, SAID[0], model="extractive:")

    assert await abstracts() == ["Ann: I adopted a cat named Tom."]
