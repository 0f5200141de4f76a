"""What a person has said in a thread, in their own words."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from memory.experience.utterances import PERSON
from storage.engine import read_rows
from storage.tables import runs, utterances


async def said_in(owner: str, threads: Sequence[str]) -> list[str]:
    """Return what the person asked, said about plans, and added to plans in some threads."""
    its = (runs.c.owner == owner, runs.c.thread.in_(threads))
    asked = (await read_rows(select(runs.c.id, runs.c.question).where(*its))).all()
    mine = (utterances.c.owner == owner, utterances.c.run.in_([row.id for row in asked]))
    spoke = select(utterances.c.action).where(*mine, utterances.c.who == PERSON)
    return [*(row.question for row in asked), *(await read_rows(spoke)).scalars()]
