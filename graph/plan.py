"""Check a plan, whoever made it.

Write it as lines of text that a person edits, and read it back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, NoReturn, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from config.errors import ErrorCode, Problem, first_validation_error
from graph.plan_questions import MOST_QUESTIONS, PlanQuestionForm, render_plan_remarks
from graph.records import Plan, PlanQuestion, Step

MOST_STEPS = 50
"""No plan may be longer, whatever a run chooses."""


class _StepForm(BaseModel):
    """A step as a person may write it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")
    title: str = Field(min_length=1, max_length=300)
    description: str = Field(default="", max_length=2000)
    kind: Literal["research", "compute"] = "research"
    queries: list[str] = []
    needs: list[str] = []
    need_web_search: bool = True


class _PlanForm(BaseModel):
    """A plan as a person may write it."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=300)
    thought: str = Field(default="", max_length=10_000)
    has_enough_context: bool = False
    steps: list[_StepForm] = Field(min_length=1)
    perspectives: list[str] = Field(default=[], max_length=20)
    questions: list[PlanQuestionForm] = Field(default=[], max_length=MOST_QUESTIONS)
    knowledge: list[str] | None = Field(default=None, max_length=50)

    @field_validator("knowledge", mode="before")
    @classmethod
    def _split_names(cls, given: Any) -> Any:
        """Read the names of knowledge bases in one line, as a person writes them."""
        return split_base_names(given) if isinstance(given, str) else given


def make_research_step(
    name: str,
    title: str,
    queries: list[str],
    *,
    description: str = "",
    needs: Sequence[str] = (),
) -> Step:
    """Return a step that searches files and web; `name` is its id."""
    return Step(
        id=name,
        title=title[:300],
        description=description[:2000],
        kind="research",
        queries=queries,
        needs=[*needs],
        need_web_search=True,
    )


def validate_plan(plan: Any) -> Plan:
    """Return the plan if it can be researched.

    Raises:
        Problem: `plan_field`, `plan_too_long`, `plan_duplicate_id`, `plan_unknown_need` or
            `plan_cycle`, naming the place.
    """
    try:
        form = _PlanForm.model_validate(plan)
    except ValidationError as error:
        place, what = first_validation_error(error)
        hint = "`dossier resume --help` shows how a plan is written"
        raise Problem(ErrorCode.PLAN_FIELD, what, where=place, hint=hint) from error
    steps = [cast("Step", step.model_dump()) for step in form.steps]
    _check_steps(steps)
    checked = Plan(
        title=form.title,
        thought=form.thought,
        has_enough_context=form.has_enough_context,
        steps=steps,
    )
    if form.perspectives:
        checked["perspectives"] = [one[:300] for one in form.perspectives]
    if form.questions:
        asked = [question.model_dump(exclude_defaults=True) for question in form.questions]
        checked["questions"] = [cast("PlanQuestion", {"options": [], **one}) for one in asked]
    if form.knowledge is not None:
        checked["knowledge"] = list(dict.fromkeys(form.knowledge))
    return checked


def refuse_compute_steps(steps: Sequence[Step]) -> None:
    """Refuse a plan with steps that compute, where no program can run.

    Raises:
        Problem: `plan_field`, naming the first such step.
    """
    for place, step in enumerate(steps):
        if step["kind"] == "compute":
            what = "no program can run here, since there is no sandbox for it"
            hint = 'leave `kind` out: "research" looks the figures up in the sources'
            raise Problem(ErrorCode.PLAN_FIELD, what, where=f"steps.{place}.kind", hint=hint)


def _check_steps(steps: list[Step]) -> None:
    if len(steps) > MOST_STEPS:
        what = f"the plan has {len(steps)} steps, the most is {MOST_STEPS}"
        raise Problem(ErrorCode.PLAN_TOO_LONG, what, where="steps", hint="join or drop steps")
    ids = [step["id"] for step in steps]
    for name in ids:
        if ids.count(name) > 1:
            raise Problem(
                ErrorCode.PLAN_DUPLICATE_ID, f"two steps are named {name!r}", where="steps"
            )
    for step in steps:
        for need in step["needs"]:
            if need not in ids:
                what = f"step {step['id']!r} needs {need!r}, which is no step"
                raise Problem(ErrorCode.PLAN_UNKNOWN_NEED, what, hint=f"one of {', '.join(ids)}")
    try:
        TopologicalSorter({step["id"]: step["needs"] for step in steps}).prepare()
    except CycleError as error:
        path = "->".join(reversed(error.args[1]))
        what = f"the steps wait for each other: {path}"
        raise Problem(ErrorCode.PLAN_CYCLE, what, hint="drop one of the needs") from error


PLAN_LEGEND = """\
<!--
One numbered line is one step. What belongs to a step is indented below it:
   any words        what the step must find out
   search: words    something to search for; one search on a line
   after: 1, 2      the steps whose results it builds on
   files only       this step does not search the web
   compute          this step runs a program over tables and files
