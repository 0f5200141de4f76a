"""The rows of past runs, as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select

from memory.tables import experiences
from storage.engine import read_rows


async def list_past_runs(owner: str) -> Sequence[Row[Any]]:
    """Return how an owner's runs ended."""
    return (await read_rows(select(experiences).filter_by(owner=owner, live=1))).all()
