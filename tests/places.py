"""Points of a run, for tests that stand where a node would."""

from __future__ import annotations

from langgraph.runtime import ExecutionInfo, Runtime

from graph.context import Context
from runs.place import Here


def somewhere(**more: str) -> Here:
    """Return a point of a run, any of its words replaced."""
    place = Here(owner="local/", thread="t1", run="t1-1", step="s1", attempt="0.0.0")
    return place._replace(**more)


def runtime(thread: str = "t1", **choices: object) -> Runtime[Context]:
    """Return the runtime of a node of a thread, with the choices of its run."""
    info = ExecutionInfo("c", "n", "task", thread_id=thread, run_id="r")
    chosen = Context(**{"models": {"default": "fake:any"}, **choices})
    return Runtime(context=chosen, execution_info=info)
