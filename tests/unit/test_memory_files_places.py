"""Memory files in a graph's state, in a store, and in a backend of deepagents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from config.errors import Problem
from memory.agents_md.backends import (
    DeepAgentsFiles,
    FileBackend,
    StateFiles,
    StoreFiles,
    change_file,
    merge_files,
)
from memory.agents_md.file_sources import backend_sources, state_sources, store_sources
from memory.agents_md.memory import AgentsMdMemory
from memory.protocol import Query

PATH = "/memories/AGENTS.md"


@pytest.fixture(params=["state", "store", "filesystem", "deepagents store"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> FileBackend:
    """An empty place of each kind in turn."""
    if request.param == "state":
        return StateFiles({})
    if request.param == "store":
        return StoreFiles(InMemoryStore(), "dossier", "ann/bees")
    backends = pytest.importorskip("deepagents.backends", reason="deepagents is not installed")
    if request.param == "filesystem":
        return DeepAgentsFiles(
            backends.FilesystemBackend(root_dir=tmp_path / "f", virtual_mode=True)
        )
    names = {"namespace": lambda _: ("agents", "a"), "store": InMemoryStore()}
    return DeepAgentsFiles(backends.StoreBackend(**names))


async def test_what_is_written_is_read_again(files: FileBackend):
    assert await files.read(PATH) is None
    assert await files.write(PATH, "Be brief. 用中文。\n".encode(), None)
    assert await files.read(PATH) == "Be brief. 用中文。\n".encode()
    assert await files.write(PATH, b"Be kind.\r\n", "Be brief. 用中文。\n".encode())
    assert await files.write(PATH, b"Be both.\r\n", b"Be kind.\r\n")
    assert await files.read(PATH) == b"Be both.\r\n"


async def test_what_is_not_as_expected_is_not_written(files: FileBackend):
    assert not await files.write(PATH, b"b", b"a")
    assert await files.write(PATH, b"a", None)
    assert not await files.write(PATH, b"b", None)
    assert not await files.write(PATH, b"b", b"x")
    assert await files.read(PATH) == b"a"


async def test_many_writers_at_once_lose_nothing_in_state_and_store():
    for files in (StateFiles({}), StoreFiles(InMemoryStore(), "dossier", "ann/")):

        async def add(number: int, files: FileBackend = files) -> None:
            await change_file(files, PATH, lambda held: (held or b"") + b"%d\n" % number)

        await asyncio.gather(*(add(number) for number in range(20)))

        assert sorted(map(int, (await files.read(PATH) or b"").split())) == list(range(20))


class Slow(InMemoryStore):
    """A store that lets others go on before it has answered."""

    async def aget(self, *where: Any, **more: Any) -> Any:
        found = await super().aget(*where, **more)
        await asyncio.sleep(0)
        return found


async def test_two_who_write_the_same_file_of_a_store_do_not_both_succeed():
    store = Slow()
    both = [StoreFiles(store, "dossier", "ann/") for _ in range(2)]

    done = await asyncio.gather(*(one.write(PATH, b"%d" % at, None) for at, one in enumerate(both)))

    assert sorted(done) == [False, True]


class Shared(InMemoryStore):
    """A store that another machine writes to at the same instant."""

    async def aput(self, namespace: Any, key: str, value: Any, *rest: Any, **more: Any) -> None:
        await super().aput(namespace, key, value, *rest, **more)
        theirs = {**value, "content": "theirs"}
        await super().aput(namespace, key, theirs, *rest, **more)


async def test_what_another_machine_has_replaced_was_not_written():
    files = StoreFiles(Shared(), "dossier", "ann/")

    assert not await files.write(PATH, b"mine", None)
    assert await files.read(PATH) == b"theirs"


@pytest.mark.parametrize(
    "kept",
    [
        "Be brief.",
        {"content": "Be brief.", "encoding": "utf-8"},
        {"content": "Be brief."},
        {"content": ["Be brief."], "created_at": "2026-01-01"},
        {"content": "QmUgYnJpZWYu", "encoding": "base64"},
    ],
)
async def test_a_file_in_the_state_may_have_any_form_it_has_had(kept: Any):
    query = Query("ann/", "planner", "", state={"files": {PATH: kept}})

    notes = await AgentsMdMemory(state_sources(PATH, "/other")).recall(query, 100)

    assert [(note.title, note.text) for note in notes] == [(PATH, "Be brief.")]


@pytest.mark.parametrize("kept", [{"content": "***", "encoding": "base64"}, {"content": 1}, {}])
async def test_a_file_in_the_state_that_is_broken_is_told_with_its_path(kept: Any):
    with pytest.raises(Problem) as problem:
        await StateFiles({"files": {PATH: kept}}).read(PATH)

    assert (problem.value.code, problem.value.where) == ("memory_file_unreadable", PATH)


async def test_a_write_in_the_state_is_handed_back_and_keeps_when_the_file_was_made():
    old = {"content": "a", "encoding": "utf-8", "created_at": "2026-01-01"}
    state = {"files": {PATH: old, "/b": {"content": "b", "encoding": "utf-8"}}}
    files = StateFiles(state)
    await files.write(PATH, b"c", b"a")

    assert state["files"][PATH] == old
    assert list(files.update["files"]) == [PATH]
    after = merge_files(state["files"], files.update["files"])
    assert (after[PATH]["content"], after[PATH]["created_at"]) == ("c", "2026-01-01")
    assert after["/b"] == state["files"]["/b"]
    assert merge_files(after, {PATH: None}) == {"/b": after["/b"]}


async def test_assistants_and_owners_have_files_of_their_own_in_a_store():
    store: BaseStore = InMemoryStore()
    hostile = ["ann/", "ann/b", "ann%2Fb/", "ann.b/", "ann/.", "a@b.c/x y", "/", "%/"]
    places = [StoreFiles(store, one, owner) for one in ("a", "a.b") for owner in hostile]

    for at, files in enumerate(places):
        assert await files.write(PATH, b"%d" % at, None)

    assert [await files.read(PATH) for files in places] == [b"%d" % at for at in range(len(places))]


async def test_files_of_a_store_are_told_to_their_owner_only():
    store = InMemoryStore()
    await StoreFiles(store, "dossier", "ann/").write(PATH, b"Be brief.", None)
    memory = AgentsMdMemory(store_sources("dossier", PATH))

    told = [await memory.recall(Query(one, "r", "", store=store), 9) for one in ("ann/", "bob/")]

    assert [len(notes) for notes in told] == [1, 0]
    assert await memory.recall(Query("ann/", "r", ""), 9) == []


class Refusing:
    """A backend of old that can only do things at once, and refuses them."""

    class Answer:
        content = None
        error = "permission_denied"

    def download_files(self, paths: list[str]) -> list[Any]:
        return [self.Answer() for _ in paths]


async def test_what_a_backend_says_is_wrong_is_told_with_the_path():
    with pytest.raises(Problem) as problem:
        await AgentsMdMemory(backend_sources(DeepAgentsFiles(Refusing()), PATH)).recall(
            Query("ann/", "r", ""), 9
        )

    assert problem.value.where == PATH
    assert "permission_denied" in problem.value.what
