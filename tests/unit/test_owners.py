"""Nobody is ever shown what another owner has, by any way of reading that there is."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import io
import pkgutil
import typing
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import library
import memory
import privacy
from app.cli import event_loop, memory_changes, memory_items, memory_transfer, runs
from app.cli import knowledge_bases as base_commands
from app.cli import pages as page_commands
from app.cli.dispatch import Invocation
from config.errors import Problem
from graph.context import Context
from library import abstracts as library_abstracts
from library import (
    document_listing,
    document_outline,
    document_pages,
    document_sections,
    documents,
    knowledge_records,
    page_outline,
    page_retrieval,
    scope,
    store,
    uploaded_files,
    uploads,
)
from library import recall as library_recall
from library import scope as scopes
from library.page_index import PageIndex
from library.page_retrieval import find_pages, find_pages_many
from library.page_rows import NewPage
from library.store import (
    list_page_ids,
    read_page_days,
    read_page_fates,
    read_page_links,
    read_page_origins,
    read_page_texts,
    store_pages,
)
from memory import registry, report_titles, self_questions
from memory.agents_md import edits as file_lineage
from memory.agents_md import file_sources, project_trust, proposals
from memory.agents_md import memory as file_reading
from memory.agents_md.file_sources import person_file
from memory.experience import (
    consolidation,
    credit_assignment,
    graph_page,
    insights,
    related_runs,
    utterances,
)
from memory.experience import run_history as past
from memory.experience.credit_assignment import OutcomeSignals
from memory.facts import cache
from memory.facts import queries as facts
from memory.facts.cache import load_fact_snapshot
from memory.facts.fact import NewFact
from memory.facts.memory import fact_embedding_similarity
from memory.facts.store import add_fact
from memory.learning.learner import find_learnt_fact
from memory.learning.message_queue import PersonMessage, enqueue_message
from memory.learning.self_statements import SelfStatement
from memory.profile import store as profile
from memory.profile.traits import ProfileUpdate, Trait, empty_profile_update
from memory.protocol import Query
from memory.registry import MEMORIES
from memory.reports import find_related_reports
from privacy import exporter, retention, saved_states, service
from runs import lifecycle
from runs.call_site import join_owner, split_owner
from storage import events
from storage.engine import close_database
from tests.places import new_process

OWNERS = [
    join_owner(user, project)
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
    uploads: list[str]
    folders: list[str]


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


def _everything() -> document_listing.DocumentScope:
    return document_listing.DocumentScope(["/docs", "/"], "t1", scopes.Scope())


async def _named(owner: str) -> list[str]:
    """Return the titles of everyone by which an owner finds a document."""
    titles = [f"Bees {mark(other)}" for other in OWNERS]
    find = document_outline.find_named_document
    return [title for title in titles if await find(owner, _everything(), title)]


async def _brief(owner: str, ids: Ids) -> Any:
    shown = await page_outline.outline_pages(owner, ASKED)
    return shown, await page_outline.resolve_outline_ids(
        owner, shown, ["G1", "P1", "G2", "P2"], ASKED
    )


async def _planned(owner: str, ids: Ids) -> Any:
    plans = [
        await service.plan_erasure(await service.resolve_erasure_target(owner, [one]))
        for one in await _own(owner)
    ]
    # A plan holds the names of others' threads, which it leaves alone; nobody is shown them.
    return [
        (one.patterns, one.pages, one.facts, one.threads, one.reports, one.files) for one in plans
    ]


async def _own(owner: str) -> list[str]:
    return [one.id for one in await facts.list_facts(owner)]


async def _recalled(owner: str, ids: Ids) -> Any:
    query = Query(owner, "planner", ASKED, (), await events.read_revision(owner), run="t-1")
    return [await one.recall(query, 100_000) for one in MEMORIES if one.name != "instructions"]


async def _of_shelves(owner: str, ids: Ids) -> Any:
    every = [id for some in ids[:5] for id in some] + ids.files
    named = [
        await tried(lambda s=s, id=id: s.find_by_id(owner, id)) for s in MEMORIES for id in every
    ]
    lists = [await one.list_items(owner, 100, every=True) for one in MEMORIES]
    return named, lists, [await one.search(owner, ASKED, 100) for one in MEMORIES]


READS: dict[str, Read] = {
    "library.document_pages.find_places": each(
        lambda o, id: document_pages.find_places(o, [id]), "pages"
    ),
    "library.document_pages.read_documents": lambda o, ids: _read_documents(o, ids),
    "library.document_pages.read_short_documents": lambda o, ids: _read_short_documents(o, ids),
    "library.document_pages.read_folders": lambda o, ids: document_pages.read_folders(
        o, ["/docs"], 100_000
    ),
    "library.document_pages.find_pages_on_names": lambda o, ids: document_pages.find_pages_on_names(
        o, ["Bees"], 10, ["/docs"]
    ),
    "memory.self_questions.search_personal_notes": lambda o, ids: (
        self_questions.search_personal_notes(o, ASKED, 100)
    ),
    "memory.self_questions.answer_self_question": lambda o, ids: (
        self_questions.answer_self_question(o, self_questions.SelfQuestion("all"))
    ),
    "memory.experience.graph_page.load_experience_graph": lambda o, ids: (
        graph_page.load_experience_graph(o)
    ),
    "memory.experience.insights.list_insights": lambda o, ids: insights.list_insights(
        o, include_ended=True
    ),
    "memory.experience.insights.list_insight_support": lambda o, ids: insights.list_insight_support(
        o
    ),
    "memory.experience.consolidation.load_run_comparison": each(
        consolidation.load_run_comparison, "runs"
    ),
    "memory.experience.related_runs.list_relevant_insights": each(
        lambda o, run: _learnt(o, run), "runs"
    ),
    "memory.experience.related_runs.store_related_runs": each(
        lambda o, run: related_runs.store_related_runs(o, run, ASKED), "runs"
    ),
    "memory.experience.related_runs.load_related_runs": each(
        related_runs.load_related_runs, "runs"
    ),
    "memory.experience.run_history.find_past_run": each(past.find_past_run, "runs"),
    "memory.experience.consolidation.claim_consolidation": lambda o, ids: (
        consolidation.claim_consolidation(o)
    ),
    "memory.experience.utterances.list_utterances": each(utterances.list_utterances, "runs"),
    "memory.facts.cache.load_fact_snapshot": lambda o, ids: _held(o),
    "memory.facts.queries.find_fact": each(facts.find_fact, "facts"),
    "memory.facts.queries.list_facts": lambda o, ids: facts.list_facts(o, include_ended=True),
    "memory.facts.cache.filter_facts": lambda o, ids: cache.filter_facts(o, bool),
    "memory.facts.queries.list_facts_of_message": lambda o, ids: facts.list_facts_of_message(
        o, "m"
    ),
    "memory.facts.memory.fact_embedding_similarity": lambda o, ids: _meant(o),
    "memory.experience.run_history.compare_meanings": lambda o, ids: past.compare_meanings(
        o, ASKED
    ),
    "memory.facts.cache.find_similar_facts": lambda o, ids: cache.find_similar_facts(o, ASKED, 100),
    "memory.facts.cache.search_facts": lambda o, ids: cache.search_facts(o, ASKED, 100),
    "memory.learning.learner.find_learnt_fact": lambda o, ids: _told_before(o),
    "memory.agents_md.edits.load_read_history": each(
        lambda o, run: file_lineage.load_read_history(o, "t", run), "runs"
    ),
    "memory.agents_md.project_trust.trusted_folder": lambda o, ids: project_trust.trusted_folder(o),
    "memory.agents_md.proposals.list_proposals": lambda o, ids: proposals.list_proposals(
        o, decided=True
    ),
    "memory.agents_md.proposals.count_pending_proposals": each(
        proposals.count_pending_proposals, "runs"
    ),
    "memory.agents_md.proposals.get_pending_proposal": each(
        proposals.get_pending_proposal, "proposals"
    ),
    "memory.agents_md.memory.files_over_budget": lambda o, ids: file_reading.files_over_budget(
        o, 0
    ),
    "memory.agents_md.memory.list_memory_files": lambda o, ids: file_reading.list_memory_files(o),
    "memory.agents_md.memory.unreadable_files": lambda o, ids: file_reading.unreadable_files(o),
    "privacy.service.resolve_erasure_target": lambda o, ids: _aimed(o, ids),
    "privacy.service.plan_erasure": _planned,
    "privacy.service.list_unfinished_erasures": lambda o, ids: service.list_unfinished_erasures(o),
    "privacy.saved_states.find_pruned_run": each(saved_states.find_pruned_run, "runs"),
    "memory.registry.find_items": lambda o, ids: each(registry.find_items, "files")(o, ids),
    "memory.registry.list_items": lambda o, ids: registry.list_items(o, 100, every=True),
    "memory.registry.search_items": lambda o, ids: registry.search_items(o, ASKED, 100),
    "memory.registry.get_event": each(registry.get_event, "events"),
    "memory.registry.explain_recall": each(registry.explain_recall, "runs"),
    "privacy.retention.list_expired_threads": lambda o, ids: retention.list_expired_threads(o, 0),
    "privacy.exporter.export_memory": lambda o, ids: exporter.export_memory(o),
    "memory.agents_md.file_sources.list_exportable_files": lambda o, ids: (
        file_sources.list_exportable_files(o)
    ),
    "memory.experience.utterances.list_person_messages": lambda o, ids: (
        utterances.list_person_messages(o, [mark(one) for one in OWNERS])
    ),
    "library.document_listing.find_documents": lambda o, ids: document_listing.find_documents(
        o, _everything(), ASKED
    ),
    "library.document_outline.find_named_document": lambda o, ids: _named(o),
    "library.document_outline.outline_documents": lambda o, ids: document_outline.outline_documents(
        o, _everything(), ASKED
    ),
    "library.document_sections.outline_document": each(document_sections.outline_document, "pages"),
    "library.document_sections.find_section": each(
        lambda o, id: document_sections.find_section(o, id, ASKED), "pages"
    ),
    "library.page_outline.find_briefs": lambda o, ids: page_outline.find_briefs(o, ASKED, 100),
    "library.page_outline.list_newest_briefs": lambda o, ids: page_outline.list_newest_briefs(
        o, 100
    ),
    "library.page_outline.list_outlined_kinds": lambda o, ids: page_outline.list_outlined_kinds(o),
    "library.documents.list_stored_files": lambda o, ids: documents.list_stored_files(o, []),
    "library.uploaded_files.list_uploaded_files": lambda o, ids: uploaded_files.list_uploaded_files(
        o, "t1"
    ),
    "library.uploads.find_upload": each(uploads.find_upload, "uploads"),
    "library.uploads.list_uploads": lambda o, ids: uploads.list_uploads(o),
    "library.uploads.measure_uploads": lambda o, ids: uploads.measure_uploads(o),
    "library.uploads.list_abandoned_uploads": lambda o, ids: uploads.list_abandoned_uploads(o),
    "library.uploads.list_upload_folders": each(uploads.list_upload_folders, "folders"),
    "library.uploads.find_chosen_uploads": each(
        lambda o, id: uploads.find_chosen_uploads(o, [id]), "uploads"
    ),
    "library.uploaded_files.with_uploads": lambda o, ids: uploaded_files.with_uploads(o, "t1", []),
    "library.abstracts.fill_abstracts": each(lambda o, id: _described(o, id), "pages"),
    "library.documents.read_document_openings": lambda o, ids: documents.read_document_openings(
        o, ["ab"]
    ),
    "library.page_retrieval.search_pages": lambda o, ids: page_retrieval.search_pages(
        o, ASKED, 100
    ),
    "library.page_retrieval.search_pages_many": lambda o, ids: page_retrieval.search_pages_many(
        o, [ASKED], 100
    ),
    "library.page_retrieval.run_search": lambda o, ids: page_retrieval.run_search(
        o, PageIndex.stats
    ),
    "library.page_retrieval.find_misspellings": lambda o, ids: page_retrieval.find_misspellings(
        o, f"{ASKED} beez dancce"
    ),
    "library.page_outline.find_best_in_group": lambda o, ids: _groups(o),
    "library.page_outline.count_groups": lambda o, ids: _groups(o),
    "library.store.least_trusted_provenance": lambda o, ids: store.least_trusted_provenance(
        o, ids.pages
    ),
    "memory.report_titles.list_report_titles": lambda o, ids: report_titles.list_report_titles(
        o, 100
    ),
    "library.scope.list_stored_pages": lambda o, ids: scope.list_stored_pages(o),
    "library.scope.list_base_pages": lambda o, ids: scope.list_base_pages(o),
    "library.scope.read_page_record": each(scope.read_page_record, "pages"),
    "library.scope.list_namespaces": lambda o, ids: scope.list_namespaces(o),
    "library.scope.count_retired_pages": lambda o, ids: scope.count_retired_pages(o),
    "library.page_outline.outline_pages": _brief,
    "library.page_outline.resolve_outline_ids": _brief,
    "library.store.find_altered_pages": lambda o, ids: store.find_altered_pages(o, ids.pages),
    "library.store.find_computed_pages": lambda o, ids: store.find_computed_pages(o, ids.pages),
    "library.store.find_computed_result": lambda o, ids: store.find_computed_result(o, "", []),
    "library.recall.locate_below": lambda o, ids: library_recall.locate_below(
        o,
        [page_retrieval.FoundPage(one, "file", "", "", "", 0.0) for one in ids.pages],
        ["/docs", "/"],
    ),
    "library.recall.is_scope_empty": lambda o, ids: library_recall.is_scope_empty(
        o, scopes.Scope(None, None)
    ),
    "library.recall.read_pages": lambda o, ids: library_recall.read_pages(o, ids.pages),
    "library.recall.recall_documents": lambda o, ids: library_recall.recall_documents(
        o, [ASKED], 100, ids.pages
    ),
    "library.recall.recall_pages": lambda o, ids: library_recall.recall_pages(
        o, ASKED, 100, scopes.Scope(None, None)
    ),
    "library.recall.trace_reports": lambda o, ids: library_recall.trace_reports(
        o, ASKED, [page_retrieval.FoundPage(one, "report", "", "", "", 0.0) for one in ids.pages]
    ),
    "library.page_retrieval.find_pages": lambda o, ids: find_pages(o, ASKED, 100),
    "library.page_retrieval.find_pages_many": lambda o, ids: find_pages_many(o, [ASKED], 100),
    "library.knowledge_records.list_own_bases": lambda o, ids: knowledge_records.list_own_bases(o),
    "library.store.list_page_ids": lambda o, ids: list_page_ids(o, "chat", "talk"),
    "library.store.read_page_links": lambda o, ids: read_page_links(o, ids.pages),
    "library.store.read_page_days": lambda o, ids: read_page_days(o, ids.pages),
    "library.store.read_page_fates": lambda o, ids: read_page_fates(o, ids.pages),
    "library.store.read_page_origins": lambda o, ids: read_page_origins(o, ids.pages),
    "library.store.read_page_texts": lambda o, ids: read_page_texts(o, ids.pages),
    "library.scope.find_origin_pages": lambda o, ids: scopes.find_origin_pages(o, "talk"),
    "library.scope.find_copies": lambda o, ids: scopes.find_copies(o, ids.pages),
    "library.scope.read_file_paths": lambda o, ids: scopes.read_file_paths(o, ["ab"]),
    "library.scope.resolve_scope": lambda o, ids: tried(lambda: scopes.resolve_scope(o, "tal")),
    "memory.profile.store.load_profile": lambda o, ids: profile.load_profile(o),
    "memory.reports.find_related_reports": lambda o, ids: find_related_reports(o, ASKED),
}
"""Every way of reading by an owner's name."""

