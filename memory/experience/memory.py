"""The memory of past runs: the insights they taught, and what was done in similar runs."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import shorten
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, or_, select, update

from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource
from config.settings import settings
from memory.experience import related_runs, run_history, utterances
from memory.experience.credit_assignment import recount_wins
from memory.experience.insights import (
    Insight,
    InsightText,
    edit_insight,
    find_insight_in,
    get_role_guidance,
    has_guidance,
    insight_event_data,
    list_insights,
    put,
)
from memory.learning.claim_checks import find_unfit_reason
from memory.learning.run_feedback import REFUSAL_REASONS
from memory.protocol import Erase, ErasureRequest, Export, Memory, MemoryItem, Note, Query
from memory.tables import experiences, insight_runs, insights
from memory.text_vectors import pack_vector
from prompts.loader import render_prompt
from runs.call_site import thread_of_run
from storage.events import Event, LoggedEvent, Reversal, Reverse, empty_events, log_event, undoing
from text.keyword_ranking import rank_texts
from text.script import detect_language

INSIGHT_TITLE = "insight"
"""The title of the notes whose ids are those of insights."""

MAX_QUESTION_CHARS = 150
"""How much of the question that taught an insight is shown, in characters."""

MAX_INSIGHTS = 3
"""The most insights that a call is given."""

MAX_EXAMPLES = 2
"""The most earlier runs whose key steps a call is given."""

EXPERIENCE_ROLES = ("planner", "researcher", "coder", "reflector", "reporter")
"""The roles that are given past runs."""

SEARCH_ROLES = ("researcher", "coder")
"""The roles that are shown steps of their own role; others see only what a person rejected."""

MIN_RELATIVE_WORTH = 0.5
"""An insight is given if it is worth at least this part of what the best one is."""

NOT_RECALLED = "not told"
"""The state of an insight that no run is given: its words are a model's, a log's or a file's."""

ANSWERED = "how a similar question was answered"
REJECTED = "what the person said against the plan of an earlier question of this conversation"
"""What key steps are to a run: what others did, or what its own thread does not say elsewhere."""

CACHED_RUNS = 64
"""How many runs' guidance is cached."""

_CacheKey = tuple[str, str, str, int]
"""The database, the owner, the run, and the newest event of the owner."""


class _ExampleRun(NamedTuple):
    """An earlier run, its key steps, and what they are to the run that is shown them."""

    past: related_runs.RelatedRun
    steps: Sequence[utterances.Utterance]
    relation: str


class _RunGuidance(NamedTuple):
    """What a run can learn: worked out once, at its first call."""

    insights: Sequence[related_runs.RelevantInsight]
    examples: Sequence[_ExampleRun]


_guidance = Resource(lambda: RecentCache[_CacheKey, _RunGuidance](CACHED_RUNS))


