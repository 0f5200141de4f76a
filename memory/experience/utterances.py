"""What was said and done in a run.

Stored as it goes, reduced to key steps when it ends, and described to later runs.
"""

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

from memory.experience.tables import utterances
from prompts.methods import load_methods
from runs.tables import runs
from storage.engine import read_rows, run_read
from text.regex import regex
from text.script import CJK, is_western
from text.storable import clip_long_text
from text.words import search_words

SOURCE_METHOD_PREFIX = "in_"
"""How the names of the methods begin that say where to look."""

MAX_STEP_CHARS = 300
"""How many characters of a step are told."""

_DATA = regex(r"(?:```\w*\s*)?[\[{]")
_SCRAP = regex(r"wrote \d+ words$|\w+\(\{.*")
"""What the program notes of who wrote, and calls of tools, which are steps of their own."""

_WORD = regex(f"[{CJK}]+|[^\\W{CJK}]+")
_GAPS = regex(r"…(?:[^\w…]*…)+")
"""Words that are left out, with nothing but signs between them."""

_TITLES = regex(r'"title"\s*:\s*"((?:[^"\\]|\\.)+)"')


def describe_utterances(steps: Iterable[Utterance], question: str | None = None) -> str:
    """Return what was done in key steps, each on a line of its own; the same is said once."""
    return "\n".join(
        dict.fromkeys(told for step in steps if (told := describe_utterance(step, question)))
    )


def describe_utterance(step: Utterance, question: str | None = None) -> str:
    """Return what a colleague would want to know of a key step, as one line; "" for the rest.

    That is what was planned, searched and read, and what the person said against a plan. Notes of
    the program to itself, such as a verdict as JSON, are left out; so is what was seen or written
    there, which may be the words of any page.

    Args:
        step: The step.
        question: What its run asked, where other runs are told: of a model's words they are told
            those of `mask_foreign_words`.
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
    """Return a model's words with "…" for each that is not the question's and no kind of source.

    A model that obeyed a page may have put the page's words into a plan or a query. "" where only
    words are left that name nothing.
    """
    own = {*search_words(question), *_source_kind_words()}
    kept = _WORD.sub(lambda word: _mask_word(word[0], own), text)
    return _GAPS.sub("…", kept) if own.intersection(search_words(kept)) else ""


def _mask_word(word: str, own: AbstractSet[str]) -> str:
    if not is_western(word):
        pairs = [word[at : at + 2] in own for at in range(len(word) - 1)]
        known = [one or other for one, other in pairwise([False, *pairs, False])]
        return "".join(char if held else "…" for char, held in zip(word, known, strict=True))
    return word if own >= {*search_words(word)} else "…"


@cache
def _source_kind_words() -> frozenset[str]:
    """Return the words of the methods that say where to look."""
    known = (one for name, one in load_methods().items() if name.startswith(SOURCE_METHOD_PREFIX))
    return frozenset(word for one in known for word in search_words(f"{one.english} {one.chinese}"))


PERSON_SPEAKER = "person"
"""Who speaks where the person does."""

PLAN_EDIT = "edit"
"""The kind of the words that a person has put into a plan; they are no step of the work."""

MAX_KEY_STEPS = 12
"""How many key steps a run has at the most."""


class Utterance(NamedTuple):
    """One thing that somebody said or did, and what came of it."""

    who: str
    action: str
    observation: str = ""
    kind: str = "model"
    """`model` for what was said; `search`, `fetch` or `sandbox` for what was done."""
    step: str = ""
    builds_on: tuple[int, ...] = ()
    """The ids of the earlier ones that it builds on: the edges of inspiration."""
    id: int = 0
    main: bool = False


def _utterance_row(owner: str, run: str, said: Utterance) -> dict[str, Any]:
    """Return the row that keeps an utterance; long texts keep their beginning and their end."""
    return {
        "owner": owner,
        "run": run,
        "step": said.step,
        "who": said.who,
        "kind": said.kind,
        "action": clip_long_text(said.action),
        "observation": clip_long_text(said.observation),
        "builds_on": json.dumps(said.builds_on),
        "main": int(said.main),
        "at": time.time(),
    }


def store_utterances(
    connection: Connection, owner: str, run: str, said: Sequence[Utterance]
) -> None:
    """Keep utterances in the order in which they came.

    What they build on is told by their places among them, from 1.
    """
    ids: list[int] = []
    for one in said:
        on = tuple(ids[place - 1] for place in one.builds_on)
        values = _utterance_row(owner, run, one._replace(builds_on=on))
        made = insert(utterances).returning(utterances.c.id)
        ids.append(connection.execute(made, values).scalar_one())


async def list_utterances(owner: str, run: str, *, main: bool = False) -> list[Utterance]:
    """Return what was said and done in a run, in order; only the key steps if so wished."""
    return await run_read(lambda connection: list_utterances_in(connection, owner, run, main=main))


def list_utterances_in(
    connection: Connection, owner: str, run: str, *, main: bool = False
) -> list[Utterance]:
    """Return the same, in a transaction of the caller's."""
    wanted = select(utterances).where(utterances.c.owner == owner, utterances.c.run == run)
    if main:
        wanted = wanted.where(utterances.c.main == 1)
    return [
        _utterance_from_row(one) for one in connection.execute(wanted.order_by(utterances.c.id))
    ]