EVENTS: dict[str, Read] = {
    "find_event": each(events.find_event, "events"),
    "list_events": lambda o, ids: events.list_events(o, limit=None),
    "read_revision": lambda o, ids: events.read_revision(o),
    "list_events_since": lambda o, ids: events.list_events_since(o, 0),
    "find_undone_events": lambda o, ids: events.find_undone_events(o),
}

MORE: list[Read] = [_recalled, _of_shelves]
"""What reads by a method: memories for model calls, shelves for people."""

WRITES = {
    "library.documents.record_document",
    "library.documents.store_files",
    "library.documents.unlist_document",
    "library.indexing.refresh_index",
    "library.memorizer.store_with_abstracts",
    "library.page_erasure.forget_pages",
    "library.knowledge_records.delete_base",
    "library.store.store_computed_page",
    "library.store.store_unsearched_pages",
    "library.store.store_pages",
    "library.undo.remove_pages",
    "library.uploaded_files.discard_uploads",
    "library.uploaded_files.forget_files",
    "library.uploads.create_upload",
    "library.uploads.create_upload_folder",
    "library.uploads.delete_folder_record",
    "memory.agents_md.proposals.approve_proposal",
    "memory.agents_md.proposals.reject_proposal",
    "memory.registry.edit_item",
    "memory.experience.consolidation.apply_lessons",
    "memory.experience.consolidation.consolidate_insights",
    "memory.experience.consolidation.retire_insights",
    "memory.experience.credit_assignment.credit_insights",
    "memory.experience.insights.add_insight",
    "memory.experience.insights.edit_insight",
    "memory.experience.insights.merge_insights",
    "memory.experience.insights.record_agreement",
    "memory.experience.run_history.rate_past_run",
    "memory.experience.run_history.record_run_end",
    "memory.experience.run_log.import_logged_run",
    "memory.facts.store.add_fact",
    "memory.facts.store.edit_fact",
    "memory.facts.store.supersede_fact",
    "memory.learning.learner.learn_fact",
    "memory.learning.learner.save_claim",
    "memory.learning.learner.save_statement",
    "memory.learning.message_queue.enqueue_message",
    "memory.learning.message_queue.lease_messages",
    "memory.profile.store.update_profile",
    "memory.text_vectors.load_text_vectors",
    "memory.registry.undo_event",
    "memory.registry.undo_run",
    "privacy.importer.import_exported_memory",
    "privacy.saved_states.save_report_state",
    "privacy.service.finish_erasure",
}
"""What changes something of the owner that it is told."""

