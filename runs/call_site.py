"""Identify a point of a run, and its owner; the result is the same after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.context import Context

if TYPE_CHECKING:
    from langgraph.runtime import Runtime
    from langgraph_sdk.auth.types import BaseUser


REPEATS = ("redo", "plan_try", "recall_round", "attempt")
"""The counters of repetitions at one point: the redo of a step, the try of a plan, the round of a
recall; threads of versions 1 to 3 have `attempt` for each of them."""


class CallSite(NamedTuple):
    """A point of a run, and its owner."""

    owner: str
    thread: str
    run: str
    step: str
    repetition: str
    """How often plan, steps and this point were done before, as counts with full stops between
    them; a part of the keys of recorded calls, so it must not change."""


def call_site(state: Mapping[str, Any], runtime: Runtime[Context]) -> CallSite:
    """Return the point of a run at which a node works, from its state and its runtime."""
    info = runtime.execution_info
    thread = info.thread_id if info else None
    if not thread:
        hint = "compile it with a checkpointer and name a thread_id"
        raise Problem(ErrorCode.THREAD_MISSING, "the graph runs without a thread", hint=hint)
    turn, fork = state.get("turn", 1), state.get("fork", 1)
    step = state["step"]["id"] if "step" in state else ""
    repeats = next((state[name] for name in REPEATS if name in state), 0)
    counts = [state.get("revisions", 0), state.get("rounds", 0), repeats]
    counts += [again] if (again := state.get("again", 0)) else []
    return CallSite(
        owner=resolve_owner(runtime),
        thread=thread,
        run=run_id(thread, turn, fork),
        step=step,
        repetition=".".join(str(count) for count in counts),
    )


def run_site(place: CallSite) -> CallSite:
    """Return the site of a whole run: what one step has fetched, no other fetches again."""
    return place._replace(step="", repetition="")


def run_id(thread: str, turn: int, fork: int = 1) -> str:
    """Name the run of one question of a thread; another question at the same place is a fork.

    No thread has a full stop in its name, so a fork's run is named like no other.
    """
    return f"{thread}-{turn}" + (f".{fork}" if fork > 1 else "")


def thread_of_run(run: str) -> str:
    """Return the thread in which a run answers a question."""
    return run.rpartition("-")[0] or run


def fork_of_run(run: str) -> int:
    """Return which question of its thread and turn a run answers, from 1."""
    number = run.rpartition(".")[2] if "." in run else ""
    return int(number) if number.isdecimal() else 1


def resolve_owner(runtime: Runtime[Context]) -> str:
    """Return the owner of everything that a run stores: a user and a project.

    On a server the login names the user; elsewhere the caller does.
    """
    server = runtime.server_info
    if server is not None:
        user = name_server_user(server.user)
    else:
        user = runtime.context.user or settings().user
    return join_owner(user, runtime.context.project)


def name_server_user(login: BaseUser | None) -> str:
    """Return the name of the user of a server: that of the login, or of the only person.

    Raises:
        Problem: `token_missing` where users log in and this one has not.
    """
    if login is not None and login.identity:
        return str(login.identity)
    if settings().has_users:
        raise Problem(ErrorCode.TOKEN_MISSING, "this run has no user")
    return settings().user


def join_owner(user: str, project: str) -> str:
    """Join a user and a project into the owner that every row has.

    A slash in the user's name is escaped: nobody becomes somebody else by naming a project.
    """
    return f"{user.replace('%', '%25').replace('/', '%2F')}/{project}"


def split_owner(owner: str) -> tuple[str, str]:
    """Return the user and the project of an owner: what `join_owner` was given."""
    user, _, project = owner.partition("/")
    return user.replace("%2F", "/").replace("%25", "%"), project


def resume_command(place: CallSite) -> str:
    """Return the command that continues a run."""
    project = split_owner(place.owner)[1]
    return f"dossier resume {place.run}" + (f" --project {quote(project)}" if project else "")
