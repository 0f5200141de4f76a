"""The commands that let a person see, correct and take back what is remembered."""

from __future__ import annotations

import typer

from app.cli.calling import call
from app.cli.options import (
    Category,
    Copies,
    DryRun,
    Every,
    Force,
    Given,
    InRun,
    Json,
    Limit,
    MaybeNumber,
    Name,
    Number,
    OfRun,
    OfThing,
    OnlyOf,
    Project,
    Sure,
    Target,
    Thing,
    Things,
    VouchFile,
    Wording,
    Words,
)

app = typer.Typer()


@app.command("list")
def list_memory(
    memory: OnlyOf = "",
    every: Every = False,
    limit: Limit = 20,
    project: Project = "",
    json: Json = False,
) -> None:
    """List what each memory keeps, the newest first."""
    options = {"memory": memory, "every": every, "limit": limit}
    call("memories", "listing", **options, project=project, as_json=json)


@app.command()
def show(id: Thing, project: Project = "", json: Json = False) -> None:
    """Show one thing whole: a fact, an insight, a page, a report, a file or the profile."""
    call("memories", "showing", id=id, project=project, as_json=json)


@app.command()
def search(
    query: Words, memory: OnlyOf = "", limit: Limit = 5, project: Project = "", json: Json = False
) -> None:
    """Find what fits some words, in every memory."""
    options = {"query": query, "memory": memory, "limit": limit}
    call("memories", "searching", **options, project=project, as_json=json)


@app.command()
def add(text: Wording, category: Category = "", project: Project = "", json: Json = False) -> None:
    """Add a fact about yourself."""
    call("memories", "adding", text=text, category=category, project=project, as_json=json)


@app.command()
def edit(id: Thing, text: Wording, project: Project = "", json: Json = False) -> None:
    """Let a fact or an insight say something else."""
    call("memories", "editing", id=id, text=text, project=project, as_json=json)


@app.command()
def forget(
    ids: Things,
    yes: Sure = False,
    dry_run: DryRun = False,
    copies: Copies = False,
    project: Project = "",
    json: Json = False,
) -> None:
    """Remove things for good, and what was quoted of them: no byte of it is left."""
    how = {"sure": yes, "look": dry_run, "copies": copies}
    call("forget", "forgetting", ids=ids, project=project, as_json=json, **how)


@app.command()
def why(run: Name, project: Project = "", json: Json = False) -> None:
    """Show what the calls of a run were told, and why that was chosen."""
    call("memory_why", run=run, project=project, as_json=json)


@app.command("log")
def show_log(
    run: InRun = "",
    item: OfThing = "",
    limit: Limit = 30,
    project: Project = "",
    json: Json = False,
) -> None:
    """List the changes of all memories, the newest first."""
    options = {"run": run, "item": item, "limit": limit}
    call("memory_log", "listing", **options, project=project, as_json=json)


@app.command()
def diff(event: Number, project: Project = "", json: Json = False) -> None:
    """Show what one event changed."""
    call("memory_log", "differing", number=event, project=project, as_json=json)


@app.command()
def undo(
    event: MaybeNumber = None, run: OfRun = "", project: Project = "", json: Json = False
) -> None:
    """Take back an event, or everything that a run has written."""
    call("memory_log", "undoing", number=event, run=run, project=project, as_json=json)


@app.command()
def export(
    file: Target = None, force: Force = False, project: Project = "", json: Json = False
) -> None:
    """Write everything that is remembered to one JSON file."""
    call("memory_moves", "exporting", file=file, force=force, project=project, as_json=json)


@app.command("import")
def import_memory(
    file: Given, vouch: VouchFile = False, project: Project = "", json: Json = False
) -> None:
    """Add what another home has exported; what is known already is left as it is.

    Without --vouch these are pages, and insights that nobody is told unless they are sentences of
    Dossier's own methods: a file may be anybody's, whatever it says of you.
    """
    call("memory_moves", "importing", file=file, vouch=vouch, project=project, as_json=json)
