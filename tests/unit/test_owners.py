"""Nobody is ever shown what another owner has, by any way of reading that there is."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import io
import pkgutil
import typing
from collections.abc import Awaitable, Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import memory
from app.cli import experience, memories, memory_log, memory_moves, memory_why, runs
from app.cli import pages as page_commands
from config import settings as config
from config.errors import Problem
from graph.context import Context
from memory import about
from memory.base import Query
from memory.experience import (
    credits,
    drawing,
    insights,
    lessons,
    recalling,
    similar,
    tidying,
    utterances,
)
from memory.experience import runs as past
from memory.experience.outcome import Signs
from memory.facts import looking as facts
from memory.facts import meaning
from memory.facts.held import known
from memory.facts.store import NewFact, add
from memory.files import lineage as file_lineage
from memory.files import projects, proposals
from memory.files import reading as file_reading
from memory.files.sources import of_person
from memory.forgetting import door, pruned
from memory.kept import looking, undoing
from memory.kept import why as reminded
from memory.learning.keeping import told_before
from memory.learning.rules import Statement
from memory.learning.turns import Said, observe
from memory.moving import leaving
from memory.pages import (
    abstracts,
    describing,
    documents,
    finding,
    groups,
    lineage,
    listing,
    outline,
    recollection,
    records,
    uploads,
)
from memory.pages import within as scopes
from memory.pages.store import NewPage, find, find_each, keep, kept, texts
from memory.profile import store as profile
from memory.profile.shape import Told, Trait, untold
from memory.registry import MEMORIES, SHELVES
from memory.reports import related
from retrieval.index import Index
from runs import lifecycle
from runs.place import owned, parted
from storage import events
from storage.engine import close

OWNERS = [
    owned(user, project)
    for user in ("a", "a/b", "a%2Fb", "A", "%", "_", "甲", "..", "a b")
    for project in ("", "b", "b/", "_", "%", "../a")
]

ASKED = "bees dance tea 茶"

Read = Callable[[str, "Ids"], Awaitable[Any]]


class Ids(NamedTuple):
    """What anybody has, by kind: all of it is asked for in everybody's name."""

    facts: list[str]
    pages: list[str]
    insights: list[str]
    runs: list[str]
    proposals: list[str]
    events: list[int]
    files: list[str]


def each(read: Callable[[str, Any], Awaitable[Any]], kind: str) -> Read:
    """Return what reads every id of a kind, one after the other."""

    async def work(owner: str, ids: Ids) -> Any:
        return [await tried(lambda one=one: read(owner, one)) for one in getattr(ids, kind)]

    return work


async def tried(work: Callable[[], Awaitable[Any]]) -> Any:
    """Return what is read, or what is said against it: that may tell something too."""
    try:
        return await work()
    except Problem as problem:
        return str(problem)


async def _brief(owner: str, ids: Ids) -> Any:
    shown = await outline.outline(owner, ASKED)
    return shown, await outline.read_out(owner, shown, ["G1", "P1", "G2", "P2"], ASKED)


async def _planned(owner: str, ids: Ids) -> Any:
    plans = [await door.planned(await door.aimed(owner, [one])) for one in await _own(owner)]
    # A plan holds the names of others' threads, which it leaves alone; nobody is shown them.
    return [(one.known, one.pages, one.facts, one.threads, one.reports, one.files) for one in plans]


async def _own(owner: str) -> list[str]:
    return [one.id for one in await facts.listed(owner)]


async def _recalled(owner: str, ids: Ids) -> Any:
    query = Query(owner, "planner", ASKED, (), await events.revision(owner), run="t-1")
    return [await one.recall(query, 100_000) for one in MEMORIES if one.name != "instructions"]


async def _of_shelves(owner: str, ids: Ids) -> Any:
    every = [id for some in ids[:5] for id in some] + ids.files
    named = [await tried(lambda s=s, id=id: s.named(owner, id)) for s in SHELVES for id in every]
    lists = [await one.listed(owner, 100, every=True) for one in SHELVES]
    return named, lists, [await one.search(owner, ASKED, 100) for one in SHELVES]