Add, drop and move steps as you like; the numbers only serve "after". A line that begins
with \\ is words, such as \\files only.
-->
"""
"""What a person is told above the text, as a comment that is not read."""

KEYS = {
    "search": "search",
    "query": "search",
    "queries": "search",
    "搜索": "search",
    "after": "after",
    "needs": "after",
    "之后": "after",
    "web": "web",
    "网页": "web",
}
"""The words before a colon that say what a line holds."""

WEB = {"yes": True, "no": False, "是": True, "否": False}

FILES_ONLY = ("files only", "no web", "仅文件")
"""The lines that keep a step from searching the web; the first is how it is written."""

NO_WEB = FILES_ONLY[1]
"""What a list of steps says of one that keeps from the web, be there files or not."""

COMPUTES = ("compute", "computes", "计算")
"""The lines that make a step one that computes; the first is how it is written."""

INDENT = "   "

NO_BASES = "none"
"""What stands in a plan that searches no knowledge base."""

_BASES = re.compile(r"(?:knowledge|知识库)[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_COMMENT_MARK = re.compile(r"<(\\*)!--")
_KEPT_MARK = re.compile(r"<\\(\\*)!--")
_TITLE = re.compile(r"#+[ \t]+(.*)")
_MARKED = re.compile(
    r"(?:step\s+)?(?:(\d{1,3})\s*(?:[.):]\s+|、\s*)|[-*+•]\s+)(\S.*)", re.IGNORECASE
)
_KEYED = re.compile(r"([A-Za-z]+|[\u4e00-\u9fff]{2})\s*[:：]\s*(.*)")
_NUMBER = re.compile(r"(?:step\s+|s)?(\d{1,3})", re.IGNORECASE)


@dataclass
class _Line:
    """A line with its number and how far it is indented."""

    number: int
    indent: int
    text: str


@dataclass
class _Draft:
    """A step while its lines are read."""

    line: int
    label: str
    title: str
    description: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    after: list[tuple[int, str]] = field(default_factory=list)
    web: bool = True
    computes: bool = False


def render_plan(plan: Plan) -> str:
    """Return a plan as text, with its title as a heading and what it rests on as comments."""
    head = f"# {keep_words(_one_line(plan['title']))}\n\n" if plan["title"].strip() else ""
    remarks = render_plan_remarks(plan)
    head += f"{remarks}\n" if remarks else ""
    if "knowledge" in plan:
        head += f"knowledge: {render_base_names(plan)}\n\n"
    return head + render_steps(plan["steps"])


def is_without_web(step: Step) -> bool:
    """Tell whether a step searches, and not the web; one that computes searches nothing."""
    return step["kind"] == "research" and not step["need_web_search"]


def is_plan_without_web(plan: Plan) -> bool:
    """Tell whether there are steps that search, and none of them searches the web."""
    searching = [step for step in plan["steps"] if step["kind"] == "research"]
    return bool(searching) and all(map(is_without_web, searching))


def render_base_names(plan: Plan) -> str:
    """Return the names of the knowledge bases of a plan in one line."""
    return ", ".join(plan.get("knowledge", [])) or NO_BASES


def split_base_names(text: str) -> list[str]:
    """Return the names of knowledge bases in a line; `none` and an empty line name none."""
    names = [name for name in re.split(r"[,;，、\s]+", text) if name]
    return [name for name in names if name.lower() not in (NO_BASES, "无")]


def render_steps(steps: Sequence[Step]) -> str:
    """Return steps as text; each is a numbered line with what belongs to it indented below."""
    numbers = {step["id"]: str(place) for place, step in enumerate(steps, start=1)}
    return "".join(_step_lines(step, numbers) for step in steps)


def _step_lines(step: Step, numbers: dict[str, str]) -> str:
    lines = [keep_line(line) for line in step["description"].splitlines() if line.strip()]
    if _one_line(step["description"]).casefold() == _one_line(step["title"]).casefold():
        lines = []
    if step["queries"] != [step["title"]]:
        lines += [f"search: {keep_words(_one_line(query))}" for query in step["queries"]]
    if step["needs"]:
        lines.append(f"after: {', '.join(numbers.get(need, need) for need in step['needs'])}")
    if not step["need_web_search"]:
        lines.append(FILES_ONLY[0])
    if step["kind"] == "compute":
        lines.append(COMPUTES[0])
    head = f"{numbers[step['id']]}. {keep_words(_one_line(step['title']))}"
    return "\n".join([head, *(INDENT + line for line in lines)]) + "\n"


def keep_words(text: str) -> str:
    """Return words as they are written in the text of a plan, in which comments are not read."""
    return _COMMENT_MARK.sub(r"<\\\1!--", text)


def keep_line(text: str) -> str:
    """Return a line that is read as words of a step, whatever it looks like."""
    line = text.strip()
    return keep_words(f"\\{line}" if _is_read_otherwise(line) else line)


def _is_read_otherwise(line: str) -> bool:
    """Tell whether a line, but for backslashes before it, is read as no words of a step."""
    bare = line.lstrip("\\")
    return is_property_line(bare) or bool(_list_close_keys(_KEYED.fullmatch(bare)))


def parse_plan(text: str) -> Plan:
    """Return the plan that a text holds, as lines or as the JSON of a plan.

    Raises:
        Problem: `plan_field`, `plan_unknown_need`, `plan_too_long` or `plan_cycle`, naming the
            line; for JSON what `validate_plan` raises.
    """
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return validate_plan(_json(text))
    return _parse_lines(text)


def parse_steps(text: str) -> list[Step]:
    """Return the steps that a text holds, as lines or as a JSON list of steps.

    Raises:
        Problem: What `parse_plan` raises.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("["):
        return validate_plan({"steps": _json(text)})["steps"]
    return parse_plan(text)["steps"]


