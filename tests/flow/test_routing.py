"""Real questions are researched, small talk is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from models.extractive.model import ExtractiveChatModel
from nodes.coordinator import Triage

BENCH = Path(__file__).parents[3] / "shared" / "data" / "deep_research_bench" / "queries.jsonl"
SMALL_TALK = Path(__file__).with_name("smalltalk.txt").read_text("utf-8").splitlines()


def researched(said: str) -> bool:
    form = {"name": "Triage", "schema": Triage.model_json_schema()}
    model = ExtractiveChatModel().bind(response_format={"type": "json_schema", "json_schema": form})
    return Triage.model_validate_json(str(model.invoke([HumanMessage(said)]).text)).research


@pytest.mark.skipif(not BENCH.exists(), reason="the prompts of deep_research_bench are not here")
def test_every_prompt_of_deep_research_bench_is_researched():
    prompts = [json.loads(line)["prompt"] for line in BENCH.read_text("utf-8").splitlines()]

    assert len(prompts) == 50
    assert [prompt for prompt in prompts if not researched(prompt)] == []


def test_forty_lines_of_small_talk_are_not():
    lines = [line for line in SMALL_TALK if line.strip()]

    assert len(lines) >= 40
    assert [line for line in lines if researched(line)] == []
