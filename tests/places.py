"""Points of a run, for tests that stand where a node would, and a process without a past."""

from __future__ import annotations

from langgraph.runtime import ExecutionInfo, Runtime

from calls.output_limit import _most, _ways
from calls.run_budget import _budgets
from calls.stack import _formless
from config.model_table import _read_model_table
from config.settings import settings
from graph.context import Context
from runs.call_site import CallSite


def forget_environment() -> None:
    """Forget what this process has read of its environment, and has learnt in it."""
    settings.cache_clear()
    _read_model_table.cache_clear()
    _budgets.clear()
    _formless.clear()
    _ways.clear()
    _most.clear()


def somewhere(**more: str) -> CallSite:
    """Return a point of a run, any of its words replaced."""
    place = CallSite(owner="local/", thread="t1", run="t1-1", step="s1", repetition="0.0.0")
    return place._replace(**more)


def runtime(thread: str = "t1", **choices: object) -> Runtime[Context]:
    """Return the runtime of a node of a thread, with the choices of its run."""
    info = ExecutionInfo("c", "n", "task", thread_id=thread, run_id="r")
    chosen = Context(**{"models": {"default": "fake:any"}, **choices})
    return Runtime(context=chosen, execution_info=info)
