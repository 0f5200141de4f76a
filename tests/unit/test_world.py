"""The scripted model of the small world works as a researcher does, and its work is counted."""

from __future__ import annotations

import json
import re
from typing import Any

from evals import performance
from evals.openai_server import Call, Script, text_answer, write_answer
from evals.world import TOPICS, Pages, make_rules

FOUND = (
    '<pages>\n<page id="S7" title="Page 1" left_out="before">\n'
    "## The dance of bees\n\nThey dance.\n"
    '</page>\n<page id="S8" title="Page 2">\n## The winter of bees\n\nThey rest.\n</page>\n</pages>'
)
STEP = '<page id="S1">\nBees.\n</page>\n\n<step title="Bees and their queen">\nFind out.\n</step>'


async def answer(script: Script, talk: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the message with which the scripted model goes on with a conversation."""
    body = {"model": "gpt-4o", "messages": talk}
    _, pieces = await write_answer(script.pick(Call(0.0, "/v1/chat/completions", body)), body)
    message: dict[str, Any] = json.loads("".join(pieces))["choices"][0]["message"]
    return message


def called(message: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    calls = [call["function"] for call in message.get("tool_calls", [])]
    return [(call["name"], json.loads(call["arguments"])) for call in calls]


async def test_a_model_that_reads_on_searches_and_reads_a_section_before_it_writes():
    script = Script(make_rules(4, reads_on=True))
    talk: list[dict[str, Any]] = [{"role": "user", "content": STEP}]

    searched = await answer(script, talk)
    talk += [searched, {"role": "tool", "content": FOUND}]
    read = await answer(script, talk)
    talk += [read, {"role": "tool", "content": '<page id="S9">\nThe queen.\n</page>'}]
    written = await answer(script, talk)

    assert called(searched) == [("search", {"query": "counts of the queen of bees"})]
    assert called(read) == [("read", {"source": "S7", "section": "The winter of bees"})]
    assert not called(written)
    assert {"[S1]", "[S7]", "[S8]", "[S9]"} <= set(re.findall(r"\[S\d\]", text_answer(written)))


async def test_a_model_that_reads_on_plans_sections_for_all_findings_of_a_long_report():
    found = "".join(f'<finding id="s{number}">\nBees.\n</finding>\n' for number in (1, 2, 3))
    rules = make_rules(4, reads_on=True)
    (rule,) = [one for one in rules if one.get("schema") == "ReportOutline"]

    outline = rule["reply"]({"messages": [{"role": "user", "content": found}]})

    assert [one["findings"] for one in outline["sections"]] == [["s1", "s2"], ["s3"]]


async def test_a_model_that_does_not_read_on_writes_at_once():
    written = await answer(Script(make_rules(4)), [{"role": "user", "content": STEP}])

    assert not called(written)
    assert "[S1]" in text_answer(written)


def test_pages_have_a_section_for_each_topic_where_they_are_read_on():
    plain, parted = Pages(0.0, ""), Pages(0.0, "", headings=True)

    headings = re.findall(r"<h2>The (\w+) of bees</h2>", parted.bodies[0])

    assert headings == list(TOPICS)
    assert re.sub(r"<h2>.*?</h2>", "", parted.bodies[0]) == plain.bodies[0]


def test_the_chain_of_a_run_goes_through_steps_and_sections_side_by_side():
    order = [
        ("", 0.0), ("s1", 1.0), ("s2", 1.0), ("s1", 2.0), ("report.outline", 3.0),
        ("report.1", 4.0), ("report.2", 4.5), ("report.whole", 6.0),
    ]  # fmt: skip
    calls = [
        {"step": step, "role": "reporter", "at": begun + 1.0, "seconds": 1.0}
        for step, begun in order
    ]

    assert performance._chain(calls) == 6
