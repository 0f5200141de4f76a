"""Who deletes a thread of the development server deletes nobody else's."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest

from app.development_threads import delete_in_turn

pytest.importorskip("langgraph_runtime_inmem", reason="the server extra is not installed")

NEEDED = {"DATABASE_URI": ":memory:", "REDIS_URI": "fake", "MIGRATIONS_PATH": "__inmem"}
"""What the development server sets before it is loaded."""


@pytest.fixture
def ops(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in NEEDED.items():
        monkeypatch.setenv(name, value)
    return import_module("langgraph_runtime_inmem.ops")


class _Connection:
    def __init__(self, owners: list[str]) -> None:
        threads = [{"thread_id": uuid4(), "metadata": {"owner": one}} for one in owners]
        self.store: dict[str, list[Any]] = {"threads": threads, "runs": [], "crons": []}


async def test_threads_that_are_deleted_at_once_take_no_others_with_them(
    ops: Any, monkeypatch: pytest.MonkeyPatch
):
    async def delete_slowly(*_: Any, **__: Any) -> None:
        await asyncio.sleep(0.01)

    monkeypatch.setattr(ops, "_delete_checkpoints_for_thread", delete_slowly)
    monkeypatch.setattr(ops.Threads, "delete", staticmethod(ops.Threads.delete))
    delete_in_turn()
    delete_in_turn()
    connection = _Connection(["bob", "bob", "ada", "bob", "ada"])
    threads = connection.store["threads"]
    his = [one["thread_id"] for one in threads if one["metadata"]["owner"] == "bob"]

    for ids in await asyncio.gather(*(ops.Threads.delete(connection, one) for one in his)):
        assert await anext(ids) in his

    assert [one["metadata"]["owner"] for one in threads] == ["ada", "ada"]
