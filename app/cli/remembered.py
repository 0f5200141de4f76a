"""The commands about what is remembered: ingest, pages, search, recall, memory."""

from __future__ import annotations

import typer

from app.cli import audited
from app.cli.calling import call
from app.cli.options import (
    Chat,
    Copies,
    Decided,
    DryRun,
    Explain,
    Force,
    From,
    GraphFile,
    Json,
    Kind,
    Limit,
    LogFile,
    Page,
    Pages,
    Paths,
    Project,
    Proposals,
    Question,
    Sure,
    Trust,
    Vouch,
    Whole,
    Within,
    Words,
)

app = typer.Typer()

pages = typer.Typer(help="List, show, search, remove, forget and count what was read.")
app.add_typer(pages, name="pages", no_args_is_help=True)

memory = typer.Typer(help="List, search, correct and forget what is remembered.")
app.add_typer(memory, name="memory", no_args_is_help=True)
memory.add_typer(audited.app)


@app.command()
def ingest(
    paths: Paths = None,
    chat: Chat = None,
    project: Project = "",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Read folders, files or a chat into memory; what was read before is not read again."""
    if chat and not paths:
        call("ingest_chat", chat=chat, project=project, trust=trust, as_json=json)
    call("ingest", paths=paths or [], chat=chat, project=project, trust=trust, as_json=json)


@app.command()
def search(
    query: Words,
    within: Within = "",
    limit: Limit = 10,
    explain: Explain = False,
    project: Project = "",
    json: Json = False,
) -> None:
    """Find the pages that answer a question best."""
    call(
        "search",
        query=query,
        within=within,
        limit=limit,
        explain=explain,
        project=project,
        as_json=json,
    )


@app.command()
def recall(
    question: Question = "",
    within: Within = "",
    pages: Whole = False,
    project: Project = "",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Answer a question from what was read before."""
    call(
        "recall",
        question=question,
        within=within,
        whole=pages,
        project=project,
        trust=trust,
        as_json=json,
    )


@pages.command("list")
def list_pages(
    kind: Kind = "",
    within: Within = "",
    limit: Limit = 20,
    project: Project = "",
    json: Json = False,
) -> None:
    """List the newest pages."""
    call("pages", "listing", kind=kind, within=within, limit=limit, project=project, as_json=json)


@pages.command()
def show(page: Page, project: Project = "", json: Json = False) -> None:
    """Show a page: where it is from, and what it says."""
    call("pages", "showing", page=page, project=project, as_json=json)


pages.command("search")(search)


@pages.command()
def remove(
    ids: Pages = None,
    origin: From = "",
    project: Project = "",
    json: Json = False,
) -> None:
    """Stop searching pages; nothing else changes, and memory undo brings them back."""
    call("remove", ids=ids or [], origin=origin, project=project, as_json=json)


@pages.command()
def forget(
    ids: Pages = None,
    origin: From = "",
    yes: Sure = False,
    dry_run: DryRun = False,
    copies: Copies = False,
    project: Project = "",
    json: Json = False,
) -> None:
    """Erase pages for good, and whatever says them again; remove only stops searching them."""
    call(
        "forget",
        ids=ids or [],
        origin=origin,
        project=project,
        sure=yes,
        look=dry_run,
        copies=copies,
        as_json=json,
    )


@pages.command()
def stats(project: Project = "", json: Json = False) -> None:
    """Count the pages by kind, conversation and folder."""
    call("pages", "counting", project=project, as_json=json)


@memory.command()
def proposals(every: Decided = False, project: Project = "", json: Json = False) -> None:
    """Show what agents would change in AGENTS.md, as differences."""
    call("memory_files", "listing", every=every, project=project, as_json=json)


@memory.command()
def approve(ids: Proposals, project: Project = "", json: Json = False) -> None:
    """Write proposed changes into the file, together with what was changed in it since."""
    call("memory_files", "approving", ids=ids, project=project, as_json=json)


@memory.command()
def reject(ids: Proposals, project: Project = "", json: Json = False) -> None:
    """Let proposed changes be."""
    call("memory_files", "rejecting", ids=ids, project=project, as_json=json)


@memory.command()
def graph(
    out: GraphFile = "experience.html",  # type: ignore[assignment] # typer parses it
    force: Force = False,
    limit: Limit = 300,
    project: Project = "",
    json: Json = False,
) -> None:
    """Draw how past runs went, and what they teach, as a page."""
    call("experience", "graph", out=out, force=force, limit=limit, project=project, as_json=json)


@memory.command()
def insights(project: Project = "", json: Json = False) -> None:
    """List what past runs teach, the best first."""
    call("experience", "insights", project=project, as_json=json)


@memory.command("import-runs")
def import_runs(
    file: LogFile, vouch: Vouch = False, project: Project = "", json: Json = False
) -> None:
    """Learn from a log of what agents did, one run as JSON on a line.

    {"question": "…", "result": "resolved" | "partial" | "failed", "steps": [{"who": "planner",
    "action": "…", "observation": "…", "step": "s1", "builds_on": [1]}], "insights": [{"content":
    "…", "roles": ["planner"]}], "reason": "…", "run": "…"}; all but question and result may be left
    out. `builds_on` names earlier steps by their places, from 1. Insights are told to later runs if
    they are sentences of Dossier's own methods, or with --vouch.
    """
    call("experience", "import_runs", file=file, vouch=vouch, project=project, as_json=json)