def _json(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        hint = "write the steps as numbered lines, or mend the JSON"
        what = "the JSON of the plan is broken here"
        raise Problem(
            ErrorCode.PLAN_FIELD, what, where=f"line {error.lineno}", hint=hint
        ) from error
    except (ValueError, RecursionError) as error:
        hint = "write the steps as numbered lines"
        raise Problem(
            ErrorCode.PLAN_FIELD, "the JSON of the plan cannot be read", hint=hint
        ) from error


def _parse_lines(text: str) -> Plan:
    lines = _lines(text)
    title = ""
    if lines and (heading := _TITLE.fullmatch(lines[0].text)):
        title, lines = heading[1].strip(), lines[1:]
    bases = {}
    if lines and (named := _BASES.fullmatch(lines[0].text)):
        bases, lines = {"knowledge": split_base_names(named[1])}, lines[1:]
    drafts = _drafts(lines)
    if not drafts:
        _refuse(lines[0].number if lines else 1, "the plan has no step")
    steps = [_step(place, draft, drafts) for place, draft in enumerate(drafts, start=1)]
    try:
        return validate_plan({"title": title, "steps": steps, **bases})
    except Problem as problem:
        raise _placed(problem, drafts) from problem


def _lines(text: str) -> list[_Line]:
    """Return the lines that say something; comments leave the numbers of the others as they are."""
    without = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text.lstrip("\ufeff"))
    return [
        _Line(number, _count_indent(line), _KEPT_MARK.sub(r"<\1!--", line.strip()))
        for number, line in enumerate(without.splitlines(), start=1)
        if line.strip()
    ]


def _count_indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _drafts(lines: Sequence[_Line]) -> list[_Draft]:
    """Gather the lines of each step; where no line is marked, each that is not indented is one."""
    left = min((line.indent for line in lines), default=0)
    outer = {line.number for line in lines if line.indent <= left + 1}
    marked = any(_MARKED.fullmatch(line.text) for line in lines if line.number in outer)
    drafts: list[_Draft] = []
    for line in lines:
        found = _MARKED.fullmatch(line.text) if line.number in outer else None
        if found:
            drafts.append(_Draft(line.number, found[1] or "", found[2].strip()))
        elif line.number in outer and not marked and not is_property_line(line.text):
            drafts.append(_Draft(line.number, "", line.text))
        elif not drafts or (line.number in outer and not is_property_line(line.text)):
            _refuse(line.number, f"{line.text[:60]!r} belongs to no step")
        else:
            _add(drafts[-1], line)
    return drafts


