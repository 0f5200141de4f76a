"""A database of an older program: brought up to date, with everything in it."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, inspect, select, text

from config.errors import Problem
from config.settings import settings
from library.page_retrieval import find_pages
from library.page_rows import NewPage
from library.store import store_pages
from library.tables import pages, sources, vector_sets
from report.source_registry import CitablePage, register_sources
from runs.tables import attempts, calls, runs
from storage import engine, upgrades
from storage.connect import create_database_engine
from storage.engine import close_database, get_engine, read_rows
from storage.events import Event, LoggedEvent, list_events
from storage.tables import schema
from storage.upgrades import SCHEMA_VERSION

pytestmark = [pytest.mark.usefixtures("database"), pytest.mark.bare]

MADE = Path(__file__).parent / "databases"


@pytest.fixture(params=sorted(MADE.glob("*.sql")), ids=lambda file: file.stem)
def older(request: pytest.FixtureRequest, home: Path, either: str) -> str:
    """A database as each older version left it; of which kind it is."""
    script = request.param.read_text(encoding="utf-8")
    if either == "sqlite":
        home.mkdir(parents=True)
        with closing(sqlite3.connect(home / "dossier.db")) as made:
            made.execute("PRAGMA synchronous=OFF")
            made.executescript(script)
        return either
    server = create_database_engine(settings().database)
    with server.begin() as connection:
        for statement in script.split(";\n"):
            # No older program had a keyword index on PostgreSQL.
            if "page_words" not in statement:
                connection.exec_driver_sql(statement.replace("id INTEGER", "id SERIAL"))
    server.dispose()
    return either


def step(*statements: str) -> upgrades.UpgradeStep:
    def take(connection: Connection) -> None:
        for statement in statements:
            connection.execute(text(statement))

    return take


async def values(statement: Any) -> list[Any]:
    return list((await read_rows(statement)).scalars())


def shape(opened: Engine) -> dict[str, Any]:
    """Return the columns, keys and indexes of every table."""
    seen = inspect(opened)
    tables = [name for name in seen.get_table_names() if not name.startswith("page_words")]
    return {
        name: (
            sorted(
                (column["name"], column["type"].python_type) for column in seen.get_columns(name)
            ),
            seen.get_pk_constraint(name)["constrained_columns"],
            sorted(
                (index["name"], index["column_names"])
                for index in seen.get_indexes(name)
                if "duplicates_constraint" not in index
            ),
            sorted(unique["column_names"] for unique in seen.get_unique_constraints(name)),
        )
        for name in tables
    }


async def test_runs_ledger_and_numbers_are_kept(older):
    assert await values(select(runs.c.question)) == ["Why do bees dance?"]
    assert await values(select(calls.c.result)) == ['{"answer": "to tell the way"}']
    assert await values(select(sources.c.number)) == [1]
    assert await values(select(schema.c.version)) == [SCHEMA_VERSION]


async def test_calls_of_an_older_program_count_as_attempts(older):
    (attempt,) = await read_rows(select(attempts))
    (call,) = await read_rows(select(calls))

    assert (attempt.run, attempt.role, attempt.status) == (call.run, call.role, "ok")
    assert (attempt.tokens_in, attempt.tokens_out, attempt.cost) == (
        call.tokens_in,
        call.tokens_out,
        call.cost,
    )


async def test_pages_are_found_as_before(older):
    (page,) = await find_pages("ada/", "waggle", 10)

    assert (page.id, page.location) == ("470d2dcf8a3c6ab4e2fe4124", "/docs/bees.pdf#page=1")
    assert [page.text for page in await find_pages("ada/", "蜜蜂", 10)] == [
        "蜜蜂用摇摆舞告诉同伴方向。"
    ]


async def test_the_tables_are_those_of_a_new_database(older, home):
    brought_up = shape(await get_engine())
    await close_database()
    if older == "sqlite":
        (home / "dossier.db").unlink()
    else:
        server = create_database_engine(settings().database)
        with server.begin() as connection:
            for name in brought_up:
                connection.exec_driver_sql(f"DROP TABLE {name}")
        server.dispose()

    assert brought_up == shape(await get_engine())


async def test_pages_that_are_kept_now_get_numbers_of_their_own(older):
    ids = await store_pages(
        "ada/", "web", "https://b.org", [NewPage(title="", place="", text="wasp")]
    )

    assert len(await values(select(pages.c.number))) == 4
    assert [page.id for page in await find_pages("ada/", "wasp", 10)] == ids


async def test_the_second_opening_changes_nothing(older):
    first = shape(await get_engine())
    await close_database()

    assert shape(await get_engine()) == first
    assert await values(select(schema.c.version)) == [SCHEMA_VERSION]


async def test_a_step_that_fails_leaves_the_database_as_it_was(older, monkeypatch):
    monkeypatch.setattr(upgrades, "STEPS", (*upgrades.STEPS, step("DELETE FROM runs", "NONSENSE")))
    monkeypatch.setattr(engine, "SCHEMA_VERSION", SCHEMA_VERSION + 1)

    with pytest.raises(Problem, match="NONSENSE"):
        await get_engine()

    left = create_database_engine(settings().database)
    with left.connect() as connection:
        assert connection.execute(text("SELECT id FROM runs")).scalar() == "t1-1"
        assert connection.execute(text("SELECT version FROM schema")).scalar() == 1
    left.dispose()


async def test_only_the_steps_that_are_missing_are_taken(older, monkeypatch):
    await get_engine()
    await close_database()
    taken = [step("NONSENSE") for _ in upgrades.STEPS]
    monkeypatch.setattr(upgrades, "STEPS", (*taken, step("UPDATE runs SET code = 'seen'")))
    monkeypatch.setattr(engine, "SCHEMA_VERSION", SCHEMA_VERSION + 1)

    assert (await read_rows(text("SELECT code FROM runs"))).scalar() == "seen"
    assert await values(select(schema.c.version)) == [SCHEMA_VERSION + 1]


METADATA = ("site", "published", "author", "language", "genre")


def make_pages_old(connection: Connection) -> None:
    """Bring the pages back to what they were in version 8."""
    for column in METADATA:
        connection.execute(text(f"ALTER TABLE pages DROP COLUMN {column}"))


def make_events_old(connection: Connection) -> None:
    """Bring the log back to what it was in version 4, with one event."""
    make_pages_old(connection)
    connection.execute(text("DROP TABLE attempts"))
    for index in ("events_owner", "events_item", "ix_events_run"):
        connection.execute(text(f"DROP INDEX {index}"))
    for column in ("step", "item", "before", "after", "provenance", "why", "undoes"):
        connection.execute(text(f"ALTER TABLE events DROP COLUMN {column}"))
    connection.execute(text("ALTER TABLE events ADD COLUMN data TEXT NOT NULL DEFAULT ''"))
    connection.execute(text("CREATE INDEX ix_events_owner ON events (owner)"))
    columns, values = "owner, run, name, data, at", "'me/', '', 'pages.forget', '{}', 1.0"
    connection.execute(text(f"INSERT INTO events ({columns}) VALUES ({values})"))  # noqa: S608


async def test_events_of_version_4_keep_what_they_say(either):
    new = shape(await get_engine())
    await close_database()
    server = create_database_engine(settings().database)
    with server.begin() as connection:
        make_events_old(connection)
        connection.execute(text("UPDATE schema SET version = 4"))
    server.dispose()

    assert shape(await get_engine()) == new
    (event,) = await list_events("me/")
    assert event == LoggedEvent(1, Event("me/", "pages.forget", after={}, provenance=""), 1.0)


OLD_EVENTS = {
    1: ("me/", "fact.add", "user", ""),
    2: ("me/", "fact.undo", "user", "undo of event 1"),
    3: ("me/", "fact.undo", "user", "undo of event 2"),
    4: ("me/", "pages.keep", "tool", ""),
    5: ("me/", "pages.retire", "user", "undo of 4"),
    6: ("me/", "file.edit", "model", "undo of event 1"),
    7: ("me/", "file.edit", "web", "undo of 6"),
    8: ("me/", "file.edit", "user", "undo of event 6"),
    9: ("me/", "file.edit", "user", "undo of event 6 and of 7"),
    10: ("me/", "file.edit", "user", "undo of event 99"),
    11: ("me/", "pages.retire", "user", "undo of run t1-1"),
    12: ("me/", "profile.undo", "user", "undo of event 1"),
    13: ("you/", "fact.undo", "user", "undo of event 1"),
    14: ("me/", "fact.add", "user", "undo of event 1"),
}
"""The owner, name, provenance and reason of events of version 6."""


async def test_events_of_version_6_that_the_program_wrote_know_what_they_undo(either):
    new = shape(await get_engine())
    await close_database()
    server = create_database_engine(settings().database)
    with server.begin() as connection:
        make_pages_old(connection)
        connection.execute(text("ALTER TABLE events DROP COLUMN undoes"))
        for number, (owner, name, provenance, why) in OLD_EVENTS.items():
            row = {"i": number, "o": owner, "n": name, "p": provenance, "w": why}
            columns = "id, owner, run, step, name, item, before, after, provenance, why, at"
            values = ":i, :o, '', '', :n, '', '', '', :p, :w, 1.0"
            connection.execute(text(f"INSERT INTO events ({columns}) VALUES ({values})"), row)  # noqa: S608
        connection.execute(text("UPDATE schema SET version = 6"))
    server.dispose()

    assert shape(await get_engine()) == new
    undoing = {one.id: one.event.undoes for one in await list_events("me/") if one.event.undoes}
    assert undoing == {2: 1, 3: 2, 5: 4, 8: 6}
    assert [one.event.undoes for one in await list_events("you/")] == [0]


OLD_FEEDBACK = {
    1: ("t1-1", "", "user", "feedback on t1-1"),
    2: ("t1-1", "s1", "model", "feedback on t1-1"),
    3: ("t1-1", "", "user", "feedback on t1-2"),
    4: ("", "", "user", "feedback on "),
}
"""The run, step, provenance and reason of events of version 7."""


async def test_events_of_version_7_that_came_of_feedback_know_that(either):
    await get_engine()
    await close_database()
    server = create_database_engine(settings().database)
    with server.begin() as connection:
        make_pages_old(connection)
        for number, (run, step, provenance, why) in OLD_FEEDBACK.items():
            row = {"i": number, "r": run, "s": step, "p": provenance, "w": why}
            columns = "id, owner, run, step, name, item, before, after, provenance, why, undoes, at"
            values = ":i, 'me/', :r, :s, 'fact.add', 'f', '', '', :p, :w, 0, 1.0"
            connection.execute(text(f"INSERT INTO events ({columns}) VALUES ({values})"), row)  # noqa: S608
        connection.execute(text("UPDATE schema SET version = 7"))
    server.dispose()

    steps = {one.id: one.event.step for one in await list_events("me/")}
    assert steps == {1: "feedback", 2: "s1", 3: "", 4: ""}


async def test_vectors_of_version_3_are_not_judged_yet(either):
    new = shape(await get_engine())
    await close_database()
    server = create_database_engine(settings().database)
    with server.begin() as connection:
        for column in ("trust", "judged"):
            connection.execute(text(f"ALTER TABLE vector_sets DROP COLUMN {column}"))
        make_events_old(connection)
        columns = "namespace, embedder, whole, collection, covered, held, apart, building"
        values = "1, 'hashing', 1, '', 0, 0, 0, ''"
        connection.execute(text(f"INSERT INTO vector_sets ({columns}) VALUES ({values})"))  # noqa: S608
        connection.execute(text("UPDATE schema SET version = 3"))
    server.dispose()

    assert shape(await get_engine()) == new
    (row,) = await read_rows(select(vector_sets.c.trust, vector_sets.c.judged))
    assert tuple(row) == ("{}", 0)


async def test_pages_of_version_8_are_kept_and_nothing_is_known_of_them(either):
    new = shape(await get_engine())
    page = NewPage(title="Bees", place="", text="Bees dance.")
    (id,) = await store_pages("ada/", "web", "https://www.a.org/bees", [page])
    await close_database()
    server = create_database_engine(settings().database)
    with server.begin() as connection:
        make_pages_old(connection)
        connection.execute(text("UPDATE schema SET version = 8"))
    server.dispose()

    assert shape(await get_engine()) == new
    (row,) = await read_rows(select(pages.c.id, *(pages.c[name] for name in METADATA)))
    assert tuple(row) == (id, "", "", "", "", "")
    cited = CitablePage(id, "Bees", "https://www.a.org/bees", "web")
    (source,) = await register_sources("t1", [cited])
    assert (source.get("site"), source.get("genre")) == ("a.org", "unknown")


START = """
import asyncio, sys
from runs.checkpointer import open_checkpointer
from storage import engine, upgrades
from storage.engine import close_database, get_engine

