"""A graph into whose state a client puts only what it may bring, whichever way that comes in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn, cast

from langchain_core.messages import AnyMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.constants import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt, StateSnapshot, StateUpdate
from starlette.exceptions import HTTPException

from app.auth.caller_limits import fit_defaults
from app.problems import strip_command_hint
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.compiled import DossierGraph
from graph.context import Context, build_context
from graph.plan import validate_plan
from graph.session import check_graph_version, pending_nodes
from graph.state import State
from runs.incomplete import build_resume_update, find_resume_node, find_unchanged_limit
from runs.lifecycle import mark_resumed
from runs.thread_integrity import damage_problem, guard_thread
from text.secret_masking import mask_secrets_within
from tools.message_uploads import extract_uploads

Values = dict[str, Any]

INPUT = ("__input__", START)
"""The names under which a client writes into a thread as one who asks."""

COPY = "__copy__"
"""The name under which a client copies a state, and changes it on the way."""

PLANNING = ("planner", "human_feedback")
"""The nodes whose plan a client may change, as at the review."""

SENT = ("background", "step")
"""The nodes that are handed a state of their own, which no client may make up."""

HINT = "a client may bring messages of a person, decisions on a plan, and a plan of its own"


NO_UPLOADS: Mapping[str, Sequence[str]] = MappingProxyType({})


def make_guarded_graph(
    graph: CompiledStateGraph[Any, Any, Any, Any], uploads: Mapping[str, Sequence[str]] = NO_UPLOADS
) -> GuardedGraph:
    """Return a graph as clients may use it.

    Args:
        graph: The graph.
        uploads: What a run searches for each upload, or folder of them, that a client has chosen.
    """
    return GuardedGraph(**{**vars(graph), "uploads": uploads})


class GuardedGraph(DossierGraph):
    """A graph into whose state a client puts words and plans, and nothing that only a run may say.

    Sources, findings, reports and the names of runs are what a report is proven by, so they are
    written by nodes alone. What a client sends back unchanged is passed over.
    """

    def __init__(self, *, uploads: Mapping[str, Sequence[str]] = NO_UPLOADS, **parts: Any) -> None:
        """Make a graph of its parts; LangGraph copies it by all that it holds."""
        super().__init__(**parts)
        self.uploads = uploads

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **more: Any
    ) -> AsyncIterator[Any]:
        """Run the graph on what may be taken of an input or a command.

        Raises:
            Problem: `state_refused`, `thread_incompatible`, or what is wrong with a plan.
        """
        config = config or {}
        if config.get("configurable", {}).get("checkpoint_ns"):
            _refuse("the state of a branch")
        more |= _inside_limits(more)
        more["context"] = self._with_roots(more.get("context"))
        has_ended = False
        if await self._was_begun(config):
            input, config = None, _at_newest(config)
            # A process may have died behind the last step, before the server knew of the end.
            has_ended = not (await self.aget_state(config)).next
        given = None if has_ended else await self._given(input, config, more.get("context"))
        if given is None and self.checkpointer and (await self.aget_state(config)).next:
            await mark_resumed(_thread_of(config))
        try:
            async for part in super().astream(given, config, **more):
                yield part
        except Problem as problem:
            raise strip_command_hint(problem) from problem

    async def _given(self, input: Any, config: RunnableConfig, choices: Any) -> Any:
        """Return what may be taken of an input or a command."""
        before = await self._values(config)
        check_graph_version(before)
        if isinstance(input, Command):
            given = await self._command(config, input, before)
            return replace(given, update=await _store_uploads(config, given.update))
        if isinstance(input, dict):
            # Like LangGraph itself, a run passes over what its input schema does not name.
            asked = {name: value for name, value in input.items() if name == "messages"}
            return await _store_uploads(config, _as_input(asked, before))
        if input is not None:
            _refuse("an input that is not an object")
        if again := await self._again(config):
            return Command(update={"again": again})
        await self._repeat(config, choices)
        return None

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return how a thread stands.

        Raises:
            Problem: `storage_corrupt`, or what else is wrong with what is saved of it.
        """
        async with guard_thread(self, _thread_of(config)):
            return _check_interrupts(await super().aget_state(config, subgraphs=subgraphs))

    async def aget_state_history(
        self, config: RunnableConfig, **more: Any
    ) -> AsyncIterator[StateSnapshot]:
        """Yield how a thread stood, the newest state first.

        Raises:
            Problem: `storage_corrupt`, or what else is wrong with what is saved of it.
        """
        async with guard_thread(self, _thread_of(config)):
            async for snapshot in super().aget_state_history(config, **more):
                yield _check_interrupts(snapshot)

    async def aupdate_state(
        self,
        config: RunnableConfig,
        values: Any,
        as_node: str | None = None,
        task_id: str | None = None,
    ) -> RunnableConfig:
        """Change the state of a thread as far as a client may.

        Raises:
            HTTPException: With the words of a `Problem` when it may not.
            Problem: `storage_corrupt`, or what else is wrong with what is saved of the thread.
        """
        update = StateUpdate(values, as_node, task_id)
        return await self.abulk_update_state(config, [[update]])

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Make several such changes, one after the other.

        Raises:
            HTTPException: With the words of a `Problem` when one of them may not be made.
            Problem: `storage_corrupt`, or what else is wrong with what is saved of the thread.
        """
        at = config
        for updates in supersteps:
            async with guard_thread(self, _thread_of(at)):
                try:
                    taken = [
                        one._replace(values=await _store_uploads(at, one.values))
                        for one in await self._updates(at, updates)
                    ]
                except Problem as problem:
                    raise HTTPException(problem.error.http_status, str(problem)) from problem
                at = await super().abulk_update_state(at, [taken])
        return at

    def _with_roots(self, choices: Any) -> Any:
        """Return the choices of a run with what is searched in the place of ids of uploads."""
        chosen = choices if isinstance(choices, Context) else (choices or {}).get("files")
        files = chosen.files if isinstance(chosen, Context) else chosen
        if not self.uploads or not files:
            return choices
        roots = [root for one in files for root in self.uploads.get(one, [one])]
        files = list(dict.fromkeys(roots))
        if isinstance(choices, Context):
            return replace(choices, files=files)
        return {**choices, "files": files}

    async def _values(self, config: RunnableConfig) -> Values:
        """Return the state that something is brought to; none where nothing is saved."""
        return dict((await self.aget_state(config)).values) if self.checkpointer else {}

    async def _was_begun(self, config: RunnableConfig) -> bool:
        """Tell whether a process that died has begun this very run of a server.

        Servers hand a run over to another process as it was sent, but its question was taken: the
        newest state is of the run itself.
        """
        run = config.get("configurable", {}).get("run_id")
        if not self.checkpointer or not run:
            return False
        newest = await self.aget_state(_at_newest(config))
        return (newest.metadata or {}).get("run_id") == str(run)

    async def _again(self, config: RunnableConfig) -> int:
        """Return which time something is done again from an earlier state; 0 at the newest one."""
        place = config.get("configurable", {})
        if not self.checkpointer or not place.get("checkpoint_id"):
            return 0
        head = await self.aget_state({"configurable": {"thread_id": place["thread_id"]}})
        if head.config["configurable"].get("checkpoint_id") == place["checkpoint_id"]:
            return 0
        return int(head.values.get("again", 0)) + 1

    async def _repeat(self, config: RunnableConfig, choices: Any) -> None:
        """Let a finished run do again what failed in it, or what a limit prevented.

        Raises:
            Problem: `not_waiting` if the choices leave that limit as it was.
        """
        snapshot = await self.aget_state(config) if self.checkpointer else None
        if snapshot is None or "turn" not in snapshot.values or pending_nodes(snapshot):
            return
        state = cast("State", snapshot.values)
        chosen = choices if isinstance(choices, Context) else build_context(choices or {})
        if reached := find_unchanged_limit(state, chosen):
            hint = f"allow more in the context of the run: {reached.partition(' = ')[0]}"
            raise Problem(ErrorCode.NOT_WAITING, f"the run ended at its limit {reached}", hint=hint)
        if node := find_resume_node(state):
            update = StateUpdate(cast("Values", build_resume_update(state, node)), node)
            await super().abulk_update_state(config, [[update]])

    async def _command(
        self, config: RunnableConfig, command: Command[Any], before: Values
    ) -> Command[Any]:
        if command.graph is not None:
            _refuse("a command for another graph")
        to = command.goto if isinstance(command.goto, (list, tuple)) else [command.goto]
        to = [one for one in to if one]
        nodes = {END, *(name for name in self.nodes if not name.startswith("__"))} - {*SENT}
        for one in to:
            if not isinstance(one, str) or one not in nodes or "turn" not in before:
                _refuse(f"a jump to {getattr(one, 'node', one)!r}")
        # What is jumped to would run beside a node that waits for a decision.
        if to and self.checkpointer and (await self.aget_state(config)).interrupts:
            _refuse(f"a jump to {to[0]!r} while the plan waits for a decision")
        taken = _as_input(_to_dict(command.update), before)
        if not taken and not to and command.resume is None:
            _refuse("a command that says nothing")
        return Command(update=taken or None, resume=command.resume, goto=command.goto)

    async def _updates(
        self, config: RunnableConfig, updates: Sequence[StateUpdate]
    ) -> list[StateUpdate]:
        if config.get("configurable", {}).get("checkpoint_ns"):
            _refuse("the state of a branch")
        snapshot = await self.aget_state(config)
        before = dict(snapshot.values)
        check_graph_version(before)
        for one in updates:
            node = one.as_node
            if node not in (None, COPY, *INPUT, *self.nodes) and (node, one.values) != (END, None):
                _refuse(f"a change as {node!r}")
        return [_update(StateUpdate(*one), before, snapshot.next) for one in updates]


def _at_newest(config: RunnableConfig) -> RunnableConfig:
    """Return the configuration of a run without the checkpoint from which it was to begin."""
    place = config.get("configurable", {})
    named = ("checkpoint_id", "checkpoint_map")
    return {**config, "configurable": {key: one for key, one in place.items() if key not in named}}


def _inside_limits(more: Mapping[str, Any]) -> Values:
    """Return the choices of a run whose defaults are what the operator allows users."""
    return {"context": fit_defaults(more.get("context"))} if settings().has_users else {}


def _thread_of(config: RunnableConfig) -> str:
    """Return the name of the thread that a graph works in; nothing for none."""
    return str(config.get("configurable", {}).get("thread_id") or "")


def _check_interrupts(snapshot: StateSnapshot) -> StateSnapshot:
    """Return how a thread stands, if what a person is shown there can be shown.

    Raises:
        Problem: `storage_corrupt`.
    """
    if not all(isinstance(one, Interrupt) for one in snapshot.interrupts):
        raise damage_problem("the review")
    return snapshot


async def _store_uploads(config: RunnableConfig, values: Any) -> Any:
    """Return values with the files taken out of their messages, before any of it is saved."""
    thread = _thread_of(config)
    if not thread or not isinstance(values, dict) or "messages" not in values:
        return values
    return {**values, "messages": await extract_uploads(thread, values["messages"])}


def _update(update: StateUpdate, before: Values, stands: tuple[str, ...]) -> StateUpdate:
    """Return what may be taken of a change."""
    values, node = update.values, update.as_node
    if node == COPY:
        parts = [_update(part, before, stands) for part in _parts(values)]
        return update._replace(values=cast("Any", [tuple(part) for part in parts]))
    if node in INPUT:
        return update._replace(values=_as_input(_to_dict(values), before))
    if values is None and node in (None, END):
        return update
    if "turn" not in before:
        _refuse(f"a change as {node or 'a node'!r}, where nothing was asked yet")
    planning = node in PLANNING or (node is None and stands == ("human_feedback",))
    return update._replace(values=_allowed_changes(_to_dict(values), before, planning=planning))


def _parts(values: Any) -> list[StateUpdate]:
    """Return the changes that are made to a state while it is copied."""
    try:
        return [StateUpdate(*part) for part in values or []]
    except TypeError:
        _refuse("a copy that is not a list of changes")


def _allowed_changes(values: Values, before: Values, *, planning: bool) -> Values:
    """Return what of a change is new, and may be made."""
    taken: Values = {}
    for name, value in values.items():
        if name == "messages":
            taken |= _as_input({name: value}, before)
        elif _unchanged(value, before.get(name)):
            continue
        elif name == "plan" and planning:
            taken[name] = validate_plan(mask_secrets_within(value))
        else:
            _refuse(f"{name!r}")
    return taken


def _as_input(values: Values, before: Mapping[str, Any]) -> Values:
    """Return the messages of an input that are new.

    Raises:
        Problem: `state_refused` for what is not said by a person.
    """
    for name, value in values.items():
        if name != "messages" and not _unchanged(value, before.get(name)):
            _refuse(f"{name!r}")
    if "messages" not in values:
        return {}
    known = {one.id: one for one in before.get("messages", []) if one.id}
    given = [one for one in _messages(values["messages"]) if not _same(one, known)]
    for one in given:
        if one.type != "human" or known.get(one.id, one).type != "human":
            _refuse(f"a message of {one.type!r}")
    return {"messages": given}


def _messages(said: Any) -> list[AnyMessage]:
    parts = said if isinstance(said, list) else [said]
    try:
        return cast("list[AnyMessage]", convert_to_messages(parts))
    except (ValueError, TypeError, LookupError, NotImplementedError) as error:
        raise Problem(ErrorCode.BAD_MESSAGE, "a message has an unknown form", hint=HINT) from error


def _same(message: AnyMessage, known: Mapping[str | None, AnyMessage]) -> bool:
    there = known.get(message.id)
    if there is None or there.type != message.type:
        return False
    return _unchanged(message.content, there.content)


def _unchanged(value: Any, before: Any) -> bool:
    """Tell whether a client sent back what it was given; on the way in, secrets are masked."""
    return bool(value == before or value == mask_secrets_within(before))


def _to_dict(values: Any) -> Values:
    """Return a change as a table, in whichever form it is written.

    Raises:
        Problem: `state_refused` when it has none of them.
    """
    if values is None:
        return {}
    try:
        return dict(values)
    except (TypeError, ValueError):
        _refuse("a change that is not an object of names and values")


def _refuse(what: str) -> NoReturn:
    raise Problem(ErrorCode.STATE_REFUSED, f"a client may not write {what}", hint=HINT)
