"""Points of a run, for tests that stand where a node would."""

from __future__ import annotations

from langgraph.runtime import ExecutionInfo, Runtime

from graph.context import Context
from runs.place import Here


def somewhere(**more: str) -> Here:
    """Return a point of a run, any of its words replaced."""
    place = Here(
        owner="local/", thread="t1", run="t1-1", session="one", step="s1", attempt="0.0.0"
    )
    return place._replace(**more)


def runtime(thread: str = "t1", session: str = "one", **choices: object) -> Runtime[Context]:
    """Return the runtime of a node of a thread, with the choices of its run."""
    info = ExecutionInfo("c", "n", "task", thread_id=thread, run_id=session)
    return Runtime(context=Context(**{"models": {"default": "fake:any"}, **choices}), execution_info=info)
