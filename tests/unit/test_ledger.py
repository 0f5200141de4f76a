"""Pay once: what was paid for is never asked for again, whatever dies in between."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from calls.ledger import (
    CallCost,
    LedgerCall,
    call_once,
    find_all_recorded,
    find_recorded,
    find_recorded_with_revision,
    record_call,
)
from runs.tables import calls
from storage.engine import read_rows
from tests.places import somewhere

pytestmark = pytest.mark.usefixtures("either")

ROOT = Path(__file__).parents[2]

PAY_AND_WAIT = """
import asyncio
from calls.ledger import LedgerCall, call_once
from tests.places import somewhere

async def make():
    return {"hits": ["paid"]}

async def main():
    await call_once(LedgerCall(somewhere(), "search", "web", "bees"), make)
    print("recorded", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


class Maker:
    """Something that is paid for; it counts how often."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)
        self.made = 0

    async def __call__(self) -> Any:
        self.made += 1
        await asyncio.sleep(0)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        return result


def a_call(
    request: Any = "bees", kind: Any = "search", role: str = "web", **place: str
) -> LedgerCall:
    return LedgerCall(somewhere(**place), kind, role, request)


async def rows() -> list[Any]:
    return list((await read_rows(select(calls))).all())


async def test_a_recorded_call_is_not_made_again():
    make = Maker(["one"], ["two"])

    assert await call_once(a_call(), make) == ["one"]
    assert await call_once(a_call(), make) == ["one"]
    assert make.made == 1


@pytest.mark.parametrize("result", [[], {}, "", 0, False, "蜜蜂", "a\u2028b\x00c", "\ud800"])
async def test_whatever_came_back_comes_back_again(result: Any):
    make = Maker(result)

    assert await call_once(a_call(), make) == await call_once(a_call(), make) == result
    assert make.made == 1


@pytest.mark.parametrize(
    "other",
    [
        a_call(step="s2"),
        a_call(repetition="0.0.1"),
        a_call(run="t1-2"),
        a_call(owner="somebody/"),
        a_call(owner="local/project"),
        a_call("wasps"),
        a_call(["bees"]),
        a_call(kind="fetch"),
        a_call(role="planner"),
    ],
    ids=lambda call: call.key[:6],
)
async def test_the_same_request_elsewhere_is_another_call(other: LedgerCall):
    make = Maker("one", "two")
    await call_once(a_call(), make)

    assert await call_once(other, make) == "two"


def test_the_order_of_a_requests_parts_does_not_matter():
    assert a_call({"a": 1, "b": [2]}).key == a_call({"b": [2], "a": 1}).key


@pytest.mark.parametrize("request_", ["蜜蜂", "\ud800", "a\x00b", {"q": "\U0001f41d"}])
def test_any_text_can_be_asked_for(request_: Any):
    assert len(a_call(request_).key) == 64


async def test_equal_calls_side_by_side_both_get_an_answer_and_one_is_kept():
    make = Maker("a", "b", "c", "d", "e")

    answers = await asyncio.gather(*(call_once(a_call(), make) for _ in range(5)))

    assert set(answers) <= set("abcde")
    assert len(await rows()) == 1
    assert await call_once(a_call(), make) in answers


async def test_a_call_that_failed_is_made_again():
    make = Maker(ValueError("down"), "up")
    with pytest.raises(ValueError, match="down"):
        await call_once(a_call(), make)

    assert await find_recorded(a_call()) is None
    assert await call_once(a_call(), make) == "up"


async def test_what_a_call_used_stands_beside_its_result():
    call = a_call(kind="model", role="planner")
    await record_call(call, "yes", 12.5, CallCost("a:b", 100, 10, 0.25))

    (row,) = await rows()

    assert (row.run, row.kind, row.role, row.step) == ("t1-1", "model", "planner", "s1")
    assert (row.model, row.tokens_in, row.tokens_out, row.cost) == ("a:b", 100, 10, 0.25)
    assert row.started == 12.5 < row.ended


async def test_a_free_call_costs_nothing():
    await call_once(a_call(), Maker("yes"))

    (row,) = await rows()

    assert (row.model, row.tokens_in, row.tokens_out, row.cost) == ("", 0, 0, 0.0)


async def test_a_recorded_call_survives_a_killed_process():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PAY_AND_WAIT, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    assert await process.stdout.readline() == b"recorded\n"
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    make = Maker("paid twice")

    assert await call_once(a_call(), make) == {"hits": ["paid"]}
    assert make.made == 0


async def test_what_a_call_needs_to_know_is_read_at_once(monkeypatch: pytest.MonkeyPatch):
    await record_call(a_call(), {"said": "hm"}, 0.0)
    reads: list[object] = []

    async def counted(*asked: Any) -> Any:
        reads.append(asked)
        return await read_rows(*asked)

    monkeypatch.setattr("calls.ledger.read_rows", counted)

    assert await find_recorded_with_revision(a_call()) == ({"said": "hm"}, 0)
    assert len(reads) == 1


async def test_the_results_of_several_calls_are_found_at_once_but_for_those_never_made():
    made, other = a_call(), replace(a_call(), kind="search")
    await record_call(made, {"text": "bees"}, 0.0)
    assert await find_all_recorded([made, other]) == {made.key: {"text": "bees"}}
