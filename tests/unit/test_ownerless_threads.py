"""Threads from before a server had users become those of the person who made them."""

from __future__ import annotations

from typing import Any

import pytest

from app.auth import ownerless_threads
from app.auth.ownerless_threads import assign_ownerless_threads
from config.settings import settings
from tests.places import new_process


class Threads:
    """The threads of a server, as its own client sees them."""

    def __init__(self, count: int) -> None:
        owned = {"owner": "ada"}
        made = ({} if at % 2 else owned for at in range(count))
        self.stored: dict[str, Any] = {f"{at:04}": dict(one) for at, one in enumerate(made)}
        self.threads = self

    async def search(self, *, limit: int, offset: int, **_: Any) -> list[dict[str, Any]]:
        named = sorted(self.stored)[offset : offset + limit]
        return [{"thread_id": name, "metadata": self.stored[name] or None} for name in named]

    async def update(self, thread: str, *, metadata: dict[str, Any]) -> None:
        self.stored[thread] |= metadata


@pytest.mark.parametrize("count", [0, 3, 4, 5, 9])
async def test_each_thread_without_an_owner_gets_the_person(
    monkeypatch: pytest.MonkeyPatch, count: int
):
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev")
    monkeypatch.setattr(ownerless_threads, "_PAGE", 4)
    new_process()
    server: Any = Threads(count)

    assert await assign_ownerless_threads(server) == count // 2
    owners = [one["owner"] for _, one in sorted(server.stored.items())]
    assert owners == [("ada", settings().user)[at % 2] for at in range(count)]
    assert await assign_ownerless_threads(server) == 0


@pytest.mark.parametrize(("auth", "variant"), [("person", "local_dev"), ("users", "licensed")])
async def test_elsewhere_no_thread_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, auth: str, variant: str
):
    monkeypatch.setenv("DOSSIER_AUTH", auth)
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", variant)
    new_process()
    server: Any = Threads(3)

    assert await assign_ownerless_threads(server) == 0
    assert server.stored["0001"] == {}
