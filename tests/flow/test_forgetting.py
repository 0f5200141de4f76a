"""What is forgotten is found by no byte search, and everything else is as it was before."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from app.cli.forget import redraw_reports
from config.errors import Problem
from config.settings import settings
from graph.session import ThreadSession
from library import query_vectors
from library.tables import pages
from library.vector_upkeep import build_due_collection
from memory import registry
from memory.agents_md.backends import change_file
from memory.agents_md.content import replace_learned
from memory.agents_md.disk import DISK
from memory.experience import insights
from memory.experience.run_history import question_vector
from memory.experience.utterances import Utterance, store_utterances
from memory.facts.fact import NewFact
from memory.facts.queries import list_facts
from memory.facts.store import add_fact
from memory.learning.message_queue import PersonMessage, enqueue_message
from memory.profile import store as profile
from memory.profile.traits import ProfileUpdate, Trait, empty_profile_update
from memory.tables import experiences, facts, meanings
from memory.text_vectors import pack_vector
from privacy import service
from privacy.service import execute_erasure, plan_erasure, resolve_erasure_target
from report.document import build_document
from report.export import render_report_files, write_report_files
from runs import lifecycle
from runs.trace import read_trace
from storage.connect import is_database_shared
from storage.engine import close_database, lend_connection, read_rows, run_write
from storage.events import list_events
from storage.tables import metadata
from tests.conftest import make
from tests.flow.test_defects import quiet
from tests.page_vectors import use
from tools.folder_ingestion import ingest_folder

pytestmark = [
    pytest.mark.usefixtures("either"),
    pytest.mark.extractive(
        "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks", "Lessons"
    ),
]

ME = "local/"


class Killed(BaseException):
    """A process that ends."""


SECRETS = {
    "english": ("The Quillhaven vault opens with the number 774102.", "quillhaven", "774102"),
    "chinese": ("青铜门的暗语是落日熔金四零九。", "落日熔金四零九", "青铜门"),
}
"""A sentence that is to be forgotten, and what no byte may say of it afterwards."""

HARMLESS = "Bees sleep between five and eight hours a day."


def found_in(folder: Path, *needles: str) -> list[str]:
    """Return the files below a folder with one of some words, in any form that we know of."""
    forms = {
        form
        for one in needles
        for form in (
            one.encode(),
            json.dumps(one)[1:-1].encode(),
            one.encode("utf-16-le"),
            one.encode("utf-16-be"),
        )
    }
    forms |= {form.lower() for form in forms}
    hits = []
    for file in sorted(one for one in folder.rglob("*") if one.is_file()):
        data = file.read_bytes()
        hits += [str(file)] if any(form in data or form in data.lower() for form in forms) else []
    return hits


async def asked(
    opened: ThreadSession, choices: dict[str, object], question: str, turn: int, *more: Path
) -> str:
    """Ask a question as the command line does; its report lies in one folder or more."""
    context = make(choices)
    run = await lifecycle.create_run(ME, "t1", turn, question, context)
    state = (await opened.begin(question, context, quiet)).state
    today = datetime.now(UTC).date().isoformat()
    for folder in (Path("reports") / run, *more):
        shown = build_document(state, state["report"], state["status"], today)
        await write_report_files(render_report_files(shown), folder.absolute(), force=True)
        await lifecycle.set_report_dir(run, str(folder.absolute()))
    await lifecycle.set_run_status(ME, run, state["status"])
    return run


@pytest.fixture
def hidden(tmp_path: Path) -> Callable[[str], Any]:
    """Reads a folder with one page that holds a secret and one that does not."""

    async def read(secret: str) -> str:
        folder = tmp_path / "vaults"
        folder.mkdir()
        (folder / "sleep.md").write_text(f"# Sleep\n\n{HARMLESS}\n", encoding="utf-8")
        (folder / "vault.md").write_text(f"# Quillhaven\n\n{secret}\n", encoding="utf-8")
        root = (await ingest_folder(ME, folder, quiet)).root
        (folder / "vault.md").unlink()
        return root

    return read


async def wipe(*ids: str) -> service.ErasurePlan:
    plan = await plan_erasure(await resolve_erasure_target(ME, ids))
    await execute_erasure(plan, partial(redraw_reports, ME))
    return plan


async def everything() -> dict[str, Any]:
    """Return what pages and facts say, by their ids."""
    columns = [pages.c[name] for name in ("id", "kind", "title", "abstract", "text", "words")]
    said = await read_rows(select(*columns))
    known = await read_rows(select(facts.c.id, facts.c.content, facts.c.quote))
    return {row.id: tuple(row) for row in (*said, *known)}


def _as_text(value: object) -> str:
    return value.decode("utf-8", "ignore") if isinstance(value, bytes) else str(value)


def saved_with(*needles: str) -> list[str]:
    """Return the tables of PostgreSQL's checkpoints with one of some words."""
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    hits = []
    with lend_connection() as connection:
        for table in tables if is_database_shared() else ():
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()  # noqa: S608
            values = [one for row in rows for one in row]
            said = " ".join(map(_as_text, values)).lower()
            hits += [table] if any(one in said for one in needles) else []
    return hits


