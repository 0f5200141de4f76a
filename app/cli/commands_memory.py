"""Declare the commands about what was read and what is remembered.

Ingest, pages, search, recall, memory.
"""

from __future__ import annotations

import typer

from app.cli.dispatch import run_command
from app.cli.options import (
    CategoryOption,
    ChatOption,
    DryRunOption,
    EventArgument,
    ExplainOption,
    ExportFileArgument,
    ForceOption,
    GraphFileOption,
    ImportFileArgument,
    IncludeCopiesOption,
    IncludeDecidedOption,
    IncludeEndedOption,
    ItemArgument,
    ItemFilterOption,
    ItemsArgument,
    JsonOption,
    KindOption,
    LimitOption,
    LogFileArgument,
    MemoryFilterOption,
    NamespaceOption,
    OptionalEventArgument,
    OriginOption,
    PageArgument,
    PagesArgument,
    PathsArgument,
    ProjectOption,
    ProposalsArgument,
    QueryArgument,
    QuestionArgument,
    RunArgument,
    RunFilterOption,
    SkipConfirmationOption,
    TextArgument,
    TrustOption,
    UndoRunOption,
    VouchForFileOption,
    VouchForLogOption,
    WholePagesOption,
)

audit_app = typer.Typer()


@audit_app.command("list")
def list_memory_command(
    memory: MemoryFilterOption = "",
    every: IncludeEndedOption = False,
    limit: LimitOption = 20,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """List what each memory keeps, the newest first."""
    options = {"memory": memory, "every": every, "limit": limit}
    run_command("memory_items", "print_item_list", **options, project=project, as_json=json)


@audit_app.command("show")
def show_item_command(
    id: ItemArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Show one thing whole: a fact, an insight, a page, a report, a file or the profile."""
    run_command("memory_items", "print_item", id=id, project=project, as_json=json)


@audit_app.command("search")
def search_memory_command(
    query: QueryArgument,
    memory: MemoryFilterOption = "",
    limit: LimitOption = 5,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Find what fits some words, in every memory."""
    options = {"query": query, "memory": memory, "limit": limit}
    run_command("memory_items", "print_item_search", **options, project=project, as_json=json)


@audit_app.command("add")
def add_fact_command(
    text: TextArgument,
    category: CategoryOption = "",
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Add a fact about yourself."""
    run_command(
        "memory_items",
        "add_stated_fact",
        text=text,
        category=category,
        project=project,
        as_json=json,
    )


@audit_app.command("edit")
def edit_item_command(
    id: ItemArgument, text: TextArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Let a fact or an insight say something else."""
    run_command("memory_items", "edit_item_text", id=id, text=text, project=project, as_json=json)


@audit_app.command("forget")
def forget_items_command(
    ids: ItemsArgument,
    yes: SkipConfirmationOption = False,
    dry_run: DryRunOption = False,
    copies: IncludeCopiesOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Remove things for good, and what was quoted of them: no byte of it is left."""
    how = {"sure": yes, "look": dry_run, "copies": copies}
    run_command("forget", "forget_items", ids=ids, project=project, as_json=json, **how)


@audit_app.command("why")
def why_command(run: RunArgument, project: ProjectOption = "", json: JsonOption = False) -> None:
    """Show what the calls of a run were told, and why that was chosen."""
    run_command("memory_items", "print_reminders", run=run, project=project, as_json=json)


@audit_app.command("log")
def log_command(
    run: RunFilterOption = "",
    item: ItemFilterOption = "",
    limit: LimitOption = 30,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """List the changes of all memories, the newest first."""
    options = {"run": run, "item": item, "limit": limit}
    run_command("memory_changes", "print_event_list", **options, project=project, as_json=json)


@audit_app.command("diff")
def diff_command(
    event: EventArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Show what one event changed."""
    run_command("memory_changes", "print_event_diff", number=event, project=project, as_json=json)


@audit_app.command("undo")
def undo_command(
    event: OptionalEventArgument = None,
    run: UndoRunOption = "",
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Take back an event, or everything that a run has written."""
    run_command(
        "memory_changes", "undo_changes", number=event, run=run, project=project, as_json=json
    )


@audit_app.command("export")
def export_command(
    file: ExportFileArgument = None,
    force: ForceOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Write everything that is remembered to one JSON file."""
    run_command(
        "memory_transfer", "export_to_file", file=file, force=force, project=project, as_json=json
    )


@audit_app.command("import")
def import_command(
    file: ImportFileArgument,
    vouch: VouchForFileOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Add what another home has exported; what is known already is left as it is.

    Without --vouch these are pages, and insights that nobody is told unless they are sentences of
    Dossier's own methods: a file may be anybody's, whatever it says of you.
    """
    run_command(
        "memory_transfer", "import_from_file", file=file, vouch=vouch, project=project, as_json=json
    )


memory_and_pages_app = typer.Typer()

pages_app = typer.Typer(help="List, show, search, remove, forget and count what was read.")
memory_and_pages_app.add_typer(pages_app, name="pages", no_args_is_help=True)

memory_app = typer.Typer(help="List, search, correct and forget what is remembered.")
memory_and_pages_app.add_typer(memory_app, name="memory", no_args_is_help=True)
memory_app.add_typer(audit_app)


@memory_and_pages_app.command("ingest")
def ingest_command(
    paths: PathsArgument = None,
    chat: ChatOption = None,
    project: ProjectOption = "",
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Read folders, files or a chat into memory; what was read before is not read again."""
    if chat and not paths:
        run_command("ingest_chat", chat=chat, project=project, trust=trust, as_json=json)
    run_command(
        "ingest_command", paths=paths or [], chat=chat, project=project, trust=trust, as_json=json
    )


@memory_and_pages_app.command("search")
def search_command(
    query: QueryArgument,
    within: NamespaceOption = "",
    limit: LimitOption = 10,
    explain: ExplainOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Find the pages that answer a question best."""
    run_command(
        "search",
        query=query,
        within=within,
        limit=limit,
        explain=explain,
        project=project,
        as_json=json,
    )


@memory_and_pages_app.command("recall")
def recall_command(
    question: QuestionArgument = "",
    within: NamespaceOption = "",
    pages: WholePagesOption = False,
    project: ProjectOption = "",
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Answer a question from what was read before."""
    run_command(
        "recall_command",
        question=question,
        within=within,
        whole=pages,
        project=project,
        trust=trust,
        as_json=json,
    )


@pages_app.command("list")
def list_pages_command(
    kind: KindOption = "",
    within: NamespaceOption = "",
    limit: LimitOption = 20,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """List the newest pages."""
    run_command(
        "pages",
        "print_page_list",
        kind=kind,
        within=within,
        limit=limit,
        project=project,
        as_json=json,
    )


@pages_app.command("show")
def show_page_command(
    page: PageArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Show a page: where it is from, and what it says."""
    run_command("pages", "print_page", page=page, project=project, as_json=json)


pages_app.command("search")(search_command)


@pages_app.command("remove")
def remove_pages_command(
    ids: PagesArgument = None,
    origin: OriginOption = "",
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Stop searching pages; nothing else changes, and memory undo brings them back."""
    run_command(
        "forget", "remove_named_pages", ids=ids or [], origin=origin, project=project, as_json=json
    )


@pages_app.command("forget")
def forget_pages_command(
    ids: PagesArgument = None,
    origin: OriginOption = "",
    yes: SkipConfirmationOption = False,
    dry_run: DryRunOption = False,
    copies: IncludeCopiesOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Erase pages for good, and whatever says them again; remove only stops searching them."""
    run_command(
        "forget",
        "forget_named_pages",
        ids=ids or [],
        origin=origin,
        project=project,
        sure=yes,
        look=dry_run,
        copies=copies,
        as_json=json,
    )


@pages_app.command("stats")
def page_stats_command(project: ProjectOption = "", json: JsonOption = False) -> None:
    """Count the pages by kind, conversation and folder."""
    run_command("pages", "print_page_counts", project=project, as_json=json)


@memory_app.command("proposals")
def proposals_command(
    every: IncludeDecidedOption = False, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Show what agents would change in AGENTS.md, as differences."""
    run_command("memory_changes", "print_proposals", every=every, project=project, as_json=json)


@memory_app.command("approve")
def approve_command(
    ids: ProposalsArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Write proposed changes into the file, together with what was changed in it since."""
    run_command("memory_changes", "approve_proposals", ids=ids, project=project, as_json=json)


@memory_app.command("reject")
def reject_command(
    ids: ProposalsArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Let proposed changes be."""
    run_command("memory_changes", "reject_proposals", ids=ids, project=project, as_json=json)


@memory_app.command("graph")
def graph_command(
    out: GraphFileOption = "experience.html",  # type: ignore[assignment] # typer parses it
    force: ForceOption = False,
    limit: LimitOption = 300,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Draw how past runs went, and what they teach, as a page."""
    run_command(
        "memory_transfer",
        "write_experience_page",
        out=out,
        force=force,
        limit=limit,
        project=project,
        as_json=json,
    )


@memory_app.command("insights")
def insights_command(project: ProjectOption = "", json: JsonOption = False) -> None:
    """List what past runs teach, the best first."""
    run_command("memory_items", "print_insights", project=project, as_json=json)


@memory_app.command("import-runs")
def import_runs_command(
    file: LogFileArgument,
    vouch: VouchForLogOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Learn from a log of what agents did, one run as JSON on a line.

    {"question": "…", "result": "resolved" | "partial" | "failed", "steps": [{"who": "planner",
    "action": "…", "observation": "…", "step": "s1", "builds_on": [1]}], "insights": [{"content":
    "…", "roles": ["planner"]}], "reason": "…", "run": "…"}; all but question and result may be left
    out. `builds_on` names earlier steps by their places, from 1. Insights are told to later runs if
    they are sentences of Dossier's own methods, or with --vouch.
    """
    run_command(
        "memory_transfer", "import_run_logs", file=file, vouch=vouch, project=project, as_json=json
    )
