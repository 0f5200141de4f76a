"""The AGENTS.md a person wrote for the agent."""

from __future__ import annotations

import re
from pathlib import Path

import anyio

from config.errors import Problem
from config.settings import settings
from memory.base import Note, Query

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

LONGEST = 20_000
"""The longest file, in characters; every model call reads it."""


class AgentsFiles:
    """Instructions in `$DOSSIER_HOME/AGENTS.md`, read again for every call."""

    name = "instructions"
    share = 0.3

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the file without its comments; nothing when there is none.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        del query, budget
        file = settings().home / "AGENTS.md"
        text = COMMENT.sub("", await _read(file)).strip()
        return [Note("AGENTS.md", text)] if text else []


async def _read(file: Path) -> str:
    try:
        text = await anyio.Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem("memory_file_unreadable", what, where=str(file)) from error
    except UnicodeDecodeError as error:
        hint = "save it as UTF-8"
        raise Problem(
            "memory_file_unreadable", "it is no text in UTF-8", where=str(file), hint=hint
        ) from error
    if len(text) > LONGEST:
        what = f"it has {len(text)} characters, the most is {LONGEST}"
        raise Problem("memory_file_too_large", what, where=str(file), hint="keep what matters")
    return text
