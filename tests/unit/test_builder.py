"""The shape of the flow: the picture in the design, and its version."""

from __future__ import annotations

import hashlib
from importlib import import_module
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from graph.builder import build_workflow, choose_worker, make_graph, make_step_graph
from graph.session import ThreadSession
from graph.state import GRAPH_VERSION
from tests.conftest import make
from tests.fake_model import Script

DRAWINGS = {
    "1": "3899df32b2a8",
    "2": "5e07b8bb4a67",
    "3": "5e07b8bb4a67",
    "4": "8fdcd3f1d56f",
    "5": "c2421489e9c8",
    "6": "fe77ffe6b1a5",
    "7": "d5e61ef6e660",
}
"""The drawing of every version of the graph that was ever released, hashed."""

MAIN = {
    "__start__": {"profile"},
    "profile": {"coordinator", "same_question"},
    "same_question": {"coordinator", "deliver", "knowledge", "same_question", "team"},
    "coordinator": {"background", "rewrite", "reporter", "learn"},
    "rewrite": {"background"},
    "background": {"planner"},
    "planner": {"human_feedback", "knowledge", "reporter", "team"},
    "human_feedback": {"human_feedback", "knowledge", "planner", "team"},
    "team": {"step", "remember", "human_input", "reporter"},
    "human_input": {"human_input", "team"},
    "step": {"team"},
    "remember": {"team"},
    "knowledge": {"reporter", "team"},
    "reporter": {"deliver"},
    "deliver": {"memorize"},
    "memorize": {"deliver", "learn"},
    "learn": {"__end__"},
}

STEP = {
    "__start__": {"researcher", "coder"},
    "researcher": {"reflection", "__end__"},
    "coder": {"reflection", "__end__"},
    "reflection": {"researcher", "coder", "__end__"},
}


def ways(graph: Any) -> dict[str, set[str]]:
    """Return where one may go from every node of a compiled graph."""
    found: dict[str, set[str]] = {}
    for edge in graph.get_graph().edges:
        found.setdefault(edge.source, set()).add(edge.target)
    return found


def test_the_main_graph_goes_the_ways_of_the_picture():
    assert ways(make_graph()) == MAIN


def test_a_step_goes_the_ways_of_the_picture():
    assert ways(make_step_graph()) == STEP


def test_every_drawing_has_a_version_of_its_own():
    drawn = [graph.get_graph().draw_mermaid() for graph in (make_graph(), make_step_graph())]
    arrows = [sorted(line.strip() for line in one.splitlines() if "->" in line) for one in drawn]
    drawing = hashlib.sha256(repr(arrows).encode()).hexdigest()[:12]

    told = "the graph has changed: raise GRAPH_VERSION and add its drawing here"
    assert DRAWINGS.get(GRAPH_VERSION) == drawing, f"{told}: {drawing}"


def test_a_node_is_the_function_of_its_name_in_the_file_of_its_name():
    names = {*build_workflow().nodes, *make_step_graph().get_graph().nodes} - {"step"}
    own = sorted(name for name in names if not name.startswith("__"))

    assert len(own) == 18
    for name in own:
        assert callable(getattr(import_module(f"nodes.{name}"), name))


@pytest.mark.parametrize(("kind", "name"), [("research", "researcher"), ("compute", "coder")])
def test_the_kind_of_a_step_says_who_does_it(kind: str, name: str):
    assert choose_worker({"step": {"kind": kind}}) == name


def test_a_server_gets_the_same_graph_each_time_and_without_a_checkpointer():
    assert make_graph() is make_graph()
    assert make_graph().checkpointer is None


async def test_after_a_run_the_state_holds_plain_data_and_messages_only(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    step = {"title": "the waggle dance", "queries": ["waggle dance"]}
    script.on("Triage", {"research": True})
    script.on("Rewrite", {"question": "How do bees dance?", "queries": ["waggle dance"]})
    script.on("Draft", {"title": "Bees", "steps": [step]})
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    said = '<q s="S1">The waggle dance tells other bees the direction of food.</q>'
    script.on("researcher", said)
    script.on("reporter", said)

    outcome = await thread.begin("How do bees dance?", make(choices), lambda _: None)

    state = dict(outcome.state)
    messages = state.pop("messages")
    assert state["findings"]
    assert strange(state) == []
    assert all(isinstance(message, BaseMessage) for message in messages)


def strange(value: Any, place: str = "state") -> list[str]:
    """Return the places where something is that is no plain data."""
    if type(value) in (dict, list):
        parts = value.items() if type(value) is dict else enumerate(value)
        return [one for name, part in parts for one in strange(part, f"{place}.{name}")]
    return [] if type(value) in (str, int, float, bool, type(None)) else [place]
