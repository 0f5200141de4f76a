"""Say in plain data, as `--json` prints it, how a run came out."""

from __future__ import annotations

from typing import Any

from graph.state import State
from report.document import answer_of, doubt
from report.undone import first_error, limit


def of_report(run: str, thread: str, state: State, report: str, resume: str = "") -> dict[str, Any]:
    """Return the summary of a finished run whose report is in a file.

    If a model's failure or a limit left parts undone, it has the error or the limit and, in
    `resume`, the command that repeats them.
    """
    problem, reached = first_error(state), limit(state)
    failed: dict[str, Any] = {"error": problem.as_dict()} if problem else {}
    failed |= {"limit": reached} if reached else {}
    failed |= {"resume": resume} if failed else {}
    cited = set(state["report"]["cited"])
    sources = [
        {
            "id": one["id"],
            "title": one["title"],
            "location": one["location"],
            "cited": one["id"] in cited,
        }
        for one in state.get("sources", {}).values()
    ]
    return {
        "run": run,
        "thread": thread,
        "status": state["status"],
        "report": report,
        "answer": answer_of(state["report"]["body"]),
        "sources": sources,
        "quotes": state["report"]["quotes"],
        "doubted": [doubt(one) for one in state["report"].get("doubted", [])],
        "second_reader": state["report"].get("second_reader"),
        **failed,
    }


def of_reply(run: str, thread: str, state: State, reply: str) -> dict[str, Any]:
    """Return the summary of a run that ended in a reply to small talk."""
    return {**_without_report(run, thread, state["status"]), "reply": reply}


def of_waiting(run: str, thread: str, plan: dict[str, Any], resume: str) -> dict[str, Any]:
    """Return the summary of a run whose plan waits; `resume` is the command that approves it."""
    return {**of_stopped(run, thread, "waiting_review", resume), "plan": plan}


def of_stopped(run: str, thread: str, status: str, resume: str) -> dict[str, Any]:
    """Return the summary of a run that stopped; `resume` is the command that goes on with it."""
    return {**_without_report(run, thread, status), "resume": resume}


def has_report(state: State) -> bool:
    """Say whether a run ended in a report rather than in a reply to small talk."""
    return bool("report" in state and state["report"]["title"])


def _without_report(run: str, thread: str, status: str) -> dict[str, Any]:
    named = {"run": run, "thread": thread, "status": status, "report": None, "answer": ""}
    return {**named, "sources": [], "quotes": [], "doubted": [], "second_reader": None}
