"""Take a knowledge base away, with everything that was read in of it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from sqlalchemy import delete, select

from library.knowledge_records import KNOWLEDGE_KIND, RESULT_KIND, KnowledgeBase, delete_base
from library.page_erasure import forget_pages
from library.tables import documents, former_documents, namespaces, pages, sources
from storage.engine import commit_statements, read_rows
from tools.knowledge.table_copies import delete_copies


class Removal(NamedTuple):
    """What was erased with a base, and what stays."""

    documents: int
    """The number of documents that were read in."""
    passages: int
    """The number of passages, and of results computed from its tables, that were erased."""
    cited: tuple[str, ...]
    """The ids of those that stay, since they are sources of a conversation."""
    threads: tuple[str, ...]
    """The conversations that have them as sources."""


async def remove_base(owner: str, base: KnowledgeBase) -> Removal:
    """Erase a base of an owner with its index, and the passages of it that nobody was shown.

    What a conversation has as a source stays until it is forgotten: its reports rest on it.
    """
    read = await erase_index(base)
    kinds = pages.c.kind.in_((KNOWLEDGE_KIND, RESULT_KIND))
    its = (pages.c.owner == owner, kinds, pages.c.site == base.name)
    kept = select(pages.c.id, sources.c.thread).join(sources, sources.c.page == pages.c.id)
    rows = (await read_rows(kept.where(*its).order_by(pages.c.number))).all()
    cited = dict.fromkeys(row.id for row in rows)
    every = (await read_rows(select(pages.c.id).where(*its))).scalars()
    passages = await forget_pages(owner, [one for one in every if one not in cited])
    await delete_base(owner, base.name)
    return Removal(read, passages, (*cited,), (*dict.fromkeys(row.thread for row in rows),))


async def erase_index(base: KnowledgeBase) -> int:
    """Erase all that was read in of a base; return the number of its documents."""
    owner = base.index_owner
    listed = (await read_rows(select(documents.c.path).where(documents.c.owner == owner))).all()
    stored = await read_rows(select(pages.c.id).where(pages.c.owner == owner))
    await forget_pages(owner, list(stored.scalars()))
    await asyncio.to_thread(delete_copies, base)
    tables = (documents, former_documents, namespaces)
    await commit_statements(
        *((delete(table).where(table.c.owner == owner), None) for table in tables)
    )
    return len(listed)
