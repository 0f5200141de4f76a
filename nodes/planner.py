"""Divide the question into steps that can be researched concurrently."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, field_validator

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.run_budget import end_session
from calls.run_progress import show_progress, tell_plan
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.plan import make_research_step, render_plan, validate_plan
from graph.plan_questions import MOST_OPTIONS, MOST_QUESTIONS
from graph.records import EMPTY_PLAN, Passage, Plan, PlanQuestion, Step, entries_of_turn
from graph.state import State
from library.knowledge_records import KnowledgeBase
from library.uploaded_files import with_uploads
from models.chat_models import built_in
from models.extractive.planning import draft_plan
from models.extractive.schema_answers import extractive_answer
from models.faults import raise_if_fatal
from nodes.human_feedback import plan_message
from nodes.knowledge_choice import (
    is_models_choice,
    list_offered_bases,
    name_bases,
    render_bases_block,
    render_choice_prompt,
)
from nodes.revision import needs_new_steps, render_change_block
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from prompts.loader import render_prompt
from report.findings import (
    list_open_questions,
    needs_no_research,
    render_earlier_block,
    select_earlier_findings,
)
from report.first_passages import select_first_passages
from runs.call_site import call_site
from runs.lifecycle import set_run_status
from text.normalization import to_one_line
from tools.computations import can_run_code
from tools.evidence import searches_web
from tools.mcp.mcp_tools import outline_server_tools
from tools.scope_outline import outline_scope, render_outline_block

TRIES = 2
"""How often the model is asked for a plan before one is made from the queries."""


MOST_PERSPECTIVES = 5
"""So many points of view are kept with a plan."""

LONGEST_LINE = 300
"""The most characters of a point of view, a question or an answer to it."""


class DraftStep(BaseModel):
    """One step as the model writes it."""

    title: VisibleText
    description: VisibleText = ""
    kind: str = "research"
    queries: SearchTexts = []
    needs: list[int | str] = []
    need_web_search: bool = True


class DraftQuestion(BaseModel):
    """A question to the person as the model writes it."""

    question: VisibleText
    options: list[VisibleText] = []
    assumed: VisibleText = ""


@extractive_answer(draft_plan)
class Draft(BaseModel):
    """A plan as the model writes it: who asks comes before what is researched for them."""

    title: VisibleText
    perspectives: list[VisibleText] = []
    thought: VisibleText = ""
    has_enough_context: bool = False
    steps: list[DraftStep] = []
    questions: list[DraftQuestion] = []

    @field_validator("perspectives", mode="before")
    @classmethod
    def _join_parts(cls, given: Any) -> Any:
        """Read a point of view that is written as an object as its values in one line."""
        if not isinstance(given, list):
            return given
        return [
            ": ".join(map(str, one.values())) if isinstance(one, dict) else one for one in given
        ]

    @field_validator("questions", mode="before")
    @classmethod
    def _drop_bare(cls, given: Any) -> Any:
        """Drop a question that is written as a text, as nothing is assumed without an answer."""
        if not isinstance(given, list):
            return given
        return [one for one in given if not isinstance(one, str)]


@extractive_answer(draft_plan)
class DraftWithBases(Draft):
    """A plan where there are knowledge bases to choose from."""

    knowledge: list[VisibleText] = []


async def planner(state: State, runtime: Runtime[Context]) -> State:
    """Write a plan for the question, unless the run has no research steps.

    Reads `question`, `queries`, `background`, `plan`, `feedback`, and of earlier turns `findings`
    and `answers`; writes `plan`, `outline`, `decision`, `status`, and `messages` where the plan is
    shown.
    """
    quick = runtime.context.depth == "quick"
    if needs_no_research(state):
        # Without research there is no plan to review.
        return State() if quick else State(plan=EMPTY_PLAN, decision="")
    bases = await list_offered_bases(state, runtime)
    if quick:
        plan = await name_bases(state, runtime, EMPTY_PLAN, bases)
        return State(plan=plan) if bases else State()
    show_progress(state, "planning")
    outline = await _outline(state, runtime)
    plan = await _plan(state | State(outline=outline), runtime, bases)
    plan = await name_bases(state, runtime, plan, bases)
    plan = await _with_searches(state, runtime, plan)
    planned = State(plan=plan, outline=outline)
    tell_plan(state, plan)
    if runtime.context.auto_accept:
        return planned | State(decision="approve")
    show_progress(state, "plan_waits", count=len(plan["steps"]))
    place = call_site(state, runtime)
    end_session(place)
    await set_run_status(place.owner, place.run, "waiting_review")
    shown = [plan_message(state, plan)]
    return planned | State(messages=shown, status="waiting_review", decision="")


async def _outline(state: State, runtime: Runtime[Context]) -> str:
    """Return the block of the documents in scope; while steps run, more of the web is read."""
    place, language = call_site(state, runtime), state["language"]
    outline = await outline_scope(place, runtime.context, state["question"], language)
    return render_outline_block(outline)


def is_already_answered(state: State) -> bool:
    """Tell whether the plan considers the question answered, and there is evidence for it."""
    if not state["plan"]["has_enough_context"] or needs_new_steps(state):
        return False
    return bool(_passages(state) or select_earlier_findings(state, state["question"]))


async def _plan(state: State, runtime: Runtime[Context], bases: Sequence[KnowledgeBase]) -> Plan:
    limit, language = runtime.context.limits.max_steps, state["language"]
    web, computes = await _describe_web(state, runtime, bases), await _can_compute(runtime.context)
    system = render_prompt(
        "planner",
        language=language,
        today=datetime.now(UTC).date(),
        depth=render_prompt(f"plan_{runtime.context.depth}", language=language).strip(),
        web=render_prompt(web, language=language).strip(),
        web_field=', "need_web_search": true' if searches_web(runtime.context) else "",
        kind=render_prompt("plan_kind" if computes else "plan_no_kind", language=language).strip(),
    )
    bases = bases if is_models_choice(runtime, bases) else []
    tools = await outline_server_tools(call_site(state, runtime).owner, runtime.context)
    system = join_prompt_blocks(
        system,
        render_choice_prompt(language) if bases else "",
        render_prompt("plan_tools", language=language) if tools else "",
    )
    form, request = (DraftWithBases if bases else Draft), _request(state, runtime, bases, tools)
    for plan_try in range(TRIES):
        again = {**state, "plan_try": plan_try}
        try:
            draft = await ask(again, runtime, "planner", system, [request], form)
            plan = _without_answered(
                plan_from_draft(draft, limit, language, computes=computes), state
            )
            # A person who reviews plans gets one even if no step seems necessary.
            if plan["steps"] or (runtime.context.auto_accept and not needs_new_steps(state)):
                return plan
            break
        except Problem as problem:
            raise_if_fatal(problem)
            if problem.code == ErrorCode.BUDGET_SPENT:
                break
    return _plan_from_queries(state, limit)


async def _has_files(state: State, runtime: Runtime[Context]) -> bool:
    """Tell whether a run has files of the person, uploads among them."""
    place = call_site(state, runtime)
    return bool(await with_uploads(place.owner, place.thread, runtime.context.files))


async def _describe_web(
    state: State, runtime: Runtime[Context], bases: Sequence[KnowledgeBase]
) -> str:
    """Return the name of the phrase that says which steps search the web."""
    if not searches_web(runtime.context):
        return "plan_no_web"
    return "plan_web" if bases or await _has_files(state, runtime) else "plan_only_web"


async def _with_searches(state: State, runtime: Runtime[Context], plan: Plan) -> Plan:
    """Return a plan whose steps search the web where a run has nothing else to search.

    What a person said of a plan may be that they want no web search, so then the plan stands.
    """
    said = state["feedback"] or state.get("wishes")
    if said or plan.get("knowledge") or not searches_web(runtime.context):
        return plan
    if await _has_files(state, runtime):
        return plan
    return plan | {"steps": [step | {"need_web_search": True} for step in plan["steps"]]}


def _without_answered(plan: Plan, state: State) -> Plan:
    """Return a plan without the questions that the person has answered in this turn."""
    said = [wish.casefold() for wish in state.get("wishes", [])]
    asked = plan.get("questions", [])
    new = [one for one in asked if not any(one["question"].casefold() in wish for wish in said)]
    return plan if new == asked else plan | {"questions": new}


def _request(
    state: State, runtime: Runtime[Context], bases: Sequence[KnowledgeBase], tools: str
) -> HumanMessage:
    rejected = state["feedback"] or state["revisions"]
    return HumanMessage(
        join_prompt_blocks(
            state["outline"],
            render_bases_block(bases),
            render_block("tools", tools),
            render_block("question", state["question"]),
            render_block("queries", "\n".join(state["queries"])),
            render_pages_block(_passages(state), state.get("sources", {})),
            render_earlier_block(
                select_earlier_findings(state, state["question"]), list_open_questions(state)
            ),
            render_block("limit", str(runtime.context.limits.max_steps)),
            render_change_block(state),
            render_block("plan", render_plan(state["plan"])) if rejected else "",
            render_block("feedback", state["feedback"]),
        )
    )


def _passages(state: State) -> list[Passage]:
    found = entries_of_turn(state.get("background"), state["turn"])
    return select_first_passages(found, state.get("sources", {}))


async def _can_compute(context: Context) -> bool:
    """Tell whether a run has a model that writes programs, and a sandbox in which they run."""
    return not built_in("coder", context) and await can_run_code()


def plan_from_draft(
    draft: Draft, limit: int, language: str = "en", *, computes: bool = False
) -> Plan:
    """Make a plan from a draft, with at most `limit` steps that only need earlier ones.

    Where no program can run, a step that computes becomes one that looks the figures up, and says
    so.

    Raises:
        Problem: If the draft is not a valid plan (`graph/plan.py`).
    """
    plan = Plan(
        title=draft.title[:300],
        thought=draft.thought[:10_000],
        has_enough_context=draft.has_enough_context,
        # A model asked for four steps sometimes writes nine, so the limit is enforced here.
        steps=[
            _step(number, step, language, computes=computes)
            for number, step in enumerate(draft.steps[:limit], 1)
        ],
        perspectives=_distinct(draft.perspectives)[:MOST_PERSPECTIVES],
        questions=_questions(draft.questions),
    )
    if isinstance(draft, DraftWithBases) and "knowledge" in draft.model_fields_set:
        plan["knowledge"] = draft.knowledge
    return plan if plan["has_enough_context"] and not plan["steps"] else validate_plan(plan)


def _step(number: int, step: DraftStep, language: str, *, computes: bool) -> Step:
    program = computes and step.kind == "compute"
    return Step(
        id=f"s{number}",
        title=step.title[:300],
        description=step.description[:2000] if program else _described(step, language),
        kind="compute" if program else "research",
        queries=step.queries or [step.title],
        needs=_earlier(step.needs, number),
        need_web_search=step.need_web_search,
    )


def _questions(drafts: Sequence[DraftQuestion]) -> list[PlanQuestion]:
    """Return the questions for which the draft says what is assumed without an answer."""
    asked: list[PlanQuestion] = []
    for draft in drafts:
        options = _distinct(draft.options)[:MOST_OPTIONS]
        assumed = next(iter(_distinct([draft.assumed, *options])), "")
        if draft.question.strip() and assumed and len(asked) < MOST_QUESTIONS:
            question = PlanQuestion(
                id=f"q{len(asked) + 1}",
                question=to_one_line(draft.question, LONGEST_LINE),
                options=options,
                assumed=assumed,
            )
            asked.append(question)
    return asked


def _distinct(texts: Iterable[str]) -> list[str]:
    """Return texts in one line each, without blank ones and repetitions."""
    lines = (to_one_line(text, LONGEST_LINE) for text in texts)
    return list(dict.fromkeys(line for line in lines if line))


def _described(step: DraftStep, language: str) -> str:
    note = (
        render_prompt("not_computed", language=language).strip() if step.kind == "compute" else ""
    )
    return " ".join(part for part in (step.description[: 2000 - len(note) - 1], note) if part)


def _earlier(needs: list[int | str], number: int) -> list[str]:
    """Return the ids of the earlier steps among the needs, which are given as 2, "2" or "s2"."""
    numbers = [int(digits) for need in needs if (digits := str(need).lstrip("s")).isdecimal()]
    return [f"s{need}" for need in dict.fromkeys(numbers) if 0 < need < number]


def _plan_from_queries(state: State, limit: int) -> Plan:
    """Make a plan without a model: one step for each query."""
    queries = enumerate(state["queries"][:limit], start=1)
    steps = [make_research_step(f"s{number}", query, [query]) for number, query in queries]
    title = state["question"][:300]
    return Plan(title=title, thought="", has_enough_context=False, steps=steps)