async def list_person_messages(owner: str, threads: Sequence[str]) -> list[str]:
    """Return what the person asked, said about plans, and added to plans in some threads."""
    its = (runs.c.owner == owner, runs.c.thread.in_(threads))
    asked = (await read_rows(select(runs.c.id, runs.c.question).where(*its))).all()
    mine = (utterances.c.owner == owner, utterances.c.run.in_([row.id for row in asked]))
    spoke = select(utterances.c.action).where(*mine, utterances.c.who == PERSON_SPEAKER)
    return [*(row.question for row in asked), *(await read_rows(spoke)).scalars()]


def list_temporal_edges(said: Sequence[Utterance]) -> list[tuple[int, int]]:
    """Return the edges of time: from each utterance to the next one of the same step."""
    last: dict[str, int] = {}
    edges = []
    for one in said:
        if one.step in last:
            edges.append((last[one.step], one.id))
        last[one.step] = one.id
    return edges


def select_key_steps(said: Sequence[Utterance], limit: int = MAX_KEY_STEPS) -> list[int]:
    """Return the ids of the steps that led to the end, in order; none that was not there.

    The last utterance, and backwards whatever it builds on, through those that were built on
    themselves. Where nobody says what builds on what, each builds on the one before it. Of two that
    did the same the later one stays, which is nearer to the end.
    """
    if not said:
        return []
    by_id = {one.id: one for one in said}
    before = _dependencies(said)
    kept: dict[int, None] = {}
    done: set[tuple[str, str]] = set()
    frontier = [said[-1].id]
    seen: set[int] = set()
    while frontier and len(kept) < limit:
        frontier.sort()
        at = frontier.pop()
        if at in seen:
            continue
        seen.add(at)
        one = by_id[at]
        if (one.who, one.action) not in done:
            done.add((one.who, one.action))
            kept[at] = None
        frontier += [earlier for earlier in before[at] if earlier in by_id]
    return sorted(kept)


def mark_key_steps(connection: Connection, said: Sequence[Utterance]) -> None:
    """Write down what the utterances of a run build on, and which of them are its key steps."""
    main = {*select_key_steps(said)}
    marked = update(utterances).where(utterances.c.id == bindparam("one"))
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
    builds_on = tuple(json.loads(one.builds_on))
    told = (one.who, one.action, one.observation, one.kind, one.step, builds_on)
    return Utterance(*told, one.id, bool(one.main))


def infer_dependencies(said: Sequence[Utterance]) -> list[Utterance]:
    """Return utterances with what each of them builds on, where nobody has said so.

    Whoever speaks in a step builds on all that was said and done in it since somebody last spoke,
    and on that; the first one in a step builds on the last word that was spoken for the whole run,
    such as the plan. Who speaks for the whole run builds on the last word of every step since then.
    """
    spoken_last: dict[str, int] = {}
    done_since: dict[str, list[int]] = {}
    joined = []
    for one in said:
        here = [spoken_last[one.step]] if one.step in spoken_last else []
        above = [spoken_last[""]] if one.step and "" in spoken_last and not here else []
        steps = [] if one.step else [last for step, last in spoken_last.items() if step]
        if one.kind == "model":
            since = [*here, *above, *steps, *done_since.pop(one.step, [])]
            if not one.step:
                spoken_last.clear()
            spoken_last[one.step] = one.id
        else:
            since = [*here, *above]
            done_since.setdefault(one.step, []).append(one.id)
        joined.append(one if one.builds_on else one._replace(builds_on=tuple(sorted({*since}))))
    return joined
