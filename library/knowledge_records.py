"""The knowledge bases of a person: what they named to be searched for questions about something."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import delete, select

from library.page_rows import short_hash
from library.tables import knowledge_bases
from storage.engine import read_rows, write_in_group
from storage.upsert import upsert_rows

KNOWLEDGE_KIND = "knowledge"
"""The kind of the pages that a run was shown from knowledge bases; no search finds them."""

RESULT_KIND = "knowledge_result"
"""The kind of the pages of what was computed from documents of knowledge bases."""

OPERATOR = ""
"""The owner of the knowledge bases that an operator has named for everybody."""

UNANSWERED_PREFIX = "kb:"
"""The prefix of a knowledge base among the names of what could not be searched in a run."""

INDEX_PREFIX = "knowledge:"
"""What the owner of a base's own pages begins with; the owner of anything else has a slash."""


class KnowledgeBase(NamedTuple):
    """Documents that are searched on their own, and what they are about."""

    name: str
    about: str
    """What it answers, in the words by which it is chosen for a question."""
    kind: str
    location: str
    """A path, the address of a bucket, or that of a service."""
    options: Mapping[str, Any]
    owner: str = OPERATOR

    @property
    def is_shared(self) -> bool:
        """Whether it is an operator's, and so everybody's."""
        return self.owner == OPERATOR

    @property
    def index_owner(self) -> str:
        """The owner of the pages of its documents, which no other search is about."""
        return INDEX_PREFIX + short_hash(self.owner, self.name)


async def list_own_bases(owner: str) -> list[KnowledgeBase]:
    """Return the knowledge bases of an owner, by name."""
    columns = [knowledge_bases.c[name] for name in KnowledgeBase._fields]
    mine = select(*columns).where(knowledge_bases.c.owner == owner)
    rows = await read_rows(mine.order_by(knowledge_bases.c.name))
    return [KnowledgeBase._make(row)._replace(options=json.loads(row.options)) for row in rows]


async def save_base(base: KnowledgeBase) -> None:
    """Store a knowledge base of an owner; one of the same name is replaced."""
    row = {**base._asdict(), "options": json.dumps(dict(base.options)), "created": time.time()}
    statement = upsert_rows(knowledge_bases, ("owner", "name"))
    await write_in_group(lambda connection: connection.execute(statement, [row]))


async def delete_base(owner: str, name: str) -> None:
    """Delete a knowledge base of an owner; its pages are erased apart from it."""
    its = (knowledge_bases.c.owner == owner, knowledge_bases.c.name == name)
    statement = delete(knowledge_bases).where(*its)
    await write_in_group(lambda connection: connection.execute(statement))
