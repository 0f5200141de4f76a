"""However a run of a server ends, it is written down as it ended."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langgraph_api.errors import UserInterrupt

from app.server import dossier
from config.errors import Problem
from graph.context import Context
from runs.lifecycle import found, opened
from runs.lock import is_held

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Problem("model_auth", "the key is wrong"), "failed", "model_auth"),
        (KeyError("a mistake of ours"), "failed", "internal"),
        (asyncio.CancelledError(), "cancelled", ""),
        (UserInterrupt("cancelled by a client"), "cancelled", ""),
    ],
)
async def test_a_run_that_ends_in_an_error_says_which(error: BaseException, status: str, code: str):
    run = await opened("local/", "t1", 1, "Question?", Context())
    runtime = cast("Any", SimpleNamespace(user=None, execution_runtime=SimpleNamespace(context={})))

    with pytest.raises(type(error)):
        async with dossier({"configurable": {"thread_id": "t1"}}, runtime):
            raise error

    left = await found("local/", run)
    assert (left.status, left.code) == (status, code)
    assert not is_held("t1")
