"""Utterances: what was said and done in a run, its key steps, and how they are described."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import pairwise
from textwrap import shorten
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from memory.tables import utterances
from prompts.methods import load_methods
from runs.tables import runs
from storage.engine import read_rows, run_read
from text.normalization import clip_long_text
from text.regex import regex
from text.script import CJK, is_western
from text.words import search_words

SOURCE_METHOD_PREFIX = "in_"
"""The prefix of the names of methods that say where to look."""

MAX_STEP_CHARS = 300
"""The most characters of a described step."""

_DATA = regex(r"(?:```\w*\s*)?[\[{]")
_SCRAP = regex(r"wrote \d+ words$|\w+\(\{.*")
"""Notes of the program, and calls of tools, which are steps of their own."""

_WORD = regex(f"[{CJK}]+|[^\\W{CJK}]+")
_GAPS = regex(r"…(?:[^\w…]*…)+")
"""Omitted words with nothing but signs between them."""

_TITLES = regex(r'"title"\s*:\s*"((?:[^"\\]|\\.)+)"')


def describe_utterances(steps: Iterable[Utterance], question: str | None = None) -> str:
    """Return the descriptions of key steps, one per line, without repetitions."""
    lines = (describe_utterance(step, question) for step in steps)
    return "\n".join(dict.fromkeys(filter(None, lines)))


def describe_utterance(step: Utterance, question: str | None = None) -> str:
    """Describe a key step in one line; "" for steps that tell a colleague nothing.

    The line has what was planned, searched and read, or what the person said against a plan. Notes
    of the program to itself, such as a verdict as JSON, are left out; so are observations, which
    may be the words of any page.

    Args:
        step: The step.
        question: What its run asked, if other runs are shown the line: a model's words then pass
            `mask_foreign_words`.
    """
    action = " ".join(step.action.split())
    if step.who == PERSON_SPEAKER:
        return _labelled(f"{PERSON_SPEAKER}, against a plan", action)
    if step.who == "planner" and _DATA.match(action):
        # The first title is that of the plan.
        titles = _TITLES.findall(action)[1:]
    else:
        titles = [] if _DATA.match(action) or _SCRAP.match(action) else [action]
    if question is not None:
        titles = [mask_foreign_words(one, question) for one in titles]
    return _labelled(step.who, " | ".join(filter(None, titles)))


def _labelled(who: str, said: str) -> str:
    return f"{who}: {shorten(said, MAX_STEP_CHARS, placeholder=' …')}" if said else ""


def mask_foreign_words(text: str, question: str) -> str:
    """Return a model's words with "…" for each that is neither the question's nor a kind of source.

    A model that obeyed a page may have put the page's words into a plan or a query. "" where no
    word is left that names anything.
    """
    allowed = {*search_words(question), *_source_kind_words()}
    masked = _WORD.sub(lambda word: _mask_word(word[0], allowed), text)
    return _GAPS.sub("…", masked) if allowed.intersection(search_words(masked)) else ""


def _mask_word(word: str, allowed: AbstractSet[str]) -> str:
    if is_western(word):
        return word if allowed >= {*search_words(word)} else "…"
    pairs = [word[at : at + 2] in allowed for at in range(len(word) - 1)]
    known = [one or other for one, other in pairwise([False, *pairs, False])]
    return "".join(char if keep else "…" for char, keep in zip(word, known, strict=True))


@cache
def _source_kind_words() -> frozenset[str]:
    """Return the words of the methods that say where to look."""
    known = (one for name, one in load_methods().items() if name.startswith(SOURCE_METHOD_PREFIX))
    return frozenset(word for one in known for word in search_words(f"{one.english} {one.chinese}"))


PERSON_SPEAKER = "person"
"""The speaker of the person's utterances."""

PLAN_EDIT = "edit"
"""The kind of the person's edits of a plan; they are no step of the work."""

MAX_KEY_STEPS = 12
"""The most key steps of a run."""


class Utterance(NamedTuple):
    """One thing that somebody said or did, and its result."""

    who: str
    action: str
    observation: str = ""
    kind: str = "model"
    """`model` for something said; `search`, `fetch` or `sandbox` for something done."""
    step: str = ""
    builds_on: tuple[int, ...] = ()
    """The ids of earlier utterances that it builds on: the edges of inspiration."""
    id: int = 0
    main: bool = False


