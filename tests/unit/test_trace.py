"""One line for every call, readable after any crash."""

from __future__ import annotations

import asyncio
import json

import pytest

from config.errors import Problem
from privacy.service import delete_thread
from runs import trace as tracing
from runs.lifecycle import create_run
from runs.trace import flush_traces, read_trace, trace, trace_file
from tests.conftest import make
from tests.places import somewhere


@pytest.mark.usefixtures("either")
async def test_a_line_says_where_and_how_it_came_out():
    await trace(somewhere(), "search", "web", "ok", query="bees", hits=3)

    (line,) = await read_trace("t1-1")

    assert line.pop("at") > 1_700_000_000
    told = {"run": "t1-1", "step": "s1", "attempt": "0.0.0", "kind": "search", "role": "web"}
    assert line == told | {"status": "ok", "query": "bees", "hits": 3}


@pytest.mark.usefixtures("either")
async def test_lines_stand_in_the_order_they_were_written():
    for number in range(5):
        await trace(somewhere(), "model", "planner", "ok", number=number)

    assert [line["number"] for line in await read_trace("t1-1")] == list(range(5))


@pytest.mark.usefixtures("either")
async def test_lines_of_branches_do_not_mix():
    text = "bees " * 5_000
    await asyncio.gather(
        *(trace(somewhere(step=f"s{n}"), "model", "coder", "ok", text=text) for n in range(20))
    )

    lines = await read_trace("t1-1")

    assert {line["step"] for line in lines} == {f"s{number}" for number in range(20)}
    assert all(line["text"] == text for line in lines)


@pytest.mark.usefixtures("either")
async def test_every_run_has_a_trace_of_its_own():
    await trace(somewhere(), "model", "planner", "ok")
    await trace(somewhere(run="t1-2"), "model", "planner", "ok")

    assert len(await read_trace("t1-2")) == 1
    assert await read_trace("t1-3") == []


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    "text", ["蜜蜂🐝", "a\nb\r\nc", "a\u2028b\u2029c\x85d", '"}', "\x00\x1b[31m", "half \ud800"]
)
async def test_any_text_comes_back_as_it_was(text: str):
    await trace(somewhere(), "search", "web", "ok", query=text)
    await trace(somewhere(), "search", "web", "ok", query="next")

    assert [line["query"] for line in await read_trace("t1-1")] == [text, "next"]


async def test_a_line_is_one_line_of_json_that_a_person_can_read():
    await trace(somewhere(), "search", "web", "ok", query="蜜蜂\n跳舞")
    await flush_traces()

    text = trace_file("t1-1").read_text("utf-8")

    assert text.count("\n") == 1
    assert "蜜蜂" in text
    assert json.loads(text)["query"] == "蜜蜂\n跳舞"


async def test_half_a_line_of_a_killed_process_spoils_nothing_else():
    for status in ("first", "ok"):
        await trace(somewhere(), "model", "planner", status)
    await flush_traces()
    with trace_file("t1-1").open("a", encoding="utf-8") as file:
        file.write('{"at": 1, "run": "t1-')
    for status in ("next", "last"):
        await trace(somewhere(), "model", "planner", status)

    told = [line["status"] for line in await read_trace("t1-1")]
    assert told == ["first", "ok", "next", "last"]


async def test_branches_that_write_long_lines_at_once_do_not_tear_each_other():
    many = [
        trace(somewhere(), "model", "planner", f"s{at}", note="x" * 500_000) for at in range(60)
    ]
    await asyncio.gather(*many)
    await flush_traces()

    text = trace_file("t1-1").read_text(encoding="utf-8")
    assert {line["status"] for line in await read_trace("t1-1")} == {f"s{at}" for at in range(60)}
    assert len(text.splitlines()) == 60


@pytest.mark.parametrize(
    "foreign",
    [
        b"\xff\xfe\x00 no text",
        b'{"kind": "mod',
        b"[1, 2]",
        b"7",
        b'{"at": "soon", "kind": "model", "role": "", "step": "", "status": ""}',
        b'{"at": 1, "kind": "model", "role": "", "step": "", "status": "ok", "dollars": "x"}',
        b'{"kind": "model", "role": "", "step": "", "status": "ok"}',
        b"[" * 100_000,
    ],
)
async def test_a_line_that_is_none_of_ours_hides_no_other(foreign: bytes):
    await trace(somewhere(), "model", "planner", "ok", number=1)
    await flush_traces()
    with trace_file("t1-1").open("ab") as file:
        file.write(foreign + b"\n")
    await trace(somewhere(), "model", "planner", "ok", number=2)

    assert [line["number"] for line in await read_trace("t1-1")] == [1, 2]


async def test_nobody_waits_for_the_disk_and_many_lines_take_one_way_to_it(
    monkeypatch: pytest.MonkeyPatch,
):
    written: list[int] = []
    append = tracing._append_all
    monkeypatch.setattr(
        "runs.trace._append_all", lambda lines: (written.append(len(lines)), append(lines))
    )
    for number in range(20):
        await trace(somewhere(), "model", "planner", "ok", number=number)
    before = list(written)
    await flush_traces()

    assert before == []
    assert sum(written) == 20
    assert len(written) <= 2


async def test_a_line_that_cannot_be_written_is_told_with_the_next_one():
    trace_file("t1-1").parent.parent.mkdir(parents=True, exist_ok=True)
    trace_file("t1-1").parent.write_text("no folder")
    await trace(somewhere(), "model", "planner", "ok")

    with pytest.raises(Problem) as told:
        await flush_traces()
    assert told.value.code == "storage_unavailable"


@pytest.mark.usefixtures("either")
async def test_a_trace_goes_with_its_thread():
    await create_run("local", "t1", 1, "How do bees dance?", make({}))
    await trace(somewhere(), "model", "planner", "ok")
    await trace(somewhere(run="t2-1"), "model", "planner", "ok")
    await flush_traces()

    await delete_thread("t1")

    assert await read_trace("t1-1") == []
    assert len(await read_trace("t2-1")) == 1
