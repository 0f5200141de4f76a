"""Find what became of a report since it was delivered: said, read anew, or written anew."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from graph.records import Source
from graph.state import State
from library.store import (
    PageFate,
    list_page_ids,
    read_page_fates,
    read_page_origins,
    read_page_texts,
)
from privacy.erasure import FORGOTTEN_MARK
from report.citations import get_document_key, to_whole_document
from report.document import ReportDocument
from report.evidence_spans import find_evidence
from report.later_changes import LaterChange, LaterKind, mark_sources
from report.markdown.markdown_blocks import iter_statements, parse_blocks
from report.markdown.markers import list_cited_ids
from report.rendering.markdown_report import render_plain_text
from report.rendering.numbering import number_document
from report.versions import compare_versions
from runs.earlier_runs import REJECTIONS, load_thread_states
from runs.lifecycle import RunRecord
from storage.events import find_undone_events, list_events
from text.normalization import cut_at_word
from text.revision_requests import is_correction
from text.script import detect_language
from text.words import search_words

MAX_SUCCESSORS = 20
"""How often a page may have been replaced."""

_CORRECTING = ("deepen", "add", "refresh")
"""The kinds of versions that find out something; others only say it in another form."""

_NAMED_SHARE = 0.6  # of the words of a sentence that a correction repeats
_NAMED_WORDS = 3
_DIGITS = str.maketrans("", "", ",.")


async def add_later_changes(
    run: RunRecord, state: State, document: ReportDocument
) -> ReportDocument:
    """Return the document of a report with what became of it since it was delivered."""
    language = document["language"]
    pages, kinds = await _find_changed_sources(run.owner, document)
    changes = [
        *await _list_feedback(run, document),
        *pages,
        *await _list_versions(run, state, document),
    ]
    if not changes:
        return document
    sources = mark_sources(document["sources"], kinds, language)
    return {**document, "later": changes, "sources": sources}


async def _list_feedback(run: RunRecord, document: ReportDocument) -> list[LaterChange]:
    """Return what the person said against the report, the oldest first.

    Words that were forgotten since are not there any more.
    """
    said = await list_events(run.owner, item=run.id, name="feedback", limit=None)
    undone = await find_undone_events(run.owner) if said else {}
    changes = []
    for logged in reversed(said):
        if logged.id in undone or logged.event.name not in REJECTIONS:
            continue
        words = str((logged.event.after or {}).get("text", ""))
        words = "" if FORGOTTEN_MARK in words else " ".join(words.split())
        kind: LaterKind = "corrected" if logged.event.name == "feedback.text" else "rejected"
        named = _list_named_sentences(document["body"], words)
        changes.append(_change(kind, logged.at, cut_at_word(words, 400), named))
    return changes


def _list_named_sentences(body: str, words: str) -> list[str]:
    """Return the sentences of a report that a correction repeats for the most part."""
    said = set(search_words(words))
    found = []
    for statement in iter_statements(parse_blocks(body)):
        text = render_plain_text(statement)
        own = set(search_words(text))
        shared = len(own & said)
        if shared >= _NAMED_WORDS and shared >= _NAMED_SHARE * min(len(own), len(said)):
            found.append(text)
    return found


async def _find_changed_sources(
    owner: str, document: ReportDocument
) -> tuple[list[LaterChange], dict[str, LaterKind]]:
    """Return the cited documents that have changed or are gone, and what became of their pages."""
    cited = [
        one for one in document["sources"] if one["id"] in set(list_cited_ids(document["body"]))
    ]
    stored = [one for one in cited if one["kind"] != "computed"]
    fates = await read_page_fates(owner, [one["page"] for one in stored])
    changes: list[LaterChange] = []
    kinds: dict[str, LaterKind] = {}
    by_document: dict[str, list[Source]] = {}
    for one in stored:
        fate = fates.get(one["page"])
        if fate is None or not fate.is_found:
            by_document.setdefault(get_document_key(one), []).append(one)
    for group in by_document.values():
        replaced = {
            one["id"]: fate
            for one in group
            if (fate := fates.get(one["page"])) and fate.superseded_by
        }
        new, at = await _read_successors(owner, list(replaced.values()))
        sentences = await asyncio.to_thread(_list_concerned, document, group, new)
        if new and not sentences and len(replaced) == len(group):
            continue
        kind: LaterKind = "changed" if new else "gone"
        kinds |= {one["id"]: kind for one in group}
        title = to_whole_document(group[0])["title"]
        changes.append(_change(kind, at, title, sentences))
    return changes, kinds


async def _read_successors(owner: str, replaced: Sequence[PageFate]) -> tuple[str, float]:
    """Return the text that a document has now, and since when; "" if it has none."""
    ids, since = {one.superseded_by for one in replaced}, 0.0
    for _ in range(MAX_SUCCESSORS):
        fates = await read_page_fates(owner, sorted(ids))
        since = since or min((one.created for one in fates.values()), default=0.0)
        further = {fate.superseded_by or page for page, fate in fates.items()}
        if further == ids:
            break
        ids = further
    origins = await read_page_origins(owner, sorted(ids))
    pages = [
        page
        for kind, origin in set(origins.values())
        for page in await list_page_ids(owner, kind, origin)
    ]
    texts = await read_page_texts(owner, pages)
    return "\n\n".join(texts[page] for page in pages if page in texts), since


def _list_concerned(document: ReportDocument, group: Sequence[Source], new: str) -> list[str]:
    """Return the sentences that cite some pages and whose evidence is not in the new text."""
    names, now = {one["id"] for one in group}, _squeeze(new)
    shown, _ = number_document(document)
    found: dict[str, None] = {}
    for use in shown.uses:
        for name in names.intersection(use.sources):
            text = document["texts"].get(name, "")
            span = find_evidence(text, use) if text else None
            words = text[span.start : span.end] if span and span.certain else text
            if not (words and now and _squeeze(words) in now):
                found[render_plain_text(use.sentence).strip()] = None
    return list(found)


def _squeeze(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


async def _list_versions(
    run: RunRecord, state: State, document: ReportDocument
) -> list[LaterChange]:
    """Return the corrections that versions were asked for by, and the newest version.

    With the version are the sentences that it sets right.
    """
    states = await load_thread_states(run.thread)
    revised = {
        name: revision
        for name, one in states.items()
        if (revision := one.get("revision")) and name != run.id and one["turn"] > state["turn"]
    }
    later, sets_right = run.id, ""
    chain, only_found = {run.id}, True
    for name in sorted(revised, key=lambda one: states[one]["turn"]):
        if revised[name]["run"] not in chain:
            continue
        chain.add(name)
        later = name
        only_found = only_found and revised[name]["kind"] in _CORRECTING
        sets_right = name if only_found else sets_right
    if later == run.id:
        return []
    day, body = states[later]["report"].get("created", ""), document["body"]
    corrections = [
        (revised[name]["run"], _to_correction(revised[name]["request"], states[name], body))
        for name in sorted(chain - {run.id}, key=lambda one: states[one]["turn"])
        if is_correction(revised[name]["request"])
    ]
    told = [one for version, one in corrections if version == run.id or one["sentences"]]
    sentences: list[str] = []
    if sets_right:
        new = states[sets_right]["report"]["body"]
        refreshed = revised[sets_right]["kind"] == "refresh"
        sentences = await asyncio.to_thread(_list_corrected, body, new, refreshed=refreshed)
    return [*told, LaterChange(kind="version", day=day, words=later, sentences=sentences)]


def _to_correction(request: str, state: State, body: str) -> LaterChange:
    """Return what the person said against a report in the question that made the next version."""
    words = "" if FORGOTTEN_MARK in request else " ".join(request.split())
    return LaterChange(
        kind="corrected",
        day=state["report"].get("created", ""),
        words=cut_at_word(words, 400),
        sentences=_list_named_sentences(body, words),
    )


def _list_corrected(old: str, new: str, *, refreshed: bool) -> list[str]:
    """Return the sentences to which a version gives other numbers, or that a refresh leaves out."""
    if detect_language(old) != detect_language(new):
        return []
    changes = compare_versions(old, new)
    other = [one for one, now in changes["changed"] if _numbers(one) != _numbers(now)]
    return [*other, *(changes["removed"] if refreshed else [])]


def _numbers(text: str) -> set[str]:
    words = (word.translate(_DIGITS) for word in text.split())
    return {word for word in words if any(map(str.isdecimal, word))}


def _change(kind: LaterKind, at: float, words: str, sentences: Iterable[str]) -> LaterChange:
    day = datetime.fromtimestamp(at, UTC).date().isoformat() if at else ""
    return LaterChange(kind=kind, day=day, words=words, sentences=list(sentences))