class ExperienceMemory(Memory):
    """What past runs teach: insights worded for a role, and key steps of similar runs."""

    name = "experience"
    share = 0.13
    event_names = ("insight", "experience")
    not_editable = "how a run ended is not written", "dossier feedback RUN up"

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the insights for the role, the best first, and then the key steps."""
        del budget
        if query.role not in EXPERIENCE_ROLES or not query.run:
            return []
        key = (settings().database, query.owner, query.run, query.revision)
        guidance = _guidance.get().get(key)
        if guidance is None:
            guidance = await _build_guidance(query.owner, query.run)
            if guidance.insights or guidance.examples:
                _guidance.get()[key] = guidance
        notes = [*_insight_notes(guidance, query.role), *_example_notes(guidance, query.role)]
        # One revision for all of them keeps them in this order.
        newest = max((note.revision for note in notes), default=0)
        return [note._replace(revision=newest) for note in notes]

    async def record(
        self, owner: str, new: run_history.RunEnding, *, run: str = "", why: str = ""
    ) -> run_history.PastRun:
        """Store how a run ended, and credit the insights that it was given."""
        ending = new if new.reason else new._replace(reason=why)
        return await run_history.record_run_end(owner, run, ending)

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[MemoryItem]:
        """Return the insights, the newest first."""
        known = await list_insights(owner, include_ended=every)
        return [_item(one) for one in sorted(known, key=lambda one: -one.created)[:limit]]

    async def find_by_id(self, owner: str, id: str) -> list[MemoryItem]:
        """Return the insights whose id begins so, and the run of this name."""
        known = await list_insights(owner, include_ended=True)
        run = await run_history.find_past_run(owner, id)
        found = [_item(one) for one in known if one.id.startswith(id)]
        return [*found, *([_run_item(run)] if run else [])]

    async def search(self, owner: str, query: str, limit: int) -> list[MemoryItem]:
        """Return the insights that share words with a query, best first."""
        known = await list_insights(owner)
        ranked = await asyncio.to_thread(rank_texts, query, [one.content for one in known])
        return [_item(known[at]) for at, score in ranked[:limit] if score > 0]

    async def edit(self, owner: str, id: str, text: str) -> MemoryItem:
        """Replace the words of an insight for every role it concerns.

        Raises:
            Problem: `not_editable` for a run, and for a text that is refused.
        """
        known = await list_insights(owner, include_ended=True)
        old = next((one for one in known if one.id == id), None)
        if old is None:
            return await super().edit(owner, id, text)
        words = " ".join(text.split())
        refusal = REFUSAL_REASONS.get(find_unfit_reason(words)) if words else "there are no words"
        if refusal:
            hint = "write one sentence on what to do differently"
            raise Problem(ErrorCode.NOT_EDITABLE, refusal, where=id, hint=hint)
        projections = dict.fromkeys(old.projections, words)
        new = InsightText(words, projections, "user", "edited by the person")
        return _item(await edit_insight(owner, id, new))

    async def undo(self, logged: LoggedEvent) -> Reverse:
        """Take back a change of an insight, or learn from a run no more; or the reverse.

        What a run has taught is undone by events of its own.

        Raises:
            Problem: `undo_conflict` if it was changed since.
        """
        undo = _undo_insight if logged.event.name.startswith("insight.") else _undo_run_end
        return partial(undo, logged=logged)

    async def export(self, owner: str) -> Export:
        """Return what reads the insights, each with the runs that speak for or against it."""
        return partial(_export, owner=owner)

    async def erase(self, request: ErasureRequest) -> Erase:
        """Empty the named insights, and end those that lost a sentence."""
        return partial(_erase, request=request)


EXPERIENCE = ExperienceMemory()


async def _build_guidance(owner: str, run: str) -> _RunGuidance:
    """Return what other threads teach, and of the run's own what its history does not show."""
    related, thread = await related_runs.load_related_runs(owner, run), thread_of_run(run)
    same_thread = [one for one in related if thread_of_run(one.past.run) == thread]
    others = [one for one in related if one not in same_thread]
    resolved = [one for one in others if one.past.status == "resolved"]
    examples = []
    for one in (*resolved[:MAX_EXAMPLES], *same_thread):
        steps = await utterances.list_utterances(owner, one.past.run, main=True)
        if one in same_thread:
            rejections = [step for step in steps if step.who == utterances.PERSON_SPEAKER]
            examples.append(_ExampleRun(one, rejections, REJECTED))
        else:
            examples.append(_ExampleRun(one, steps, ANSWERED))
    relevant = await related_runs.list_relevant_insights(owner, others)
    return _RunGuidance(relevant, [one for one in examples if one.steps])


def _insight_notes(guidance: _RunGuidance, role: str) -> list[Note]:
    for_role = [one for one in guidance.insights if get_role_guidance(one.insight, role)]
    least = MIN_RELATIVE_WORTH * for_role[0].worth if for_role else 0.0
    return [_insight_note(one, role) for one in for_role[:MAX_INSIGHTS] if one.worth >= least]


def _insight_note(relevant: related_runs.RelevantInsight, role: str) -> Note:
    """Return what an insight says to a role, with the question for which it is known to hold."""
    insight, said = relevant.insight, get_role_guidance(relevant.insight, role)
    asked = shorten(" ".join(relevant.question.split()), MAX_QUESTION_CHARS, placeholder=" …")
    text = render_prompt("insight", language=detect_language(said), said=said, asked=asked).strip()
    score = {"worth": relevant.worth, "wins": insight.wins, "uses": insight.uses}
    return Note(INSIGHT_TITLE, text, insight.id, insight.revision, score)


def _example_notes(guidance: _RunGuidance, role: str) -> list[Note]:
    notes = []
    for (past, similarity, _, rating), all_steps, relation in guidance.examples:
        steps = [step for step in all_steps if _concerns(step, role)]
        if text := utterances.describe_utterances(steps, past.question):
            score = {"rating": rating, "similarity": similarity, "outcome": past.outcome}
            title = f"{relation}: {past.question}"
            notes.append(Note(title, text, past.run, past.revision, score))
    return notes


def _concerns(step: utterances.Utterance, role: str) -> bool:
    if role == "planner" or step.who == utterances.PERSON_SPEAKER:
        return True
    return role in SEARCH_ROLES and step.who in (role, "web", "files")


def _item(one: Insight) -> MemoryItem:
    more = {"roles": dict(one.projections), "wins": one.wins, "uses": one.uses, "worth": one.score}
    more |= {"merged_into": one.merged_into, "revision": one.revision}
    ended = "joined" if one.merged_into else "ended"
    state = ended if not one.live else "" if has_guidance(one) else NOT_RECALLED
    item = MemoryItem("experience", one.id, one.content, kind="insight", state=state, more=more)
    return item._replace(at=one.created, provenance=one.provenance)


def _run_item(one: run_history.PastRun) -> MemoryItem:
    more = {"status": one.status, "outcome": one.outcome, "signs": one.signs._asdict()}
    more["reason"] = one.reason
    text = f"{one.question} ({one.status})"
    item = MemoryItem("experience", one.run, text, kind="run", run=one.run, more=more)
    return item._replace(at=one.created)


_InsightState = Mapping[str, Any]


