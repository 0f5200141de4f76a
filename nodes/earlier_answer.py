"""Bring an earlier answer into a turn: to show it again, to refresh it, or to go beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, cast
from uuid import uuid4

from langgraph.runtime import Runtime

from graph.context import Context
from graph.records import (
    EarlierRun,
    Finding,
    Plan,
    Report,
    Revision,
    Source,
    Step,
    TurnAnswer,
    of_steps,
    turn_key,
)
from graph.state import State
from memory.learning.question_text import get_last_question
from prompts.loader import render_prompt
from report.findings import is_usable_finding
from report.labels import format_days, format_source_count
from report.source_renaming import carry_sources, rename_sources
from runs.call_site import CallSite, call_site, thread_of_run
from runs.incomplete import CAPPED_PREFIX
from runs.lifecycle import find_run
from tools.source_changes import find_new_matches, find_source_changes

QUESTION_STEP = "question"
"""What stands for a step in a run that had none."""

OTHER_THREAD = 0
"""The turn under which findings and answers from another thread are stored."""


async def reuse_answer(state: State, runtime: Runtime[Context], earlier: State) -> State:
    """Return the update that shows the earlier report again, with a notice.

    The findings come with it, so that later questions of the thread can build on them.
    """
    record = cast("EarlierRun", state["earlier_run"])
    carried, sources = await _carry(state, runtime, earlier)
    notice = _notice("notice_reused", state, record)
    return State(
        **_shown_again(state, carried, notice),
        sources=sources,
        findings=_of_this_turn(state, of_steps(carried["findings"], carried["turn"]).values()),
    )


async def deepen_answer(state: State, runtime: Runtime[Context], earlier: State) -> State:
    """Return the update with which new steps go beyond the earlier answer.

    What another thread has found out stands below turn 0; this thread has its own already.
    """
    record = cast("EarlierRun", state["earlier_run"])
    carried, sources = await _carry(state, runtime, earlier)
    request = render_prompt("change_deepen", language=state["language"]).strip()
    update = State(sources=sources, revision=_revision(state, "deepen", request))
    if _turn_of(state) != OTHER_THREAD:
        return update
    usable = filter(is_usable_finding, of_steps(carried["findings"], carried["turn"]).values())
    found = {turn_key(OTHER_THREAD, f"{record['run']}.{one['step']}"): one for one in usable}
    return State(**update, findings=found, answers={str(OTHER_THREAD): _answer_of(carried)})


async def refresh_answer(state: State, runtime: Runtime[Context], earlier: State) -> State:
    """Return the update with which what may have changed is researched again, and nothing else.

    Findings whose sources are as they were are kept. If nothing at all has changed, and nothing
    failed before, the earlier report is shown with a notice that says so.
    """
    place = call_site(state, runtime)
    pages = {name: one["page"] for name, one in _cited_sources(earlier).items()}
    changes = await find_source_changes(place, list(dict.fromkeys(pages.values())))
    stale = [name for name, page in pages.items() if page in changes.changed]
    redone = await _list_redone(place, runtime.context, earlier, stale)
    carried, sources = await _carry(state, runtime, earlier)
    ids = {one["page"]: name for name, one in sources.items()}
    revision: Revision = {
        **_revision(state, "refresh"),
        "stale": [ids[page] for page in changes.changed],
        "unread": [ids[page] for page in changes.unread],
        "redone": redone,
        "checked": len(ids),
    }
    found = of_steps(carried["findings"], carried["turn"])
    kept = _of_this_turn(state, [one for name, one in found.items() if name not in redone])
    if not (redone or stale or _is_incomplete(earlier["report"])):
        notices = list_refresh_notices(State(**{**state, "revision": revision, "sources": sources}))
        return State(**_shown_again(state, carried, *notices), sources=sources, findings=kept)
    update = State(sources=sources, revision=revision, answers=_replaced(state, carried))
    findings = cast("dict[str, Finding]", {**_forgotten(state), **kept})
    return State(**update, findings=findings, **_replanned(state, carried))


def list_refresh_notices(state: State) -> list[str]:
    """Return the notices of a refreshed report: what was read again, and what has changed."""
    revision, record = state.get("revision"), state.get("earlier_run")
    if not revision or not record or revision["kind"] != "refresh":
        return []
    stale, redone = revision.get("stale", []), revision.get("redone", [])
    name = "notice_refreshed" if stale or redone else "notice_unchanged"
    counts = {"checked": revision.get("checked", 0), "changed": len(stale), "redone": len(redone)}
    brackets = "（{}）" if state["language"] == "zh" else " ({})"
    titles = brackets.format(_join_titles(state, stale)) if stale else ""
    notices = [_notice(name, state, record, titles=titles, **counts)]
    if unread := _join_titles(state, revision.get("unread", [])):
        notices.append(_notice("notice_not_reread", state, record, titles=unread))
    return notices


def _join_titles(state: State, names: Sequence[str]) -> str:
    """Return the titles of sources, each once, as a list in the language of the report."""
    titles = dict.fromkeys(state["sources"][name]["title"] for name in names)
    return ("；" if state["language"] == "zh" else "; ").join(titles)


def _replanned(state: State, carried: State) -> State:
    """Return the earlier plan with its added steps, which was approved then; none without steps."""
    steps = _steps_of(carried)
    if not steps:
        return State()
    title = carried["plan"]["title"] or state["question"]
    plan = Plan(title=title, thought="", has_enough_context=False, steps=steps)
    return State(plan=plan, decision="approve", question=carried["question"])


async def _list_redone(
    place: CallSite, context: Context, earlier: State, stale: Sequence[str]
) -> list[str]:
    """Return the ids of steps that are researched again, with those that build on them.

    For a run without steps, its question stands for one.
    """
    found: dict[str, Finding] = of_steps(earlier.get("findings"), earlier["turn"])
    since = (await find_run(place.owner, earlier["run"])).created
    steps = _steps_of(earlier)
    queries = [query for step in steps for query in step["queries"] or [step["title"]]]
    matched = await find_new_matches(place.owner, context, queries or [earlier["question"]], since)
    if not steps:
        return [QUESTION_STEP] if any(matched) else []
    new = {query for query, is_new in zip(queries, matched, strict=True) if is_new}
    redone: list[str] = []
    # A step stands behind those that it needs.
    for step in steps:
        finding = found.get(step["id"])
        sound = finding is not None and _is_sound(finding)
        cited = finding["sources"] if finding else []
        asks_new = not new.isdisjoint(step["queries"] or [step["title"]])
        rests_on_old = set(stale).isdisjoint(cited) and set(redone).isdisjoint(step["needs"])
        if asks_new or not (sound and rests_on_old):
            redone.append(step["id"])
    return redone


def _is_sound(finding: Finding) -> bool:
    """Tell whether a finding can be kept: it is usable, and nothing kept it from being better."""
    capped = finding["reason"].startswith(CAPPED_PREFIX)
    return is_usable_finding(finding) and not capped and not finding.get("error")


def _is_incomplete(report: Report) -> bool:
    """Tell whether a report lacks something because of a failure or a limit."""
    return bool(report.get("error") or report.get("limit"))


def _steps_of(earlier: State) -> list[Step]:
    """Return all steps of a run, in the order in which they were planned."""
    return [*earlier["plan"]["steps"], *earlier.get("follow_ups", [])]


def _cited_sources(earlier: State) -> dict[str, Source]:
    """Return the sources that the report or a finding of a run cites, by id."""
    found: dict[str, Finding] = of_steps(earlier.get("findings"), earlier["turn"])
    names = [
        *earlier["report"]["cited"],
        *(name for one in found.values() for name in one["sources"]),
    ]
    sources = earlier.get("sources", {})
    # In their order, a thread of its own gives them the same numbers.
    known = sorted(set(names) & sources.keys(), key=lambda name: int(name.removeprefix("S")))
    return {name: sources[name] for name in known}


async def _carry(
    state: State, runtime: Runtime[Context], earlier: State
) -> tuple[State, dict[str, Source]]:
    """Return an earlier state whose records cite the sources of this thread, and these sources."""
    place = call_site(state, runtime)
    carried = await carry_sources(place.thread, list(_cited_sources(earlier).values()))
    names = {old: new["id"] for old, new in carried.items()}
    parts = {name: earlier.get(name, {}) for name in ("findings", "report", "answers")}
    renamed = rename_sources(parts, names)
    sources = {new["id"]: new for new in carried.values()}
    return cast("State", {**earlier, **renamed}), sources


def _of_this_turn(state: State, findings: Iterable[Finding]) -> dict[str, Finding]:
    return {turn_key(state["turn"], one["step"]): one for one in findings}


def _shown_again(state: State, carried: State, *notices: str) -> State:
    """Return the update of a turn whose report is the earlier one."""
    record = cast("EarlierRun", state["earlier_run"])
    old = carried["report"]
    kept = cast("Report", {k: v for k, v in old.items() if k not in ("created", "file_error")})
    asked = get_last_question(state["messages"])
    report: Report = {**kept, "notices": [*notices, *old["notices"]], "asked": asked}
    answer: TurnAnswer = {**_answer_of(carried), "message": str(uuid4())}
    return State(
        report={**report, "reused": record["run"]},
        plan=carried["plan"],
        follow_ups=carried.get("follow_ups", []),
        decision="approve",
        question=carried["question"],
        answers={str(state["turn"]): answer},
        status=carried["status"],
    )


def _answer_of(carried: State) -> TurnAnswer:
    """Return what the earlier turn answered."""
    report = carried["report"]
    known = (carried.get("answers") or {}).get(str(carried["turn"]))
    answer = known or TurnAnswer(
        question=carried["question"],
        text=report["body"],
        sources=report["cited"],
        open=[],
        message="",
    )
    return {**answer, "title": report["title"], "run": carried["run"]}


def _revision(state: State, kind: Literal["deepen", "refresh"], request: str = "") -> Revision:
    """Return the record that makes the report of this turn a version of the earlier one."""
    run = cast("EarlierRun", state["earlier_run"])["run"]
    return Revision(kind=kind, request=request, topic="", turn=_turn_of(state), run=run)


def _turn_of(state: State) -> int:
    """Return the turn of this thread that has the earlier answer; 0 if it is another thread's."""
    record = cast("EarlierRun", state["earlier_run"])
    return record["turn"] if thread_of_run(state["run"]) == record["thread"] else OTHER_THREAD


def _forgotten(state: State) -> dict[str, None]:
    """Return the update that removes the findings which this turn has anew."""
    turn = _turn_of(state)
    return {turn_key(turn, name): None for name in of_steps(state.get("findings"), turn)}


def _replaced(state: State, carried: State) -> dict[str, TurnAnswer]:
    """Return the earlier answer, marked as one that tells later turns nothing."""
    return {str(_turn_of(state)): {**_answer_of(carried), "replaced": True}}


def _notice(name: str, state: State, record: EarlierRun, **values: object) -> str:
    """Return a notice about an earlier run."""
    told = describe_reading(record, state["language"])
    return render_prompt(name, language=state["language"], **{**record, **told, **values}).strip()


def describe_reading(record: EarlierRun, language: str) -> dict[str, str]:
    """Return in words how many sources an earlier run read, and when, by their names in prompts."""
    return {
        "sources": format_source_count(record["sources"], language),
        "read": format_days(record["oldest"], record["newest"], language),
    }