TWINS = {
    "privacy.saved_states.SavedCheckpoints": "privacy.postgres_states.PostgresCheckpoints",
    "runs.checkpointer.CheckpointSaver": "runs.postgres_checkpointer.PostgresCheckpointSaver",
}
"""The classes that do on PostgreSQL what others do on SQLite."""


def kill_at(patch: pytest.MonkeyPatch, where: str) -> None:
    """Have whoever comes to a function killed there, on either database."""

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    patch.setattr(where, killed)
    kind, _, name = where.rpartition(".")
    if kind in TWINS:
        patch.setattr(f"{TWINS[kind]}.{name}", killed)


async def no_byte(tmp_path: Path, *needles: str) -> bool:
    """Say whether no row, no file of the home and no report has any of some words."""
    for table in metadata.sorted_tables:
        said = str((await read_rows(select(table))).all()).lower()
        assert [one for one in needles if one in said] == [], table.name
    assert saved_with(*needles) == []
    await close_database()
    homes = [found_in(tmp_path / name, *needles) for name in ("home", "reports", "copies")]
    assert homes == [[], [], []]
    return True


@pytest.mark.parametrize("language", SECRETS)
async def test_no_byte_of_a_page_is_left_that_was_read_cited_and_reported(
    thread: ThreadSession,
    choices: dict[str, object],
    hidden: Any,
    tmp_path: Path,
    language: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(query_vectors, "EXACT", 1)
    monkeypatch.setattr("library.chroma.has_collections", lambda: True)
    use(monkeypatch, "hashing")
    secret, word, _ = SECRETS[language]
    root = await hidden(secret)
    asks = {
        "english": "Which number opens the Quillhaven vault?",
        "chinese": "青铜门的暗语是什么？",
    }
    copy = tmp_path / "copies" / "vault"
    mine = {**choices, "files": [*choices["files"], root]}  # type: ignore[misc]
    run = await asked(thread, mine, asks[language], 1, copy)
    other = await asked(thread, choices, "Who described the waggle dance, and when?", 2)
    assert word in (copy / "report.md").read_text("utf-8").lower()
    kept = (tmp_path / "reports" / other / "report.md").read_bytes()
    await build_due_collection()
    collections = [one.name for one in settings().vectors.iterdir()]
    before = await everything()
    (page,) = [id for id, row in before.items() if row[1] == "file" and secret in str(row)]

    plan = await wipe(page)

    after = await everything()
    assert await no_byte(tmp_path, word, "quillhaven")
    assert [one.run for one in plan.reports] == [run]
    assert (tmp_path / "reports" / other / "report.md").read_bytes() == kept
    assert collections
    assert not any((settings().vectors / name).exists() for name in collections)
    changed = {id for id in before if before[id] != after.get(id)}
    assert page in changed
    assert all(word in str(before[id]).lower() for id in changed)
    notice = {"english": "has been forgotten at the request", "chinese": "部分内容已被遗忘"}
    for name in ("report.md", "report.html"):
        assert notice[language] in (copy / name).read_text("utf-8")
    assert HARMLESS in str(after)


SAID = {
    "english": ("My locker in Quillhaven opens with 774102", "quillhaven", "774102"),
    "chinese": ("我的青铜门暗语是落日熔金四零九", "落日熔金", "青铜门"),
}


def trait(text: str) -> Trait:
    return Trait(text=text, quote=text, confidence=0.9, stated=True, run="t1-1", at=1.0)


async def everywhere(
    opened: ThreadSession, choices: dict[str, object], secret: str, home: Path
) -> str:
    """Say a secret in a run, and let every memory say it again; return the id of the fact."""
    asking = f"Remember that {secret}. How do bees dance?"
    await asked(opened, choices, asking, 1)
    (fact,) = [one for one in await list_facts(ME) if one.run]
    assert secret in fact.quote
    told = empty_profile_update() | {"characteristics": [trait(secret)]}
    await profile.update_profile(ME, ProfileUpdate(**told), run="t1-1")  # type: ignore[typeddict-item]
    lesson = f"Do not search the web, since {secret}."
    await insights.add_insight(ME, insights.InsightText(lesson, {"planner": lesson}), ["t1-1"])
    await insights.add_insight(
        ME, insights.InsightText("Search twice.", {"planner": "Search twice."}), ["t1-1"]
    )
    await enqueue_message(ME, PersonMessage("t1", "t1-1", "late", f"As I said, {secret}."))
    lines = f"- Ask nobody: {secret}.\n- Answer in metres.\n"
    await change_file(
        DISK, str(home / "AGENTS.md"), lambda _: replace_learned("Mine.\n", lines, "").encode()
    )
    spoken = Utterance("planner", f"look for {secret}", f"nothing about: {secret}")
    await run_write(lambda connection: store_utterances(connection, ME, "t1-1", [spoken]))
    await add_fact(ME, NewFact("Likes tea"))
    return fact.id


@pytest.mark.parametrize("language", SAID)
async def test_no_byte_is_left_of_what_a_person_said_wherever_it_was_said_again(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path, home: Path, language: str
):
    secret, *words = SAID[language]
    fact = await everywhere(thread, choices, secret, home)
    assert len([*found_in(home, words[0]), *saved_with(words[0])]) >= 2

    plan = await wipe(fact)

    assert plan.threads == ["t1"]
    assert [one.content for one in await list_facts(ME)] == ["Likes tea"]
    assert [one.content for one in await insights.list_insights(ME)] == ["Search twice."]
    assert (await profile.load_profile(ME)).profile["characteristics"] == []
    assert "learned -->\n- Answer in metres.\n<!--" in (home / "AGENTS.md").read_text("utf-8")
    newest = [one.event for one in await list_events(ME, item=fact)]
    assert (newest[0].name, newest[0].why) == ("fact.forget", "at the person's wish")
    assert all(one.before is None and one.after is None for one in newest)
    assert await no_byte(tmp_path, *words)


async def test_a_thread_of_which_something_was_forgotten_goes_on(
    thread: ThreadSession, choices: dict[str, object], home: Path
):
    await wipe(await everywhere(thread, choices, SAID["english"][0], home))

    (run,) = await lifecycle.list_recent_runs(ME)
    assert run.question == "[forgotten] How do bees dance?"
    vectors = (await read_rows(select(experiences.c.question, experiences.c.vector))).all()
    assert [one.vector for one in vectors] == [
        pack_vector(question_vector(one.question)) for one in vectors
    ]
    assert (await read_trace(run.id)) != []
    snapshot = await thread.current()
    assert "[forgotten]" in str(snapshot.values["messages"][0].text)
    await asked(thread, choices, "And who described that dance?", 2)
    assert [one.turn for one in await lifecycle.list_recent_runs(ME)] == [2, 1]


async def test_other_owners_keep_what_they_said(
    thread: ThreadSession, choices: dict[str, object], home: Path
):
    secret = SAID["english"][0]
    fact = await everywhere(thread, choices, secret, home)
    theirs = await add_fact("other/", NewFact(secret, quote=secret))

    await wipe(fact)

    assert await list_facts("other/") == [theirs]


@pytest.mark.parametrize(
    "where",
    [
        "memory.agents_md.memory.AgentsMdMemory.erase",
        "privacy.erasure_stores.erase_in_traces",
        "privacy.saved_states.SavedCheckpoints.erase_in_thread",
        "memory.facts.store.forget_facts",
        "storage.maintenance.purge_deleted_data",
    ],
)
async def test_what_was_killed_is_brought_to_its_end_by_saying_it_again(
    thread: ThreadSession,
    choices: dict[str, object],
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
):
    fact = await everywhere(thread, choices, SAID["english"][0], home)

    with monkeypatch.context() as patch:
        kill_at(patch, where)
        with pytest.raises(Killed):
            await wipe(fact)

    assert await service.list_unfinished_erasures(ME) == {fact}
    await wipe(fact)
    assert await service.list_unfinished_erasures(ME) == set()
    assert await no_byte(tmp_path, *SAID["english"][1:])


@pytest.mark.parametrize(
    "where",
    [
        "report.export._write_all",
        "privacy.erasure_stores.erase_pages",
        "library.chroma.drop_collection",
    ],
)
async def test_forgetting_a_page_that_was_killed_is_brought_to_its_end_too(
    thread: ThreadSession,
    choices: dict[str, object],
    hidden: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
):
    monkeypatch.setattr(query_vectors, "EXACT", 1)
    monkeypatch.setattr("library.chroma.has_collections", lambda: True)
    use(monkeypatch, "hashing")
    secret, *words = SECRETS["english"]
    root = await hidden(secret)
    mine = {**choices, "files": [*choices["files"], root]}  # type: ignore[misc]
    await asked(thread, mine, "Which number opens the Quillhaven vault?", 1)
    await build_due_collection()
    rows = await everything()
    (page,) = [id for id, row in rows.items() if row[1] == "file" and secret in str(row)]

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(where, killed)
        with pytest.raises(Killed):
            await wipe(page)

    await wipe(page)
    assert await no_byte(tmp_path, *words)
    assert list(settings().vectors.iterdir()) == []


@pytest.mark.parametrize("named", ["run", "message"])
async def test_a_run_is_forgotten_with_its_question_its_facts_and_its_report(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path, home: Path, named: str
):
    fact = await registry.find_items(
        ME, await everywhere(thread, choices, SAID["english"][0], home)
    )

    plan = await wipe({"run": "t1-1", "message": str(fact[0].more["message"])}[named])

    assert (plan.target.runs, plan.target.facts) == (("t1-1",), (fact[0].id,))
    kept = await read_rows(select(pages.c.kind))
    assert set(kept.scalars()) == {"file"}
    (run,) = await lifecycle.list_recent_runs(ME)
    assert run.question == "[forgotten]"
    assert await no_byte(tmp_path, *SAID["english"][1:], "how do bees dance")


async def test_no_vector_is_left_that_knows_what_was_forgotten():
    fact = await add_fact(ME, NewFact("I keep bees in Bergen"))
    named = {"embedder": "any", "key": "0" * 32, "vector": b"12"}
    rows = [{"owner": owner, **named} for owner in (ME, "other/")]
    await run_write(lambda connection: connection.execute(insert(meanings), rows))

    await wipe(fact.id)

    left = (await read_rows(select(meanings.c.owner))).scalars()
    assert list(left) == ["other/"]


async def test_an_insight_is_forgotten_and_told_to_nobody(tmp_path: Path):
    one = await insights.add_insight(
        ME, insights.InsightText("Look in Quillhaven.", {"planner": "Quillhaven it is."}), ["r-1"]
    )
    other = await insights.add_insight(
        ME, insights.InsightText("Search twice.", {"planner": "Twice."}), ["r-1"]
    )

    await wipe(one.id)

    assert [left.id for left in await insights.list_insights(ME)] == [other.id]
    assert await no_byte(tmp_path, "quillhaven")


async def test_an_id_that_means_nothing_is_told_and_nothing_is_changed(
    thread: ThreadSession, choices: dict[str, object], home: Path
):
    await everywhere(thread, choices, SAID["english"][0], home)
    before = await everything()

    with pytest.raises(Problem, match="memory_not_found"):
        await resolve_erasure_target(ME, ["profile", "nothing-at-all"])

    assert await everything() == before


@pytest.mark.usefixtures("thread")
async def test_what_the_profile_makes_of_a_fact_goes_with_it(home: Path):
    said = "I am a beekeeper in Tromsø and prefer short answers"
    mine = {"quote": said, "confidence": 0.9, "stated": True, "run": "", "at": 1.0}
    told = empty_profile_update() | {
        "identities": [Trait(text="beekeeper in Tromsø", **mine), trait("left-handed")],  # type: ignore[typeddict-item]
        "tastes": {"detail": Trait(text="concise", **mine)},  # type: ignore[typeddict-item]
    }
    await profile.update_profile(ME, ProfileUpdate(**told), run="")  # type: ignore[typeddict-item]
    fact = await add_fact(ME, NewFact(said, quote=said))

    await wipe(fact.id)

    kept = (await profile.load_profile(ME)).profile
    assert [one["text"] for one in kept["identities"]] == ["left-handed"]
    assert kept["tastes"] == {}
    assert found_in(home, "Tromsø") == []