def _undo_insight(connection: Connection, logged: LoggedEvent) -> Reversal:
    owner, id = logged.event.owner, logged.event.item
    insight = find_insight_in(connection, owner, id)
    verb, after = logged.event.name.partition(".")[2], logged.event.after or {}
    if insight is None:
        raise _conflict(logged)
    now = _insight_state(insight)
    if verb in ("agree", "disagree"):
        _withdraw_agreement(connection, logged, str(after["run"]))
        return _insight_reversal(connection, logged, now, now)
    previous = _state_before(logged, now, verb, is_merged=bool(insight.merged_into))
    if previous is None:
        raise _conflict(logged)
    if verb == "merge":
        _split_merged(connection, owner, id, after["of"])
    return _insight_reversal(connection, logged, now, {**now, **previous})


def _state_before(
    logged: LoggedEvent, now: _InsightState, verb: str, *, is_merged: bool
) -> _InsightState | None:
    """Return the state of an insight before an event; `None` where it was changed since."""
    before, after = logged.event.before, logged.event.after
    if verb == "end":
        return None if now["live"] or is_merged else {"live": True}
    if after is None or any(now[name] != after[name] for name in after.keys() & now.keys()):
        return None
    if verb in ("add", "merge"):
        return {"live": False} if now["live"] else None
    return before if verb == "undo" or now["live"] else None


def _split_merged(connection: Connection, owner: str, heir: str, old: Sequence[str]) -> None:
    """Make the insights that were merged into one live again."""
    merged = (insights.c.owner == owner, insights.c.id.in_(old), insights.c.merged_into == heir)
    ids = connection.execute(select(insights.c.id).where(*merged)).scalars().all()
    connection.execute(update(insights).where(*merged).values(live=1, merged_into=""))
    for id in ids:
        recount_wins(connection, owner, id)


def _withdraw_agreement(connection: Connection, logged: LoggedEvent, run: str) -> None:
    event = logged.event
    its = delete(insight_runs).filter_by(owner=event.owner, insight=event.item, run=run)
    if not connection.execute(its.filter_by(said="model")).rowcount:
        raise _conflict(logged)


def _insight_state(insight: Insight) -> dict[str, Any]:
    return {**insight_event_data(insight), "live": insight.live}


def _insight_reversal(
    connection: Connection, logged: LoggedEvent, now: _InsightState, new: _InsightState
) -> Reversal:
    undone = undoing(logged, "insight.undo", run=logged.event.run)
    event = undone._replace(before=now, after=new)
    projections = json.dumps(dict(new["projections"]), ensure_ascii=False)
    values = {name: new[name] for name in ("content", "provenance")}
    values |= {"projections": projections, "live": int(new["live"])}
    return Reversal(event, partial(put, connection, event, values))


def _undo_run_end(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    owner, run = logged.event.owner, logged.event.item
    live = int(logged.event.name == "experience.undo" and bool((logged.event.before or {})["live"]))
    mine = {"owner": owner, "run": run, "live": 1 - live}
    undone = undoing(logged, "experience.undo", run=run)
    event = undone._replace(before={"live": not live}, after={"live": bool(live)})
    if connection.execute(select(experiences.c.run).filter_by(**mine)).first() is None:
        if live:
            raise _conflict(logged)
        # A run that ended twice is taken back once.
        return None

    def write(number: int) -> None:
        ended = update(experiences).filter_by(**mine)
        connection.execute(ended.values(live=live, revision=number))

    return Reversal(event, write)


def _conflict(logged: LoggedEvent) -> Problem:
    what = f"{logged.event.name} of {logged.event.item} was changed since"
    return Problem(ErrorCode.UNDO_CONFLICT, what, hint="see `dossier memory log`")


def _export(connection: Connection, owner: str) -> dict[str, Any]:
    runs: dict[str, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(select(insight_runs).filter_by(owner=owner)):
        runs[row.insight][row.run] = row.sign
    lines = [
        {**row._mapping, "projections": json.loads(row.projections)}
        | {"live": row.live == 1, "runs": runs[row.id]}
        for row in connection.execute(select(insights).filter_by(owner=owner))
    ]
    return {"insights": lines}


def _erase(connection: Connection, request: ErasureRequest) -> None:
    owner, mark = request.owner, request.mark
    empty_events(connection, owner, request.ids)
    mine, named = insights.c.owner == owner, insights.c.id.in_(request.ids)
    emptied = update(insights).where(mine, named)
    connection.execute(emptied.values(content=mark, projections="{}"))
    marked = or_(insights.c.content.contains(mark), insights.c.projections.contains(mark))
    ended = select(insights.c.id).where(mine, or_(named, marked & (insights.c.live == 1)))
    for id in connection.execute(ended).scalars().all():
        number = log_event(connection, Event(owner, "insight.forget", id, why=request.why))
        its = update(insights).where(mine, insights.c.id == id)
        connection.execute(its.values(live=0, revision=number))
    asked = select(experiences.c.run, experiences.c.question).filter_by(owner=owner)
    for row in connection.execute(asked.where(experiences.c.question.contains(mark))).all():
        run = update(experiences).filter_by(owner=owner, run=row.run)
        vector = run_history.question_vector(row.question)
        connection.execute(run.values(vector=pack_vector(vector)))
