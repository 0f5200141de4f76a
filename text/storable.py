"""Make a text fit for a database: without what none holds, and not too long."""

from __future__ import annotations

MAX_ACTION_CHARS = 2_000
"""How many characters of what was said or done are kept for whoever learns of it."""


def clip_long_text(text: str) -> str:
    """Return a text as it is kept: of a long one the beginning and the end."""
    kept, half = drop_unstorable(text), MAX_ACTION_CHARS // 2
    return kept if len(kept) <= MAX_ACTION_CHARS else f"{kept[:half]} … {kept[-half:]}"


def drop_unstorable(text: str) -> str:
    """Return a text without what no database holds: lone surrogates and null characters."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")