NOBODYS = {
    "library.vector_upkeep.build_due_collection": "indexes vectors for everybody",
    "privacy.retention.prune_threads": "is told threads that were listed for an owner",
    "privacy.retention.measure_threads": "is told threads that were listed for an owner",
    "privacy.backup.write_backup": "backs up what everybody has",
    "privacy.restore.check_backup": "is told a file",
    "privacy.restore.restore_backup": "restores what everybody has",
    "privacy.checkpoint_transfer.transfer_checkpoints": "restores what everybody has",
    "memory.experience.insights.count_dangling_edges": "checks a whole database",
    "memory.agents_md.backends.change_file": "knows files by where they lie",
    "memory.agents_md.project_trust.add_trusted_folder": "is told the user, who has the projects",
    "privacy.service.delete_thread": "is told a thread, which has one owner",
    "memory.learning.claim_extraction.extract_claims": "is told all it needs to know",
    "memory.learning.message_queue.complete_messages": "is told turns of an owner",
    "memory.learning.message_queue.postpone_messages": "is told turns of an owner",
    "memory.text_vectors.passage_similarity": "is told texts, and returns numbers",
    "memory.text_vectors.semantic_embedder": "is told nothing",
    "memory.text_vectors.embed_text": "is told a text",
    "library.page_embedding.embed_due": "makes vectors for everybody, and returns how many",
    "library.vector_upkeep.judge_vectors": "measures vectors for everybody, and returns how many",
    "library.page_embedding.reembed": "makes vectors for everybody, and returns how many",
    "library.vector_upkeep.update_vectors": "makes vectors for everybody, and returns how many",
    "library.vector_upkeep.make_due_vectors": "makes vectors for everybody, and returns how many",
}
"""What has no owner, and why that shows nobody anything."""


