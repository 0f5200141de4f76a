"""Gather what was asked in runs that are to be forgotten, and in which words they looked for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from memory.forgetting.erasure import MARK
from retrieval.text import sentences
from storage.tables import experiences, insight_runs, insights, runs, utterances

OWN = {"question", "query", "queries"}
"""Under these keys a run writes down what it looks for."""


class Asked(NamedTuple):
    """What was asked in a run."""

    said: set[str]
    """The question and its sentences, and in what words it stands alone."""
    queries: set[str]
    """What the run has searched for."""
    elsewhere: list[str]
    """What the person asks in the rest of the conversation, and what other runs teach."""


def asked(connection: Connection, owner: str, named: tuple[str, ...]) -> dict[str, Asked]:
    """Return what was asked in runs, of this program and of others that were imported."""
    return {run: _asked(connection, owner, run, named) for run in named}


def _asked(connection: Connection, owner: str, run: str, named: tuple[str, ...]) -> Asked:
    questions: list[str] = []
    for table, id in ((runs, runs.c.id), (experiences, experiences.c.run)):
        its = select(table.c.question).where(table.c.owner == owner, id == run)
        questions += connection.execute(its).scalars()
    bare = [question.replace(MARK, " ") for question in questions]
    said = {one.text for question in bare for one in sentences(question)}
    elsewhere = [*_beside(connection, owner, run, named), *_taught(connection, owner, named)]
    return Asked({*bare, *said}, set(_queries(connection, owner, run)), elsewhere)


def _queries(connection: Connection, owner: str, run: str) -> Iterator[str]:
    its = select(utterances.c.kind, utterances.c.action).where(
        utterances.c.owner == owner, utterances.c.run == run
    )
    for row in connection.execute(its):
        found = [row.action] if row.kind == "search" else _own(_data(row.action))
        yield from (one.replace(MARK, " ") for one in found)


def _own(data: Any, key: str = "") -> Iterator[str]:
    """Yield what stands in data under a key of those that hold questions."""
    match data:
        case str() if key in OWN:
            yield data
        case list():
            for one in data:
                yield from _own(one, key)
        case dict():
            for name, one in data.items():
                yield from _own(one, name)


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _beside(connection: Connection, owner: str, run: str, named: tuple[str, ...]) -> list[str]:
    """Return the other questions of the conversation."""
    its = select(runs.c.thread).where(runs.c.owner == owner, runs.c.id == run)
    others = select(runs.c.question).where(
        runs.c.owner == owner, runs.c.thread.in_(its), runs.c.id.not_in(named)
    )
    return list(connection.execute(others).scalars())


def _taught(connection: Connection, owner: str, named: tuple[str, ...]) -> list[str]:
    """Return what is known from other runs."""
    of = select(insight_runs.c.insight).where(
        insight_runs.c.owner == owner, insight_runs.c.run.in_(named)
    )
    others = select(insights.c.content).where(
        insights.c.owner == owner, insights.c.live == 1, insights.c.id.not_in(of)
    )
    return list(connection.execute(others).scalars())