def store_utterances(
    connection: Connection, owner: str, run: str, said: Sequence[Utterance]
) -> None:
    """Store utterances in their order; `builds_on` has positions among them, from 1.

    Long texts keep their beginning and their end.
    """
    ids: list[int] = []
    for one in said:
        row = {name: getattr(one, name) for name in ("step", "who", "kind")}
        row |= {name: clip_long_text(getattr(one, name)) for name in ("action", "observation")}
        row |= {"builds_on": json.dumps([ids[place - 1] for place in one.builds_on])}
        row |= {"owner": owner, "run": run, "main": int(one.main), "at": time.time()}
        made = insert(utterances).values(row).returning(utterances.c.id)
        ids.append(connection.execute(made).scalar_one())


async def list_utterances(owner: str, run: str, *, main: bool = False) -> list[Utterance]:
    """Return the utterances of a run in order, or only its key steps."""
    return await run_read(lambda connection: list_utterances_in(connection, owner, run, main=main))


def list_utterances_in(
    connection: Connection, owner: str, run: str, *, main: bool = False
) -> list[Utterance]:
    """Return the same, in a transaction of the caller's."""
    wanted = select(utterances).filter_by(owner=owner, run=run)
    if main:
        wanted = wanted.filter_by(main=1)
    return list(map(_utterance_from_row, connection.execute(wanted.order_by(utterances.c.id))))


async def list_person_messages(owner: str, threads: Sequence[str]) -> list[str]:
    """Return what the person asked, said about plans, and added to plans in some threads."""
    its = (runs.c.owner == owner, runs.c.thread.in_(threads))
    asked = (await read_rows(select(runs.c.id, runs.c.question).where(*its))).all()
    mine = (utterances.c.owner == owner, utterances.c.run.in_([row.id for row in asked]))
    spoke = select(utterances.c.action).where(*mine, utterances.c.who == PERSON_SPEAKER)
    return [*(row.question for row in asked), *(await read_rows(spoke)).scalars()]


def select_key_steps(said: Sequence[Utterance]) -> list[int]:
    """Return the ids of the steps that led to the end, in order.

    These are the last utterance and, transitively, those it builds on. Where `builds_on` is empty
    everywhere, each builds on the one before it. Of two that did the same the later one is kept.
    """
    if not said:
        return []
    by_id = {one.id: one for one in said}
    before = _dependencies(said)
    kept: dict[tuple[str, str], int] = {}
    frontier, seen = {said[-1].id}, set[int]()
    while frontier and len(kept) < MAX_KEY_STEPS:
        at = max(frontier)
        seen.add(at)
        kept.setdefault((by_id[at].who, by_id[at].action), at)
        frontier = (frontier | by_id.keys() & before[at]) - seen
    return sorted(kept.values())


def mark_key_steps(connection: Connection, said: Sequence[Utterance]) -> None:
    """Store what the utterances of a run build on, and which of them are its key steps."""
    main = {*select_key_steps(said)}
    marked = update(utterances).filter_by(id=bindparam("one"))
    values = [
        {"one": one.id, "on": json.dumps(one.builds_on), "is_main": int(one.id in main)}
        for one in said
    ]
    if values:
        columns: dict[str, Any] = {"builds_on": bindparam("on"), "main": bindparam("is_main")}
        connection.execute(marked.values(columns), values)


def _dependencies(said: Sequence[Utterance]) -> Mapping[int, Sequence[int]]:
    if any(one.builds_on for one in said):
        return {one.id: one.builds_on for one in said}
    ids = [one.id for one in said]
    return {after: ids[at - 1 : at] if at else [] for at, after in enumerate(ids)}


def _utterance_from_row(one: Any) -> Utterance:
    fields = {name: getattr(one, name) for name in Utterance._fields}
    builds_on = tuple(json.loads(one.builds_on))
    return Utterance(**{**fields, "builds_on": builds_on, "main": bool(one.main)})


def infer_dependencies(said: Sequence[Utterance]) -> list[Utterance]:
    """Return utterances with `builds_on` filled in where it is empty.

    A message in a step builds on the last message of that step and on all that was done since; the
    first one builds on the last message for the whole run, such as the plan. A message for the
    whole run builds on the last message of every step since the one before it.
    """
    last_message: dict[str, int] = {}
    done_since: dict[str, list[int]] = {}
    linked = []
    for one in said:
        same_step = [last_message[one.step]] if one.step in last_message else []
        whole_run = [last_message[""]] if one.step and "" in last_message else []
        sources = same_step or whole_run
        if one.kind == "model":
            steps = [] if one.step else [id for step, id in last_message.items() if step]
            sources = [*sources, *steps, *done_since.pop(one.step, [])]
            if not one.step:
                last_message.clear()
            last_message[one.step] = one.id
        else:
            done_since.setdefault(one.step, []).append(one.id)
        linked.append(one if one.builds_on else one._replace(builds_on=tuple(sorted({*sources}))))
    return linked
