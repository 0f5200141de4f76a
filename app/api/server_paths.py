"""Keep paths of the server out of responses: a path begins at the folder that was read."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import select

from config.resources import process_cached
from config.settings import settings
from library.tables import documents
from library.uploaded_files import UPLOADS
from storage.engine import read_rows
from storage.file_store import file_store

Value = TypeVar("Value")

_TEXTS = frozenset({"texts", "text", "body", "markdown", "paragraph", "words"})
"""The fields with the text of pages or reports, which is never changed."""


class PathFilter(NamedTuple):
    """Shortens the paths in responses to an owner to what is below the folder that was read."""

    beginnings: Sequence[str]
    """The prefixes to remove, the longest first, each with a slash at its end."""
    uploads: re.Pattern[str]

    def hide(self, value: Value) -> Value:
        """Return plain data with shortened paths; the text of pages stays as it is."""
        return cast("Value", self._hide(value))

    def _hide(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._shorten(value)
        if isinstance(value, Mapping):
            return {
                name: one if name in _TEXTS and isinstance(one, str) else self._hide(one)
                for name, one in value.items()
                if name != "texts"
            } | ({"texts": value["texts"]} if "texts" in value else {})
        if isinstance(value, list | tuple):
            return [self._hide(one) for one in value]
        return value

    def _shorten(self, text: str) -> str:
        if "/" not in text:
            return text
        text = self.uploads.sub("/", text)
        for beginning in self.beginnings:
            text = text.replace(beginning, "/")
        return text


async def load_path_filter(owner: str) -> PathFilter:
    """Return the filter for responses to an owner."""
    home = await asyncio.to_thread(_real_home)
    stored = f"{(await asyncio.to_thread(file_store)).address(UPLOADS)}/"
    mine = select(documents.c.root).where(documents.c.owner == owner).distinct()
    rows = await read_rows(mine.where(~documents.c.root.startswith(stored, autoescape=True)))
    folders = {os.path.dirname(root) for root in rows.scalars()} | {home, str(settings().home)}
    beginnings = {f"{folder}/" for folder in folders if folder.strip("/")}
    uploads = re.compile(rf"{re.escape(stored)}[^/\s]+/[^/\s]+/")
    return PathFilter(sorted(beginnings, key=len, reverse=True), uploads)


@process_cached
def _real_home() -> str:
    return os.path.realpath(settings().home)


def hide_home(text: str) -> str:
    """Return a text in which paths are relative to the home of the server."""
    for home in (_real_home(), str(settings().home)):
        text = text.replace(f"{home}/", "").replace(home, "the home")
    return text
