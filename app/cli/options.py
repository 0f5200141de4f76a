"""The options of the commands: how each is written, and what it means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from app.cli.choices import completed

MOST = 2**63 - 1
"""The largest number that a database can store."""


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
    typer.Option(
        "--docs", parser=path, metavar="PATH", help="A folder or file to search; may be repeated."
    ),
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
Review = Annotated[
    bool, typer.Option("--review", help="Stop when the plan is made; dossier resume goes on.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Answer from one search, without a plan.")]
Out = Annotated[
    Path | None,
    typer.Option(
        parser=path, metavar="DIR", help="The folder the report goes to; reports/RUN if not given."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Thread = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Ask in an earlier conversation, or name a new one."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")]
Project = Annotated[
    str,
    typer.Option(
        metavar="NAME|DIR", help="The project whose memory is used: its name or its folder."
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Trust the project's folder, and read its AGENTS.md.")
]
Choice = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=completed,
        help="A choice of the run, such as max_steps=2; all are listed below. May be repeated.",
    ),
]
Cap = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Raise a limit: max_cost, max_tokens, max_calls or max_minutes. May be repeated.",
    ),
]
ShowRemoved = Annotated[
    bool,
    typer.Option(
        "--removed", help="Show the sentences that the checks took out or doubt, with the reasons."
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="RUN", help="The name of the run, as dossier runs lists it.")
]
Keep = Annotated[
    str,
    typer.Option(metavar="AGE", help="How long a run is kept after its end: 12h, 90d, 8w or 1y."),
]
Verdict = Annotated[
    str,
    typer.Argument(
        metavar='up|down|"TEXT"', help="up, down, or what was wrong with it, in quotes."
    ),
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
Renew = Annotated[
    bool, typer.Option("--renew", help="Make a new token; the old one stops working at once.")
]
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
        help="Only facts, profile, a kind of page (file, web, report, chat), a conversation "
        "or a folder; all for everything.",
    ),
]
Limit = Annotated[
    int, typer.Option(metavar="N", min=1, max=10_000, help="How many are shown at most.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")]
Whole = Annotated[bool, typer.Option("--pages", help="Show whole pages, not a passage of each.")]
Kind = Annotated[
    str, typer.Option(metavar="KIND", help="Only pages of this kind: file, web, report or chat.")
]
Page = Annotated[
    str, typer.Argument(metavar="ID", help="The id of the page, as dossier pages list shows it.")
]
Pages = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", help="The ids of pages, as dossier pages list shows them.", show_default=False
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--origin", metavar="X", help="All pages of a web address, a file, a folder or a run."
    ),
]
Proposals = Annotated[
    list[str],
    typer.Argument(
        metavar="ID", help="The ids of proposals, as dossier memory proposals shows them."
    ),
]
Decided = Annotated[bool, typer.Option("--all", help="Also those that were approved or rejected.")]
GraphFile = Annotated[
    Path, typer.Option("--out", parser=path, metavar="FILE", help="The file to write.")
]
LogFile = Annotated[
    Path, typer.Argument(parser=path, metavar="FILE", help="The log: one run on a line, as JSON.")
]
Vouch = Annotated[
    bool,
    typer.Option(
        "--vouch",
        help="Tell later runs the insights of the log as worded, and what it says you said.",
    ),
]
Folder = Annotated[
    Path, typer.Argument(parser=path, metavar="DIR", help="The folder; the current one if none.")
]
EnvFile = Annotated[
    Path,
    typer.Argument(parser=path, metavar="FILE", help="The file; .env of the current folder."),
]
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Change nothing; name the files, reports and conversations it would change.",
    ),
]
Copies = Annotated[
    bool, typer.Option("--copies", help="Also forget the copies that you keep in other folders.")
]
Thing = Annotated[
    str, typer.Argument(metavar="ID", help="The id, as dossier memory list shows it.")
]
Things = Annotated[
    list[str],
    typer.Argument(
        metavar="ID", help="The ids of facts, pages, insights, files or runs; or profile."
    ),
]
Wording = Annotated[str, typer.Argument(metavar="TEXT", help="What it is to say, in quotes.")]
Category = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="preference, knowledge, context, behavior, goal or correction; "
        "found out if not given.",
    ),
]
OnlyOf = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="NAME",
        help="Only this memory: instructions, profile, facts, experience, reports or pages.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Also what no longer holds.")]
Number = Annotated[
    int,
    typer.Argument(
        metavar="EVENT",
        min=1,
        max=MOST,
        help="The number of a change, as dossier memory log shows it.",
    ),
]
MaybeNumber = Annotated[
    int | None,
    typer.Argument(
        metavar="EVENT",
        min=1,
        max=MOST,
        help="The number of a change, as dossier memory log shows it.",
        show_default=False,
    ),
]
OfRun = Annotated[
    str, typer.Option("--run", metavar="RUN", help="Take back everything that this run wrote.")
]
InRun = Annotated[str, typer.Option("--run", metavar="RUN", help="Only changes made by this run.")]
OfThing = Annotated[
    str, typer.Option("--id", metavar="ID", help="Only changes of the thing with this id.")
]
Target = Annotated[
    Path | None,
    typer.Argument(
        parser=path, metavar="FILE", help="The file to write; standard output if not given."
    ),
]
Given = Annotated[
    Path,
    typer.Argument(parser=path, metavar="FILE", help="A file that dossier memory export wrote."),
]
VouchFile = Annotated[
    bool,
    typer.Option(
        "--vouch",
        help="The file is yours: also add facts, profile, memory files and log, and tell later runs"
        " its insights as they are worded.",
    ),
]
Corpus = Annotated[
    Path, typer.Option(parser=path, metavar="FILE", help="The pages, one JSON object on a line.")
]
Queries = Annotated[
    Path,
    typer.Option(parser=path, metavar="FILE", help="The questions, one JSON object on a line."),
]
Qrels = Annotated[
    Path | None,
    typer.Option(
        parser=path,
        metavar="FILE",
        help="Which pages answer which question, as in the BEIR data sets.",
    ),
]
GroupField = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Search for each question only among pages with the same value in this field; "
        "group if there is one.",
    ),
]
Embeddings = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What makes the vectors of pages, as provider:model; none to search by words alone.",
    ),
]
First = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        max=MOST,
        help="Ask only this many questions, from the first on.",
    ),
]
Conversations = Annotated[
    Path,
    typer.Argument(
        parser=path,
        metavar="FILE",
        help="The file of conversations of the LoCoMo data set, in JSON.",
    ),
]