READS: dict[str, Read] = {
    "about.found": lambda o, ids: about.found(o, ASKED, 100),
    "about.remembered": lambda o, ids: about.remembered(o, about.About("all")),
    "experience.drawing.graph": lambda o, ids: drawing.graph(o),
    "experience.insights.listed": lambda o, ids: insights.listed(o, every=True),
    "experience.insights.supporters": lambda o, ids: insights.supporters(o),
    "experience.lessons.case": each(lessons.case, "runs"),
    "experience.recalling.learnt": each(lambda o, run: _learnt(o, run), "runs"),
    "experience.recalling.prepare": each(lambda o, run: recalling.prepare(o, run, ASKED), "runs"),
    "experience.recalling.prepared": each(recalling.prepared, "runs"),
    "experience.runs.ended": lambda o, ids: past.ended(o),
    "experience.runs.found": each(past.found, "runs"),
    "experience.tidying.due": lambda o, ids: tidying.due(o),
    "experience.utterances.spoken": each(utterances.spoken, "runs"),
    "facts.held.known": lambda o, ids: _held(o),
    "facts.looking.found": each(facts.found, "facts"),
    "facts.listing.listed": lambda o, ids: facts.listed(o, all=True),
    "facts.looking.matching": lambda o, ids: facts.matching(o, bool),
    "facts.looking.of_message": lambda o, ids: facts.of_message(o, "m"),
    "facts.meaning.meant": lambda o, ids: _meant(o),
    "experience.similar.meant": lambda o, ids: similar.meant(o, ASKED),
    "facts.looking.near": lambda o, ids: facts.near(o, ASKED, 100),
    "facts.looking.search": lambda o, ids: facts.search(o, ASKED, 100),
    "learning.keeping.told_before": lambda o, ids: _told_before(o),
    "files.lineage.read_by": each(lambda o, run: file_lineage.read_by(o, "t", run), "runs"),
    "files.projects.trusted": lambda o, ids: projects.trusted(o),
    "files.proposals.listed": lambda o, ids: proposals.listed(o, decided=True),
    "files.proposals.proposed_by": each(proposals.proposed_by, "runs"),
    "files.proposals.waiting": each(proposals.waiting, "proposals"),
    "files.reading.above": lambda o, ids: file_reading.above(o, 0),
    "files.reading.held": lambda o, ids: file_reading.held(o),
    "files.reading.unreadable": lambda o, ids: file_reading.unreadable(o),
    "forgetting.door.aimed": lambda o, ids: _aimed(o, ids),
    "forgetting.door.planned": _planned,
    "forgetting.door.unfinished": lambda o, ids: door.unfinished(o),
    "forgetting.pruned.kept": each(pruned.kept, "runs"),
    "kept.looking.found": lambda o, ids: each(looking.found, "files")(o, ids),
    "kept.looking.listed": lambda o, ids: looking.listed(o, 100, every=True),
    "kept.looking.search": lambda o, ids: looking.search(o, ASKED, 100),
    "kept.undoing.event": each(undoing.event, "events"),
    "kept.why.why": each(reminded.why, "runs"),
    "moving.leaving.exported": lambda o, ids: leaving.exported(o),
    "moving.leaving.files": lambda o, ids: leaving.files(o),
    "experience.utterances.said_by_person": lambda o, ids: utterances.said_by_person(
        o, [mark(one) for one in OWNERS]
    ),
    "pages.abstracts.about": lambda o, ids: abstracts.about(o, ASKED, 100),
    "pages.abstracts.newest": lambda o, ids: abstracts.newest(o, 100),
    "pages.abstracts.outlined": lambda o, ids: abstracts.outlined(o),
    "pages.documents.held": lambda o, ids: documents.held(o, []),
    "pages.uploads.uploaded": lambda o, ids: uploads.uploaded(o, "t1"),
    "pages.uploads.with_uploads": lambda o, ids: uploads.with_uploads(o, "t1", []),
    "pages.describing.described": each(lambda o, id: _described(o, id), "pages"),
    "pages.documents.openings": lambda o, ids: documents.openings(o, ["ab"]),
    "pages.finding.search": lambda o, ids: finding.search(o, ASKED, 100),
    "pages.finding.search_each": lambda o, ids: finding.search_each(o, [ASKED], 100),
    "pages.finding.searching": lambda o, ids: finding.searching(o, Index.stats),
    "pages.finding.spelling": lambda o, ids: finding.spelling(o, f"{ASKED} beez dancce"),
    "pages.groups.best_of": lambda o, ids: _groups(o),
    "pages.groups.sizes": lambda o, ids: _groups(o),
    "pages.lineage.lineage": lambda o, ids: lineage.lineage(o, ids.pages),
    "pages.listing.listed": lambda o, ids: listing.listed(o),
    "pages.listing.shown": each(listing.shown, "pages"),
    "pages.listing.stats": lambda o, ids: listing.stats(o),
    "pages.listing.superseded": lambda o, ids: listing.superseded(o),
    "pages.outline.outline": _brief,
    "pages.outline.read_out": _brief,
    "pages.records.recorded": lambda o, ids: records.recorded(o, ids.pages),
    "pages.recollection.below": lambda o, ids: recollection.below(
        o, [recollection.Page(one, "file", "", "", "", 0.0) for one in ids.pages], ["/docs", "/"]
    ),
    "pages.recollection.empty": lambda o, ids: recollection.empty(o, scopes.Scope(None, None)),
    "pages.recollection.named": lambda o, ids: recollection.named(o, ids.pages),
    "pages.recollection.recollected": lambda o, ids: recollection.recollected(
        o, ASKED, 100, scopes.Scope(None, None)
    ),
    "pages.recollection.traced": lambda o, ids: recollection.traced(
        o, ASKED, [recollection.Page(one, "report", "", "", "", 0.0) for one in ids.pages]
    ),
    "pages.store.find": lambda o, ids: find(o, ASKED, 100),
    "pages.store.find_each": lambda o, ids: find_each(o, [ASKED], 100),
    "pages.store.kept": lambda o, ids: kept(o, "chat", "talk"),
    "pages.store.texts": lambda o, ids: texts(o, ids.pages),
    "pages.within.from_origin": lambda o, ids: scopes.from_origin(o, "talk"),
    "pages.within.copies": lambda o, ids: scopes.copies(o, ids.pages),
    "pages.within.paths": lambda o, ids: scopes.paths(o, ["ab"]),
    "pages.within.within": lambda o, ids: tried(lambda: scopes.within(o, "tal")),
    "profile.store.kept": lambda o, ids: profile.kept(o),
    "reports.related": lambda o, ids: related(o, ASKED),
}
"""Every way of reading by an owner's name."""