taken = []
upgrade = engine.upgrade_tables

def take(connection, version):
    taken.extend(range(version, upgrades.SCHEMA_VERSION))
    upgrade(connection, version)

engine.upgrade_tables = take

async def start():
    print("ready", flush=True)
    sys.stdin.readline()
    await get_engine()
    async with open_checkpointer() as saver:
        await saver.aget_tuple({"configurable": {"thread_id": "t1", "checkpoint_ns": ""}})
    await close_database()
    print("upgraded" if taken else "waited", flush=True)

asyncio.run(start())
"""
"""Opens the database when it is told to, and says whether it was this process that upgraded it."""


async def test_of_processes_that_start_at_once_one_upgrades_and_the_others_wait(older: str):
    pipe = asyncio.subprocess.PIPE
    command, root = [sys.executable, "-c", START], Path(__file__).parents[2]
    processes = [
        await asyncio.create_subprocess_exec(*command, cwd=root, stdin=pipe, stdout=pipe)
        for _ in range(3)
    ]
    for one in processes:
        assert one.stdout
        assert await one.stdout.readline() == b"ready\n"
    told = await asyncio.gather(*(one.communicate(b"\n") for one in processes))

    assert [one.returncode for one in processes] == [0, 0, 0]
    assert sorted(out for out, _ in told) == [b"upgraded\n", b"waited\n", b"waited\n"]
    assert (await values(select(schema.c.version))) == [SCHEMA_VERSION]
    assert len(await values(select(pages.c.number))) == 3
