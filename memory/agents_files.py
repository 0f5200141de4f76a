"""The AGENTS.md a person wrote for the agent."""

from __future__ import annotations

import re

import anyio

from config.settings import settings
from memory.base import Note, Query

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class AgentsFiles:
    """Instructions in `$DOSSIER_HOME/AGENTS.md`, read again for every call."""

    async def recall(self, query: Query) -> list[Note]:
        """Return the file without its comments; nothing when there is none."""
        del query
        file = anyio.Path(settings().home.expanduser() / "AGENTS.md")
        if not await file.is_file():
            return []
        text = COMMENT.sub("", await file.read_text(encoding="utf-8")).strip()
        return [Note("AGENTS.md", text)] if text else []