EVENTS: dict[str, Read] = {
    "found": each(events.found, "events"),
    "history": lambda o, ids: events.history(o, limit=None),
    "revision": lambda o, ids: events.revision(o),
    "since": lambda o, ids: events.since(o, 0),
    "undone_by": lambda o, ids: events.undone_by(o),
}

MORE: list[Read] = [_recalled, _of_shelves]
"""What reads by a method: memories for model calls, shelves for people."""

WRITES = {
    *("experience.credits.credit", "experience.importing.import_run", "experience.runs.judge"),
    *(f"experience.insights.{name}" for name in ("add", "agree", "edit", "merge")),
    *(
        "experience.lessons.learn",
        "experience.runs.close",
        "experience.tidying.retire",
        "experience.tidying.tidy",
        "files.deciding.approve",
    ),
    *(f"facts.store.{name}" for name in ("add", "edit", "remove", "replace", "supersede")),
    *("learning.keeping.tell", "meanings.vectors", "pages.uploads.discard_uploads"),
    *("files.deciding.reject", "forgetting.door.finished", "kept.looking.edit"),
    *("kept.undoing.undo", "kept.undoing.undo_run", "learning.turns.observe"),
    *("learning.keeping.keep_claim", "learning.keeping.keep_statement", "learning.turns.take"),
    *("moving.arriving.imported", "pages.documents.forget_document", "pages.forgetting.forget"),
    *("pages.records.record", "pages.removing.remove", "forgetting.pruned.keep_report"),
    *("pages.documents.keep_files", "pages.documents.note_document"),
    *("pages.memorizer.memorize", "pages.store.keep"),
    *("pages.upkeep.refresh", "profile.store.learn", "profile.store.replace"),
}
"""What changes something of the owner that it is told."""

NOBODYS = {
    "experience.checking.dangling": "looks whether a whole database is consistent",
    "files.backend.change": "knows files by where they lie; `files.sources` says whose they are",
    "files.projects.trust": "is told the user, who has the projects",
    "forgetting.thread.forget_thread": "is told a thread, which has one owner",
    "learning.extraction.extract": "is told all it needs to know",
    "learning.turns.finish": "is told turns that were taken in an owner's name",
    "learning.turns.put_off": "is told turns that were taken in an owner's name",
    "meanings.likeness": "is told texts, and returns numbers",
    "meanings.maker": "is told nothing",
    "meanings.vector": "is told a text",
    "pages.embedding.embed_due": "makes vectors for everybody, and returns how many",
    "pages.embedding.vectors_of": "is told texts",
    "pages.judging.judge": "measures vectors for everybody, and returns how many",
    "pages.reembedding.reembed": "makes vectors for everybody, and returns how many",
    "pages.worker.keep_up": "makes vectors for everybody, and returns how many",
    "pages.worker.make_due": "makes vectors for everybody, and returns how many",
}
"""What has no owner, and why that shows nobody anything."""


