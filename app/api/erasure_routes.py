"""Forget things for good over HTTP, after seeing what that touches."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from app.api.parameters import Name, Owner, RunName, Words
from app.api.problem_answers import ProblemAnswer, tell_problems
from app.api.router import make_router
from app.api.server_paths import load_path_filter
from app.cli.forget import ErasurePreview, preview_erasure, redraw_reports, resolve_pages
from config.errors import ErrorCode, Problem
from privacy.erasure_target import ErasureTarget
from privacy.service import execute_erasure, resolve_erasure_target
from runs.lifecycle import RunRecord, find_run, unlist_report
from runs.report_shares import revoke_all_shares
from storage.file_store import file_store

router = make_router("Memory", "/api")

MAX_NAMED = 500
"""The most ids in one request."""


class ErasureRequestBody(BaseModel):
    """What to forget: items of any memory, pages, or all pages of one origin."""

    ids: list[Name] = Field(
        default=[], max_length=MAX_NAMED, description="Ids of facts, insights, reports or runs."
    )
    pages: list[Name] = Field(default=[], max_length=MAX_NAMED, description="Ids of pages.")
    origin: Words = Field(
        default="", description="A web address, a run or a conversation whose pages are forgotten."
    )
    copies: bool = Field(default=False, description="Forget pages elsewhere that say the same.")
    dry_run: bool = Field(default=True, description="Only tell what would be touched.")


class KeptCopy(BaseModel):
    """A page that says the same and stays."""

    page: str
    place: str


class ErasureAnswer(BaseModel):
    """What forgetting touches, or has touched."""

    done: bool
    ids: list[str]
    pages: int
    facts: int
    profile: bool
    reports: list[str] = Field(description="The runs whose reports are rewritten.")
    threads: list[str]
    copies_kept: list[KeptCopy]
    left_in: list[str] = Field(description="Your own files that say it too, and stay.")
    unread: list[ProblemAnswer] = Field(description="Memory files that cannot be read.")
    beyond: str = Field(description="What is beyond reach; empty for nothing.")


_PROBLEMS = tell_problems(
    *("usage", "memory_not_found", "memory_ambiguous", "page_not_found"),
    *("run_in_progress", "storage_busy"),
)


@router.post("/erasures", summary="Forget for good", responses=_PROBLEMS)
async def erase_api_items(owner: Owner, wanted: ErasureRequestBody) -> ErasureAnswer:
    """Return what forgetting would touch; with `dry_run` false, forget it for good."""
    target, shared = await _find_target(owner, wanted)
    preview = await preview_erasure(target, shared, copies=wanted.copies)
    return await _carry_out(owner, preview, dry_run=wanted.dry_run)


@router.delete(
    "/reports/{run}",
    summary="Forget a report, with its question and what was learnt from it",
    responses=tell_problems("run_not_found", "run_in_progress", "storage_busy"),
)
async def delete_api_report(
    run: RunName,
    owner: Owner,
    dry_run: Annotated[bool, Query(description="Only tell what would be touched.")] = False,
) -> ErasureAnswer:
    """Forget a run for good; sources that other runs cite stay."""
    record = await find_run(owner, run)
    target = await resolve_erasure_target(owner, [record.id])
    preview = await preview_erasure(target, {}, copies=False)
    told = await _carry_out(owner, preview, dry_run=dry_run)
    if not dry_run:
        await revoke_all_shares(record)
        await asyncio.to_thread(_remove_files, record)
        await unlist_report(owner, record.id)
    return told


def _remove_files(run: RunRecord) -> None:
    """Remove the files of a report from the file store; files elsewhere belong to their owner."""
    store = file_store()
    if run.folder and (name := store.find_name(run.folder)):
        store.remove(name)


async def _find_target(
    owner: str, wanted: ErasureRequestBody
) -> tuple[ErasureTarget, dict[str, str]]:
    """Return what a request names, and pages elsewhere that say the same.

    Raises:
        Problem: `usage` unless it names exactly one of the three; `memory_not_found`,
            `memory_ambiguous` or `page_not_found` for what is not there.
    """
    named = [bool(wanted.ids), bool(wanted.pages), bool(wanted.origin)]
    if sum(named) != 1:
        what = "name `ids`, `pages` or `origin`, and only one of them"
        raise Problem(ErrorCode.USAGE, what, where="body")
    if wanted.ids:
        return await resolve_erasure_target(owner, wanted.ids), {}
    found = await resolve_pages(owner, wanted.pages, wanted.origin, forgotten=True)
    target = ErasureTarget(owner, pages=tuple(found.ids), origin=wanted.origin)
    return target, found.shared


async def _carry_out(owner: str, preview: ErasurePreview, *, dry_run: bool) -> ErasureAnswer:
    beyond = ""
    if not dry_run:
        beyond = await execute_erasure(preview.plan, partial(redraw_reports, owner))
    told: dict[str, Any] = (await load_path_filter(owner)).hide(preview.as_dict())
    kept = [KeptCopy(page=one["page"], place=one["in"]) for one in told["copies_kept"]]
    names = ("ids", "pages", "facts", "profile", "reports", "threads", "left_in", "unread")
    fields = {name: told[name] for name in names}
    return ErasureAnswer(done=not dry_run, copies_kept=kept, beyond=beyond, **fields)
