"""Points of a run, for tests that stand where a node would, and a process without a past."""

from __future__ import annotations

from langgraph.runtime import ExecutionInfo, Runtime

from config.resources import replace_resources
from graph.context import Context
from runs.call_site import CallSite
from tools.worker_pool import idle_workers


def new_process() -> None:
    """Let everything that a process reads once or keeps be read and made anew."""
    former = replace_resources()
    # A worker knows nothing of this process, and starting one takes longer than most tests.
    workers = former.values.pop(idle_workers, [])
    former.close()
    idle_workers.get().extend(workers)


def somewhere(**more: str) -> CallSite:
    """Return a point of a run, any of its words replaced."""
    place = CallSite(owner="local/", thread="t1", run="t1-1", step="s1", repetition="0.0.0")
    return place._replace(**more)


def runtime(thread: str = "t1", **choices: object) -> Runtime[Context]:
    """Return the runtime of a node of a thread, with the choices of its run."""
    info = ExecutionInfo("c", "n", "task", thread_id=thread, run_id="r")
    chosen = Context(**{"models": {"default": "fake:any"}, **choices})
    return Runtime(context=chosen, execution_info=info)
