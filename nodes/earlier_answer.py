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
    TurnAnswer,
    WebCheck,
    key_by_turn,
    of_steps,
    turn_key,
)
from graph.state import State
from memory.learning.question_text import get_last_question
from nodes.stale_steps import StaleSteps, find_stale_steps, list_all_steps
from prompts.loader import render_prompt
from report.findings import is_usable_finding
from report.labels import describe_reason, format_days, format_source_count
from report.source_renaming import carry_sources, rename_sources
from runs.call_site import call_site, thread_of_run
from tools.source_changes import find_source_changes

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
    todo = await find_stale_steps(place, runtime.context, earlier, stale)
    redone = todo.steps
    carried, sources = await _carry(state, runtime, earlier)
    ids = {one["page"]: name for name, one in sources.items()}
    revision: Revision = {
        **_revision(state, "refresh"),
        "stale": [ids[page] for page in changes.changed],
        "unread": [ids[page] for page in changes.unread],
        "redone": redone,
        "checked": len(ids),
    }
    update = State(sources=sources, **_describe_web(state, todo))
    found = of_steps(carried["findings"], carried["turn"])
    kept = _of_this_turn(state, [one for name, one in found.items() if name not in redone])
    if not (redone or stale or _is_incomplete(earlier["report"])):
        notices = list_refresh_notices(State(**{**state, **update, "revision": revision}))
        return State(**update, **_shown_again(state, carried, *notices), findings=kept)
    update |= State(revision=revision, answers=_replaced(state, carried))
    findings = cast("dict[str, Finding]", {**_forgotten(state), **kept})
    return State(**update, findings=findings, **_replanned(state, carried))


def _describe_web(state: State, todo: StaleSteps) -> State:
    """Return the update that says what is new on the web, and where it could not be searched."""
    new = todo.new_pages
    looked = WebCheck(searched=len(new.found), found=todo.list_found(), unsearched=new.code)
    record = cast("EarlierRun", state["earlier_run"]) | {"web": looked}
    return State(earlier_run=record, unsearched=key_by_turn(state["turn"], dict(new.failures)))


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
    return [*notices, *_list_search_notices(state, record)]


def _list_search_notices(state: State, record: EarlierRun) -> list[str]:
    """Return the notices of what was looked for on the web, and what was found there."""
    looked, language = record.get("web"), state["language"]
    if looked is None:
        return []
    notices, found = [], looked["found"]
    if found:
        titles = _join([one["title"] for one in found], language)
        notices.append(_notice("notice_new_pages", state, record, count=len(found), titles=titles))
    elif looked["searched"]:
        count = looked["searched"]
        notices.append(_notice("notice_no_new_pages", state, record, count=count))
    if code := looked["unsearched"]:
        why = describe_reason(code, "failed", language)
        notices.append(_notice("notice_not_searched", state, record, why=why))
    return notices


def _join_titles(state: State, names: Sequence[str]) -> str:
    """Return the titles of sources, each once, as a list in the language of the report."""
    return _join([state["sources"][name]["title"] for name in names], state["language"])


def _join(titles: Sequence[str], language: str) -> str:
    return ("；" if language == "zh" else "; ").join(dict.fromkeys(titles))


def _replanned(state: State, carried: State) -> State:
    """Return the earlier plan with its added steps, which was approved then; none without steps."""
    steps = list_all_steps(carried)
    if not steps:
        return State()
    title = carried["plan"]["title"] or state["question"]
    plan = Plan(title=title, thought="", has_enough_context=False, steps=steps)
    return State(plan=plan, decision="approve", question=carried["question"])


def _is_incomplete(report: Report) -> bool:
    """Tell whether a report lacks something because of a failure or a limit."""
    return bool(report.get("error") or report.get("limit"))


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
