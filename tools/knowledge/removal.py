"""Take a knowledge base away, with everything that was read in of it."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, select

from library.knowledge_records import KNOWLEDGE_KIND, KnowledgeBase, delete_base
from library.page_erasure import forget_pages
from library.tables import documents, former_documents, namespaces, pages, sources
from storage.engine import commit_statements, read_rows


class Removal(NamedTuple):
    """What was erased with a base, and what stays."""

    documents: int
    """The number of documents that were read in."""
    passages: int
    """The number of passages that runs were shown and no conversation has as a source."""
    cited: tuple[str, ...]
    """The ids of the passages that stay, since they are sources of a conversation."""


async def remove_base(owner: str, base: KnowledgeBase) -> Removal:
    """Erase a base of an owner with its index, and the passages of it that nobody was shown.

    What a conversation has as a source stays until it is forgotten: its reports rest on it.
    """
    read = await erase_index(base)
    mine = select(pages.c.id).where(
        pages.c.owner == owner, pages.c.kind == KNOWLEDGE_KIND, pages.c.site == base.name
    )
    shown = select(sources.c.page).where(sources.c.page == pages.c.id)
    cited = tuple((await read_rows(mine.where(shown.exists()))).scalars())
    others = list((await read_rows(mine.where(~shown.exists()))).scalars())
    passages = await forget_pages(owner, others)
    await delete_base(owner, base.name)
    return Removal(read, passages, cited)


async def erase_index(base: KnowledgeBase) -> int:
    """Erase all that was read in of a base; return the number of its documents."""
    owner = base.index_owner
    listed = (await read_rows(select(documents.c.path).where(documents.c.owner == owner))).all()
    stored = await read_rows(select(pages.c.id).where(pages.c.owner == owner))
    await forget_pages(owner, list(stored.scalars()))
    tables = (documents, former_documents, namespaces)
    await commit_statements(
        *((delete(table).where(table.c.owner == owner), None) for table in tables)
    )
    return len(listed)