def public(package: Any) -> Iterator[tuple[str, Any]]:
    """Yield every public coroutine function of a package, with its name below it."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for name, function in vars(module).items():
            here = getattr(function, "__module__", "") == found.name
            if here and inspect.iscoroutinefunction(function) and not name.startswith("_"):
                yield f"{found.name}.{name}".partition(".")[2], function


def owner_of(function: Any) -> str:
    """Return how a function is told an owner: by name, in something it is given, or not at all."""
    if next(iter(inspect.signature(function).parameters), "") == "owner":
        return "name"
    hints = typing.get_type_hints(function, localns={**vars(typing), "Embedder": Any})
    given = [hint for name, hint in hints.items() if name != "return" and inspect.isclass(hint)]
    carried = [one for hint in given for one in (hint, *hints_of(hint)) if "owner" in fields(one)]
    return "inside" if carried else ""


def fields(shape: Any) -> set[str]:
    return {*getattr(shape, "_fields", ()), *getattr(shape, "__annotations__", {})}


def hints_of(shape: Any) -> list[Any]:
    names = typing.get_type_hints(shape, localns={"BaseStore": Any}) if fields(shape) else {}
    return [hint for hint in names.values() if inspect.isclass(hint)]


def test_every_public_way_into_memory_is_told_whose_it_is():
    told = {name: owner_of(function) for name, function in public(memory)}

    assert {name for name, how in told.items() if not how} == set(NOBODYS)
    assert {name for name, how in told.items() if how == "name"} - {*READS, *WRITES} == set()
    assert {*READS, *WRITES} - set(told) == set()


def test_every_public_way_into_the_log_is_told_whose_it_is():
    reading = {
        name: function
        for name, function in vars(events).items()
        if inspect.iscoroutinefunction(function) and function.__module__ == events.__name__
    }

    assert set(reading) == set(EVENTS)
    assert {owner_of(function) for function in reading.values()} == {"name"}


async def _meant(owner: str) -> Any:
    return await meaning.meant(owner, await known(owner, 0), ASKED)


async def _learnt(owner: str, run: str) -> Any:
    found = await past.found(owner, run)
    some = [recalling.Candidate(found, 1.0, 0, 1.0)] if found else []
    return await recalling.learnt(owner, some)


async def _told_before(owner: str) -> Any:
    every = [f"Bees dance for tea 喜欢茶 {mark(one)}" for one in OWNERS]
    return [await told_before(owner, Statement("note", said, said), "m") for said in every]


async def _described(owner: str, page: str) -> Any:
    bare = describing.Described("", "")
    (made,) = await describing.described(owner, [bare._replace(id=page)])
    return made.abstract


async def _held(owner: str) -> Any:
    return [one.content for one in (await known(owner, await events.revision(owner))).entries]


async def _aimed(owner: str, ids: Ids) -> Any:
    every = [*ids.facts, *ids.pages, *ids.runs, *ids.files, "profile"]
    return [await tried(lambda one=one: door.aimed(owner, [one])) for one in every]


async def _groups(owner: str) -> Any:
    shown = await outline.outline(owner, ASKED)
    every = list(shown.groups.values())
    best = [await groups.best_of(owner, one, ASKED, 100) for one in every]
    return best, await groups.sizes(owner, every)


def mark(owner: str) -> str:
    """Return words that stand in all an owner has, and in nothing else."""
    return f"owner{OWNERS.index(owner)}x"


async def furnish(owner: str) -> Ids:
    """Let an owner have something of every kind."""
    said = f"Bees dance for tea 喜欢茶 {mark(owner)}"
    fact = await add(owner, NewFact(said, quote=said, run="t-1", message="m"))
    ids: list[str] = []
    for kind, origin in (("chat", "talk"), ("web", "https://x.example/"), ("report", "t-1")):
        page = NewPage(title=f"Bees {mark(owner)}", place="", text=f"{said} in a {kind}.")
        ids += await keep(owner, kind, origin, [page], group="talk", run="t-1")
    trait = Trait(text=said, quote=said, confidence=0.9, stated=True, run="t-1", at=1.0)
    told = untold() | {"identities": [trait]}
    await profile.learn(owner, Told(**told))  # type: ignore[typeddict-item]
    run = f"t-{mark(owner)}"
    await past.close(
        owner, run, said, Signs(1, 1, 1, 1), said=[utterances.Utterance("planner", said)]
    )
    taught = await insights.add(owner, said, {"planner": said}, [run])
    await credits.credit(owner, run, "planner", [taught.id])
    with suppress(Problem):
        await lifecycle.opened(owner, mark(owner), 1, said, Context())
    proposal = proposals.Proposal(owner, of_person(parted(owner)[0]), "", said, said, run)
    proposed = await proposals.keep(proposal)
    await observe(owner, Said("t", run, "m", said))
    numbers = [one.id for one in await events.history(owner, limit=None)]
    file = of_person(parted(owner)[0])
    return Ids([fact.id], ids, [taught.id], [run], [proposed.id], numbers, [file])


async def shown(owner: str, ids: Ids) -> dict[str, str]:
    """Return all that an owner is shown, by every way of reading."""
    found = {name: str(await tried(lambda r=r: r(owner, ids))) for name, r in READS.items()}
    found |= {name: str(await r(owner, ids)) for name, r in EVENTS.items()}
    return found | {read.__name__: str(await read(owner, ids)) for read in MORE}


def printed(owner: str, ids: Ids, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return all that the command line tells an owner as JSON."""
    user, project = parted(owner)
    monkeypatch.setenv("DOSSIER_USER", user)
    config.settings.cache_clear()
    for module in (memories, page_commands, runs):
        # To open the database again takes longer than most commands.
        monkeypatch.setattr(module, "close", nothing)
    plain: dict[str, Any] = {"project": project, "as_json": True}
    things = [*ids.facts, *ids.pages, *ids.runs]
    commands: list[tuple[Callable[..., int], dict[str, Any]]] = [
        (memories.listing, {"memory": "", "every": True, "limit": 100}),
        (memories.searching, {"query": ASKED, "limit": 100, "memory": ""}),
        *((memories.showing, {"id": one}) for one in things),
        (memory_log.listing, {"run": "", "item": "", "limit": 1_000}),
        *((memory_log.differing, {"number": one}) for one in ids.events),
        *((memory_why.main, {"run": one}) for one in ids.runs),
        (memory_moves.exporting, {"file": None, "force": False}),
        (experience.insights, {}),
        (runs.main, {"name": None}),
        *((runs.main, {"name": one}) for one in ids.runs),
        (page_commands.listing, {"kind": "", "within": "", "limit": 100}),
        *((page_commands.showing, {"page": one}) for one in ids.pages),
        (page_commands.counting, {}),
    ]
    out = {}
    for at, (command, options) in enumerate(commands):
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            try:
                command(**options, **plain)
            except Problem as problem:
                said.write(str(problem))
        out[f"{at} {command.__module__}.{command.__name__}"] = said.getvalue()
    asyncio.run(close())
    return out


