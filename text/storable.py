"""Make texts storable: without characters that databases reject, and not too long."""

from __future__ import annotations

MAX_ACTION_CHARS = 2_000
"""The longest stored text of an utterance or action, in characters."""


def clip_long_text(text: str) -> str:
    """Return a text as it is stored: only the beginning and the end of a long one."""
    clean, half = drop_unstorable(text), MAX_ACTION_CHARS // 2
    return clean if len(clean) <= MAX_ACTION_CHARS else f"{clean[:half]} … {clean[-half:]}"


def drop_unstorable(text: str) -> str:
    """Return a text without lone surrogates and null characters, which databases reject."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")