def public(package: Any) -> Iterator[tuple[str, Any]]:
    """Yield every public coroutine function of a package, with its full name."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for name, function in vars(module).items():
            here = getattr(function, "__module__", "") == found.name
            if here and inspect.iscoroutinefunction(function) and not name.startswith("_"):
                yield f"{found.name}.{name}", function


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
    told = {
        name: owner_of(function)
        for package in (memory, library, privacy)
        for name, function in public(package)
    }

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
    return await fact_embedding_similarity(owner, await load_fact_snapshot(owner, 0), ASKED)


async def _learnt(owner: str, run: str) -> Any:
    found = await past.find_past_run(owner, run)
    some = [related_runs.RelatedRun(found, 1.0, 0, 1.0)] if found else []
    return await related_runs.list_relevant_insights(owner, some)


async def _list_documents(ids: Any) -> list[str]:
    """Return the documents of everyone, by the names that `find_places` gives them."""
    return [
        place.document
        for other in OWNERS
        for place in (await document_pages.find_places(other, [*ids.pages])).values()
    ]


async def _read_documents(owner: str, ids: Any) -> Any:
    places = await _list_documents(ids)
    return await document_pages.read_documents(owner, places, 1_000_000)


async def _read_short_documents(owner: str, ids: Any) -> Any:
    places = await _list_documents(ids)
    return await document_pages.read_short_documents(owner, places, 1_000_000)


async def _told_before(owner: str) -> Any:
    every = [f"Bees dance for tea 喜欢茶 {mark(one)}" for one in OWNERS]
    return [await find_learnt_fact(owner, SelfStatement("note", said, said), "m") for said in every]


async def _described(owner: str, page: str) -> Any:
    bare = library_abstracts.PageAbstract("", "")
    (made,) = await library_abstracts.fill_abstracts(owner, [bare._replace(id=page)])
    return made.abstract


async def _held(owner: str) -> Any:
    return [
        one.content
        for one in (await load_fact_snapshot(owner, await events.read_revision(owner))).entries
    ]


async def _aimed(owner: str, ids: Ids) -> Any:
    every = [*ids.facts, *ids.pages, *ids.runs, *ids.files, "profile"]
    return [
        await tried(lambda one=one: service.resolve_erasure_target(owner, [one])) for one in every
    ]


async def _groups(owner: str) -> Any:
    shown = await page_outline.outline_pages(owner, ASKED)
    every = list(shown.groups.values())
    best = [await page_outline.find_best_in_group(owner, one, ASKED, 100) for one in every]
    return best, await page_outline.count_groups(owner, every)


def mark(owner: str) -> str:
    """Return words that stand in all an owner has, and in nothing else."""
    return f"owner{OWNERS.index(owner)}x"


async def furnish(owner: str) -> Ids:
    """Let an owner have something of every kind."""
    said = f"Bees dance for tea 喜欢茶 {mark(owner)}"
    fact = await add_fact(owner, NewFact(said, quote=said, run="t-1", message="m"))
    ids: list[str] = []
    for kind, origin in (("chat", "talk"), ("web", "https://x.example/"), ("report", "t-1")):
        page = NewPage(title=f"Bees {mark(owner)}", place="", text=f"{said} in a {kind}.")
        ids += await store_pages(owner, kind, origin, [page], group="talk", run="t-1")
    trait = Trait(text=said, quote=said, confidence=0.9, stated=True, run="t-1", at=1.0)
    told = empty_profile_update() | {"identities": [trait]}
    await profile.update_profile(owner, ProfileUpdate(**told))  # type: ignore[typeddict-item]
    run = f"t-{mark(owner)}"
    await past.record_run_end(
        owner,
        run,
        past.RunEnding(
            said, OutcomeSignals(1, 1, 1, 1), utterances=[utterances.Utterance("planner", said)]
        ),
    )
    taught = await insights.add_insight(owner, insights.InsightText(said, {"planner": said}), [run])
    await credit_assignment.credit_insights(owner, run, "planner", [taught.id])
    with suppress(Problem):
        await lifecycle.create_run(owner, mark(owner), 1, said, Context())
    named = knowledge_records.KnowledgeBase("bees", said, "folder", "/docs", {}, owner)
    await knowledge_records.save_base(named)
    proposal = proposals.Proposal(owner, person_file(split_owner(owner)[0]), "", said, said, run)
    proposed = await proposals.save_proposal(proposal)
    await enqueue_message(owner, PersonMessage("t", run, "m", said))
    numbers = [one.id for one in await events.list_events(owner, limit=None)]
    file = person_file(split_owner(owner)[0])
    folder = await uploads.create_upload_folder(owner, f"Bees {mark(owner)}")
    sent = await uploads.create_upload(owner, f"Bees {mark(owner)}.txt", 5, folder.id)
    rest = ([run], [proposed.id], numbers, [file], [sent.id], [folder.id])
    return Ids([fact.id], ids, [taught.id], *rest)


async def shown(owner: str, ids: Ids) -> dict[str, str]:
    """Return all that an owner is shown, by every way of reading."""
    found = {name: str(await tried(lambda r=r: r(owner, ids))) for name, r in READS.items()}
    found |= {name: str(await r(owner, ids)) for name, r in EVENTS.items()}
    return found | {read.__name__: str(await read(owner, ids)) for read in MORE}


def printed(owner: str, ids: Ids, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return all that the command line tells an owner as JSON."""
    user, project = split_owner(owner)
    monkeypatch.setenv("DOSSIER_USER", user)
    new_process()
    # To open the database again takes longer than most commands.
    monkeypatch.setattr(event_loop, "close_database", nothing)
    plain: dict[str, Any] = {"invocation": Invocation(project, as_json=True)}
    things = [*ids.facts, *ids.pages, *ids.runs]
    commands: list[tuple[Callable[..., Coroutine[Any, Any, int | None]], dict[str, Any]]] = [
        (memory_items.print_item_list, {"memory": "", "every": True, "limit": 100}),
        (memory_items.print_item_search, {"query": ASKED, "limit": 100, "memory": ""}),
        *((memory_items.print_item, {"id": one}) for one in things),
        (memory_changes.print_event_list, {"run": "", "item": "", "limit": 1_000}),
        *((memory_changes.print_event_diff, {"event": one}) for one in ids.events),
        *((memory_items.print_recall_explanation, {"run": one}) for one in ids.runs),
        (memory_transfer.export_to_file, {"file": None, "force": False}),
        (memory_items.print_insights, {}),
        (runs.list_runs, {}),
        *(
            (runs.show_run, {"run": one, "report": whole, "removed": False, "source": None})
            for one in ids.runs
            for whole in (False, True)
        ),
        (page_commands.print_page_list, {"kind": "", "within": "", "limit": 100}),
        *((page_commands.print_page, {"page": one}) for one in ids.pages),
        (page_commands.print_page_counts, {}),
        (base_commands.print_base_list, {}),
        (base_commands.print_base, {"name": "bees"}),
    ]
    out = {}
    for at, (command, options) in enumerate(commands):
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            try:
                event_loop.run_and_close(command(**options, **plain))
            except Problem as problem:
                said.write(str(problem))
        out[f"{at} {command.__module__}.{command.__name__}"] = said.getvalue()
    asyncio.run(close_database())
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
    max_examples=2,
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
            await close_database()
        return Ids(*([id for some in kind for id in some] for kind in zip(*each_, strict=True)))

    async def looked(owner: str) -> dict[str, str]:
        try:
            return await shown(owner, ids)
        finally:
            await close_database()

    ids = asyncio.run(furnished())
    with pytest.MonkeyPatch.context() as patch:
        for owner in owners:
            said = asyncio.run(looked(owner)) | printed(owner, ids, patch)
            assert leaks(owner, said, ids) == []
            # What is the owner's own is there, so that looking is no blind man's walk.
            assert sum(mark(owner) in text for text in said.values()) > 40