async def nothing() -> None:
    """Leave the database open."""


def leaks(owner: str, said: dict[str, str], ids: Ids) -> list[tuple[str, str]]:
    """Return where another owner's words are told; the ids that were asked for may be."""
    found: list[tuple[str, str]] = []
    for where, text in said.items():
        for run in ids.runs:
            text = text.replace(run, "")
        found += [(where, o) for o in OWNERS if o != owner and mark(o) in text]
    return found


@pytest.mark.usefixtures("home")
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.sampled_from(OWNERS), min_size=2, max_size=4, unique=True))
def test_no_way_of_reading_shows_what_another_owner_has(owners: list[str]):
    async def furnished() -> Ids:
        try:
            each_ = [await furnish(owner) for owner in owners]
        finally:
            await close()
        return Ids(*([id for some in kind for id in some] for kind in zip(*each_, strict=True)))

    async def looked(owner: str) -> dict[str, str]:
        try:
            return await shown(owner, ids)
        finally:
            await close()

    ids = asyncio.run(furnished())
    with pytest.MonkeyPatch.context() as patch:
        for owner in owners:
            said = asyncio.run(looked(owner)) | printed(owner, ids, patch)
            assert leaks(owner, said, ids) == []
            # What is the owner's own is there, so that looking is no blind man's walk.
            assert sum(mark(owner) in text for text in said.values()) > 40
