"""Write a plan as flat fields of text, one line for each step, and read the edited fields back.

A chat page shows a text box for each argument of an action, labelled with its name, and sends all
of them back as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.plan import (
    COMPUTES,
    FILES_ONLY,
    INDENT,
    is_property_line,
    keep_line,
    keep_words,
    parse_steps,
    render_steps,
)
from graph.plan_questions import list_questions
from graph.records import Plan, Step

STEP_FIELD = "step_{}"
"""The name of the field of a step, by its number in the plan."""

NEW_STEPS_FIELD = "add_steps"
"""The name of the field for further steps, a line for each."""

QUESTION_FIELD = "question_{}"
"""The name of the field of a question of the plan, by the number in its id."""

SEPARATOR = " — "
"""Stands between the title of a step and what it must find out."""

_NAME = re.compile(r"(?:step_(\d{1,3})|(add_steps))")
_QUESTION = re.compile(r"question_([1-9])")
_MARKS = re.compile(r"(?P<kept>\\*)[(（](?P<marks>[^()（）]*)[)）]\s*$")
_AFTER = re.compile(r"(?:after|之后)\s*[:：]?\s*(?:steps?\s+)?(\d[\d,，、\s]*)", re.IGNORECASE)
_NUMBERED = re.compile(r"\A(?:(?:step\s+)?\d{1,3}\s*[.):、]\s*|[-*+•]\s+)", re.IGNORECASE)
_ANSWER = re.compile(r"^\s*(?:answer|回答)[^:：\n]*[:：]", re.IGNORECASE | re.MULTILINE)


@dataclass
class _Item:
    """A line that a person left or wrote, with the lines below it that belong to it."""

    text: str
    number: int
    """The number of the step in whose field it stands first; 0 for any other line."""
    more: list[str] = field(default_factory=list)


def render_plan_fields(plan: Plan) -> dict[str, str]:
    """Return a plan as fields: its title, a line for each step, and room for further steps."""
    numbers = _numbers(plan["steps"])
    lines = {STEP_FIELD.format(numbers[step["id"]]): _line(step, numbers) for step in plan["steps"]}
    return {"title": plan["title"], **lines, NEW_STEPS_FIELD: ""}


def is_plan_field(name: str) -> bool:
    """Tell whether a field holds steps, or a question with its answer."""
    return bool(_NAME.fullmatch(name) or _QUESTION.fullmatch(name))


def read_step_fields(steps: Sequence[Step], fields: Mapping[str, Any]) -> list[Step]:
    """Return the steps that edited fields hold; the same steps if no field was changed.

    An empty field drops its step, any further line is a step, and lines that were moved are the
    steps they were. A step whose title was changed searches for its new title. Fields that are
    missing leave their steps as they are.

    Raises:
        Problem: What `parse_steps` raises.
    """
    numbers = _numbers(steps)
    shown = {numbers[step["id"]]: _line(step, numbers) for step in steps}
    items = [*_items(shown, fields)]
    untouched = [item.text for item in items] == [*map(_one_line, shown.values())]
    if untouched and not any(item.more for item in items):
        return [*steps]
    known = dict(zip(shown, steps, strict=True))
    meant = _match(items, shown)
    read = parse_steps("".join(_render_items(items, meant, known, shown)))
    for step, item, number in zip(read, items, meant, strict=True):
        if number and item.text == _one_line(shown[number]) and not item.more:
            step.update({**known[number], "id": step["id"], "needs": step["needs"]})
    return read


def _numbers(steps: Sequence[Step]) -> dict[str, int]:
    return {step["id"]: place for place, step in enumerate(steps, start=1)}


def _line(step: Step, numbers: Mapping[str, int]) -> str:
    """Return a step in one line: title, what it must find out, and marks in brackets."""
    told = _one_line(step["description"])
    same = told.casefold() in ("", _one_line(step["title"]).casefold())
    text = _keep_brackets(_one_line(step["title"]) + ("" if same else f"{SEPARATOR}{told}"))
    needs = ", ".join(str(numbers.get(need, need)) for need in step["needs"])
    marks = [f"after {needs}"] if needs else []
    marks += [FILES_ONLY[0]] * (not step["need_web_search"])
    marks += [COMPUTES[0]] * (step["kind"] == "compute")
    return f"{text} ({'; '.join(marks)})" if marks else text


def _items(shown: Mapping[int, str], fields: Mapping[str, Any]) -> Iterator[_Item]:
    """Yield the lines of all fields, in the order of the steps; further steps come last."""
    given = {STEP_FIELD.format(number): line for number, line in shown.items()} | dict(fields)
    named = [(found, given[name]) for name in given if (found := _NAME.fullmatch(name))]
    for found, value in sorted(named, key=lambda one: int(one[0][1] or 1_000)):
        yield from _split_field(int(found[1] or 0), str(value))


def _split_field(number: int, value: str) -> list[_Item]:
    items: list[_Item] = []
    for line in value.expandtabs(4).splitlines():
        belongs = line.startswith("  ") or is_property_line(line.strip())
        if line.strip() and items and belongs:
            items[-1].more.append(line.strip())
        elif line.strip():
            items.append(_Item(_one_line(line), 0 if items else number))
    return items


def _match(items: Sequence[_Item], shown: Mapping[int, str]) -> list[int]:
    """Return the number of the step that each line is, or is a change of; 0 for a new step."""
    free = dict(shown)
    meant = [0] * len(items)
    for own in (True, False):
        for at, item in enumerate(items):
            same = [number for number, line in free.items() if _one_line(line) == item.text]
            same = [number for number in same if number == item.number] if own else same
            if same and not meant[at]:
                meant[at] = same[0]
                del free[same[0]]
    for at, item in enumerate(items):
        if not meant[at] and item.number in free:
            meant[at] = item.number
            del free[item.number]
    return meant


def _render_items(
    items: Sequence[_Item],
    meant: Sequence[int],
    known: Mapping[int, Step],
    shown: Mapping[int, str],
) -> Iterator[str]:
    """Yield each step as lines of text, numbered as it was shown; new ones follow on."""
    kept, free = set(meant), max(shown, default=0)
    gone = {str(number) for number in shown if number not in kept}
    for item, number in zip(items, meant, strict=True):
        free += not number
        base = known.get(number)
        lines = (
            _unchanged_lines(base, shown, known)
            if base and item.text == _one_line(shown[number])
            else _changed_lines(item.text, base)
        )
        title, *lines = lines
        lines = [line for line in (_drop_needs(line, gone) for line in lines) if line]
        head = f"{number or free}. {title}\n"
        yield head + "".join(f"{INDENT}{line}\n" for line in [*lines, *item.more])


def _unchanged_lines(step: Step, shown: Mapping[int, str], known: Mapping[int, Step]) -> list[str]:
    """Return the lines of a step that was not touched, with the numbers that were shown."""
    numbers = {known[number]["id"]: number for number in shown}
    (head, *lines) = render_steps([{**step, "needs": []}]).splitlines()
    needs = ", ".join(str(numbers[need]) for need in step["needs"] if need in numbers)
    after = [f"after: {needs}"] if needs else []
    return [head.partition(" ")[2], *(line.strip() for line in lines), *after]


def _changed_lines(text: str, base: Step | None) -> list[str]:
    """Return the lines of a step that a person wrote, or changed."""
    text, marks = _split_marks(_NUMBERED.sub("", text, count=1) if not base else text)
    title, told = _split_title(text, _one_line(base["title"]) if base else "")
    lines = [keep_words(title), *([keep_line(told)] if told else [])]
    if base and title == _one_line(base["title"]):
        searched = [] if base["queries"] == [base["title"]] else base["queries"]
        lines += [f"search: {keep_words(_one_line(query))}" for query in searched]
    return [*lines, *marks]


def _split_title(text: str, known: str) -> tuple[str, str]:
    """Return the title of a step and what it must find out; a title may have a dash of its own."""
    if known and (text == known or text.startswith(known + SEPARATOR)):
        return known, text[len(known) :].removeprefix(SEPARATOR).strip()
    title, _, told = text.partition(SEPARATOR)
    return (title.strip(), told.strip()) if title.strip() else (text.strip(), "")


def _split_marks(text: str) -> tuple[str, list[str]]:
    """Return a line without the marks at its end, and these as lines; other brackets stay."""
    found = _MARKS.search(text)
    lines = _read_marks(found) if found else []
    before = text[: found.start()].rstrip() if found else ""
    if not lines or not found or not (before or found["kept"]):
        return text, []
    return (_free_brackets(text), []) if found["kept"] else (_free_brackets(before), lines)


def _free_brackets(text: str) -> str:
    """Return a line without the backslash that `_keep_brackets` put into it."""
    found = _MARKS.search(text)
    if not found or not found["kept"] or not _read_marks(found):
        return text
    return text[: found.start()] + text[found.start() + 1 :]


def _keep_brackets(text: str) -> str:
    """Return a line with a backslash before brackets at its end that would be read as marks."""
    found = _MARKS.search(text)
    if not found or not _read_marks(found):
        return text
    return f"{text[: found.start()]}\\{text[found.start() :]}"


def _read_marks(found: re.Match[str]) -> list[str]:
    """Return the lines for what stands in brackets; none if something of it is no mark."""
    lines = [
        _read_mark(mark.strip()) for mark in re.split(r"[;；]", found["marks"]) if mark.strip()
    ]
    return lines if all(lines) else []


def _read_mark(mark: str) -> str:
    after = _AFTER.fullmatch(mark)
    if after:
        return f"after: {', '.join(re.findall(r'[0-9]+', after[1]))}"
    return mark if mark.casefold() in (*FILES_ONLY, *COMPUTES) else ""


def _drop_needs(line: str, gone: Iterable[str]) -> str:
    """Return a line without the numbers of steps that were dropped; "" if none is left."""
    if not line.startswith("after: "):
        return line
    left = [one for one in line.removeprefix("after: ").split(", ") if one not in set(gone)]
    return f"after: {', '.join(left)}" if left else ""


def name_question_field(question: str) -> str:
    """Return the name of the field of a question, by its id."""
    return QUESTION_FIELD.format(question.removeprefix("q"))


def read_answer_fields(
    plan: Plan, fields: Mapping[str, Any], shown: Mapping[str, str]
) -> dict[str, str]:
    """Return the answers in the fields of questions, by the ids of the questions.

    Args:
        plan: The plan that asks.
        fields: The fields as a person left them.
        shown: The fields as they were shown.
    """
    answers = {}
    for question in list_questions(plan):
        name = name_question_field(question["id"])
        value, before = str(fields.get(name) or ""), shown.get(name, "")
        if value.strip() and value.strip() != before.strip():
            label = before.strip().removesuffix(question.get("answer", "")).rstrip()
            answers[question["id"]] = _read_answer(label, value)
    return {name: answer for name, answer in answers.items() if answer}


def _read_answer(shown: str, value: str) -> str:
    """Return what stands behind the line for the answer, or else what the person added."""
    *others, label = shown.splitlines() or [""]
    if label in value:
        return _one_line(value.rpartition(label)[2])
    places = [*_ANSWER.finditer(value)]
    if places:
        return _one_line(value[places[-1].end() :])
    known = {line.strip() for line in others}
    return _one_line(" ".join(line for line in value.splitlines() if line.strip() not in known))


def _one_line(text: str) -> str:
    return " ".join(text.split())
