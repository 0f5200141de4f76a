"""The options of the commands: how each is written, and what it means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from app.cli.choices import completed


def path(written: str) -> Path:
    """Read a path as a shell would; an empty one would mean the current folder.

    Raises:
        typer.BadParameter: When it is empty.
    """
    if not written.strip():
        msg = "the path is empty"
        raise typer.BadParameter(msg)
    return Path(os.path.expanduser(written))


Docs = Annotated[
    list[Path] | None,
    typer.Option("--docs", parser=path, metavar="PATH", help="A folder or file; may be repeated."),
]
Question = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help="What you want to know, in quotes; - reads standard input.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Approve the plan without showing it.")]
Review = Annotated[bool, typer.Option("--review", help="Stop at the plan; resume decides.")]
Quick = Annotated[bool, typer.Option("--quick", help="Answer from one search, without a plan.")]
Out = Annotated[
    Path | None,
    typer.Option(
        parser=path, metavar="DIR", help="Where the report goes; reports/RUN if not given."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a report that is there.")]
Thread = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Ask in an earlier conversation, or name a new one."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
Project = Annotated[
    str, typer.Option(metavar="NAME|DIR", help="The project whose memory is used, or its folder.")
]
Trust = Annotated[bool, typer.Option("--trust", help="Read AGENTS.md in the project's folder.")]
Choice = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=completed,
        help="A choice of the run, such as max_steps=2; all are listed below. May be repeated.",
    ),
]
ShowRemoved = Annotated[
    bool,
    typer.Option(
        "--removed", help="Show the sentences that the checks took out or doubt, with the reasons."
    ),
]
Name = Annotated[str, typer.Argument(metavar="RUN", help="The run, as `dossier runs` lists it.")]
Keep = Annotated[
    str,
    typer.Option(metavar="AGE", help="How long a run is kept after its end: 12h, 90d, 8w or 1y."),
]
Verdict = Annotated[
    str, typer.Argument(metavar='up|down|"TEXT"', help="What you think of it, in quotes.")
]
Approve = Annotated[bool, typer.Option("--approve", help="Approve the plan.")]
Reject = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Reject the plan; say what is to change.")
]
Plan = Annotated[
    Path | None,
    typer.Option(
        parser=path, metavar="FILE", help="Research the plan in this file: lines of text, or JSON."
    ),
]
Port = Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="The port to listen on.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")]
Jobs = Annotated[
    int, typer.Option(metavar="N", min=1, max=256, help="How many runs work side by side.")
]
Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        parser=path, metavar="PATH", help="Folders and files to read.", show_default=False
    ),
]
Chat = Annotated[
    Path | None,
    typer.Option(parser=path, metavar="FILE", help="Messages to read, one JSON object on a line."),
]
Words = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in quotes.")]
Within = Annotated[
    str,
    typer.Option(
        "--in",
        metavar="NAMESPACE",
        help="Only facts, profile, a kind of page, a conversation or a folder; all is everything.",
    ),
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what adds to each score.")]
Whole = Annotated[bool, typer.Option("--pages", help="Show whole pages, not a passage of each.")]
Kind = Annotated[str, typer.Option(metavar="KIND", help="Only file, web, report or chat.")]
Page = Annotated[str, typer.Argument(metavar="ID", help="The page, as `dossier pages` names it.")]
Pages = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="The pages, by their ids.", show_default=False),
]
From = Annotated[
    str,
    typer.Option("--origin", metavar="X", help="All pages of an address, file, folder or run."),
]
Proposals = Annotated[
    list[str], typer.Argument(metavar="ID", help="The proposals, as they are listed.")
]
Decided = Annotated[bool, typer.Option("--all", help="Those that were decided, too.")]
GraphFile = Annotated[
    Path, typer.Option("--out", parser=path, metavar="FILE", help="Where the page is written.")
]
LogFile = Annotated[
    Path, typer.Argument(parser=path, metavar="FILE", help="The log, one run as JSON on a line.")
]
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only name the files, reports and threads it touches.")
]
Copies = Annotated[
    bool, typer.Option("--copies", help="Also copies that you keep in other places.")
]
Thing = Annotated[
    str, typer.Argument(metavar="ID", help="What, as `dossier memory list` names it.")
]
Things = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="What: facts, pages, insights, files, `profile`, a run."),
]
Wording = Annotated[str, typer.Argument(metavar="TEXT", help="What it says, in quotes.")]
Category = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="preference, knowledge, context, behavior, goal...; else by what it says.",
    ),
]
OnlyOf = Annotated[
    str, typer.Option("--memory", metavar="NAME", help="Only instructions, profile, facts...")
]
Every = Annotated[bool, typer.Option("--all", help="What is only history, too.")]
Number = Annotated[int, typer.Argument(metavar="EVENT", min=1, help="The number in the log.")]
MaybeNumber = Annotated[
    int | None,
    typer.Argument(metavar="EVENT", min=1, help="The number in the log.", show_default=False),
]
OfRun = Annotated[str, typer.Option("--run", metavar="RUN", help="Everything this run wrote.")]
InRun = Annotated[str, typer.Option("--run", metavar="RUN", help="Only events of this run.")]
OfThing = Annotated[str, typer.Option("--id", metavar="ID", help="Only events of this thing.")]
Target = Annotated[
    Path | None,
    typer.Argument(
        parser=path, metavar="FILE", help="Where it goes; standard output if not given."
    ),
]
Given = Annotated[
    Path, typer.Argument(parser=path, metavar="FILE", help="What `dossier memory export` wrote.")
]
Corpus = Annotated[
    Path, typer.Option(parser=path, metavar="FILE", help="The pages, one JSON object on a line.")
]
Queries = Annotated[
    Path, typer.Option(parser=path, metavar="FILE", help="The questions, likewise.")
]
Qrels = Annotated[
    Path | None,
    typer.Option(parser=path, metavar="FILE", help="Which pages answer which question (BEIR)."),
]
GroupField = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Search within pages that agree in it; `group` if there."),
]
Embeddings = Annotated[
    str, typer.Option(metavar="NAME", help="What makes vectors; `none` for words alone.")
]
First = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="The first questions only.")
]
Conversations = Annotated[
    Path, typer.Argument(parser=path, metavar="FILE", help="LoCoMo's JSON file of conversations.")
]
