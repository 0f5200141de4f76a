"""Add a knowledge base of a person, once it could be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from config.errors import ErrorCode, Problem
from library.knowledge_records import KnowledgeBase, save_base
from tools.knowledge.catalog import list_bases
from tools.knowledge.kinds import open_base
from tools.knowledge.knowledge_source import RefreshResult


async def add_new_base(
    base: KnowledgeBase, refresh: Callable[[KnowledgeBase], Awaitable[RefreshResult]]
) -> RefreshResult:
    """Read a base in, make sure that it answers, and store it; return what was read.

    Args:
        base: The base.
        refresh: Reads its documents.

    Raises:
        Problem: `knowledge_exists`, `knowledge_unavailable`, or why it cannot be read.
    """
    if base.name in {known.name for known in await list_bases(base.owner)}:
        what = f"there is a knowledge base {base.name!r}"
        raise Problem(ErrorCode.KNOWLEDGE_EXISTS, what)
    read = await refresh(base)
    await open_base(base).check()
    await save_base(base)
    return read