def is_property_line(text: str) -> bool:
    """Say whether a line tells something of its step wherever it stands, such as `after: 1`."""
    keyed = _KEYED.fullmatch(text)
    return text.lower() in (*FILES_ONLY, *COMPUTES) or bool(keyed and keyed[1].lower() in KEYS)


def _add(draft: _Draft, line: _Line) -> None:
    if line.text.startswith("\\") and _is_read_otherwise(line.text):
        draft.description.append(line.text[1:])
        return
    keyed = _KEYED.fullmatch(line.text)
    kind = KEYS.get(keyed[1].lower(), "") if keyed else ""
    if line.text.lower() in FILES_ONLY:
        draft.web = False
    elif line.text.lower() in COMPUTES:
        draft.computes = True
    elif keyed and kind == "search":
        draft.queries += [keyed[2]] if keyed[2] else []
    elif keyed and kind == "after":
        draft.after += [(line.number, need) for need in re.split(r"[,;，、\s]+", keyed[2]) if need]
    elif keyed and kind == "web":
        draft.web = _yes_or_no(line, keyed[2])
    else:
        _check_spelling(line, keyed)
        draft.description.append(line.text)


def _yes_or_no(line: _Line, said: str) -> bool:
    if said.lower() not in WEB:
        _refuse(line.number, f"{said!r} is neither yes nor no", "write `web: no` or `files only`")
    return WEB[said.lower()]


def _list_close_keys(keyed: re.Match[str] | None) -> list[str]:
    """Return the keys of which the word before a colon may be a misspelling."""
    return get_close_matches(keyed[1].lower(), ("search", "after"), 1, 0.75) if keyed else []


def _check_spelling(line: _Line, keyed: re.Match[str] | None) -> None:
    close = _list_close_keys(keyed)
    if keyed and close:
        _refuse(line.number, f"there is no {keyed[1]!r}", f"did you mean `{close[0]}:`?")


def _step(place: int, draft: _Draft, drafts: Sequence[_Draft]) -> dict[str, Any]:
    needs = [_need(line, said, drafts) for line, said in draft.after if said.lower() != "step"]
    return {
        "id": f"s{place}",
        "title": draft.title,
        "description": "\n".join(draft.description),
        "kind": "compute" if draft.computes else "research",
        "queries": draft.queries,
        "needs": list(dict.fromkeys(needs)),
        "need_web_search": draft.web,
    }


def _need(line: int, said: str, drafts: Sequence[_Draft]) -> str:
    """Return the id of the step that is meant by its number, as it stands before the step.

    Where steps have no numbers, or all the same as Markdown allows, they are counted.
    """
    number = _NUMBER.fullmatch(said)
    labels = [draft.label for draft in drafts]
    if not any(labels) or (len(labels) > 1 and len(set(labels)) == 1):
        labels = [str(place) for place in range(1, len(drafts) + 1)]
    meant = [place for place, label in enumerate(labels, start=1) if number and label == number[1]]
    if len(meant) > 1:
        _refuse(line, f"several steps have the number {said}", "give each step its own number")
    if not meant:
        hint = f"one of {', '.join(filter(None, labels))}"
        what = f"no step has the number {said!r}"
        raise Problem(ErrorCode.PLAN_UNKNOWN_NEED, what, where=f"line {line}", hint=hint)
    return f"s{meant[0]}"


def _placed(problem: Problem, drafts: Sequence[_Draft]) -> Problem:
    """Return a problem of a checked plan with the line it is about, and numbers for ids."""
    what = re.sub(r"\bs(\d+)\b", r"\1", problem.what)
    step = re.match(r"steps\.(\d+)", problem.where)
    circle = re.search(r"(\d+)->", what)
    place = int(step[1]) if step else int(circle[1]) - 1 if circle else 0
    where = f"line {drafts[place].line}"
    return Problem(problem.error, what, where=where, hint=problem.hint)


def _refuse(line: int, what: str, hint: str = "") -> NoReturn:
    hint = hint or "begin a step with its number, as in `1. Title`, and indent what belongs to it"
    raise Problem(ErrorCode.PLAN_FIELD, what, where=f"line {line}", hint=hint)


def _one_line(text: str) -> str:
    return " ".join(text.split())
