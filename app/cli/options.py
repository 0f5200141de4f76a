"""The options of the commands: how each is written, and what it means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from app.cli.choices import complete_choice

MAX_INTEGER = 2**63 - 1
"""The largest number that a database can store."""


def parse_path(written: str) -> Path:
    """Read a path as a shell would; an empty one would mean the current folder.

    Raises:
        typer.BadParameter: When it is empty.
    """
    if not written.strip():
        msg = "the path is empty"
        raise typer.BadParameter(msg)
    return Path(os.path.expanduser(written))


DocsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--docs",
        parser=parse_path,
        metavar="PATH",
        help="A folder or file to search; may be repeated.",
    ),
]
QuestionArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help="What you want to know, in quotes; - reads standard input.",
        show_default=False,
    ),
]
ApproveUnseenOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Approve the plan without showing it.")
]
ReviewOption = Annotated[
    bool, typer.Option("--review", help="Stop when the plan is made; dossier resume goes on.")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Answer from one search, without a plan.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        parser=parse_path,
        metavar="DIR",
        help="The folder the report goes to; reports/RUN if not given.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
ThreadOption = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Ask in an earlier conversation, or name a new one."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")]
ProjectOption = Annotated[
    str,
    typer.Option(
        metavar="NAME|DIR", help="The project whose memory is used: its name or its folder."
    ),
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Trust the project's folder, and read its AGENTS.md.")
]
ChoiceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=complete_choice,
        help="A choice of the run, such as max_steps=2; all are listed below. May be repeated.",
    ),
]
CapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Raise a limit: max_cost, max_tokens, max_calls or max_minutes. May be repeated.",
    ),
]
ShowRemovedOption = Annotated[
    bool,
    typer.Option(
        "--removed", help="Show the sentences that the checks took out or doubt, with the reasons."
    ),
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="The name of the run, as dossier runs lists it.")
]
KeepOption = Annotated[
    str,
    typer.Option(metavar="AGE", help="How long a run is kept after its end: 12h, 90d, 8w or 1y."),
]
VerdictArgument = Annotated[
    str,
    typer.Argument(
        metavar='up|down|"TEXT"', help="up, down, or what was wrong with it, in quotes."
    ),
]
ApproveOption = Annotated[bool, typer.Option("--approve", help="Approve the plan.")]
RejectOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Reject the plan; say what is to change.")
]
PlanOption = Annotated[
    Path | None,
    typer.Option(
        parser=parse_path,
        metavar="FILE",
        help="Research the plan in this file: lines of text, or JSON.",
    ),
]
PortOption = Annotated[
    int, typer.Option(metavar="PORT", min=1, max=65535, help="The port to listen on.")
]
HostOption = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")]
RenewOption = Annotated[
    bool, typer.Option("--renew", help="Make a new token; the old one stops working at once.")
]
JobsOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=256, help="How many runs work side by side.")
]
PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        parser=parse_path, metavar="PATH", help="Folders and files to read.", show_default=False
    ),
]
ChatOption = Annotated[
    Path | None,
    typer.Option(
        parser=parse_path, metavar="FILE", help="Messages to read, one JSON object on a line."
    ),
]
QueryArgument = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in quotes.")]
NamespaceOption = Annotated[
    str,
    typer.Option(
        "--in",
        metavar="NAMESPACE",
        help="Only facts, profile, a kind of page (file, web, report, chat), a conversation "
        "or a folder; all for everything.",
    ),
]
LimitOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=10_000, help="How many are shown at most.")
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")]
WholePagesOption = Annotated[
    bool, typer.Option("--pages", help="Show whole pages, not a passage of each.")
]
KindOption = Annotated[
    str, typer.Option(metavar="KIND", help="Only pages of this kind: file, web, report or chat.")
]
PageArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id of the page, as dossier pages list shows it.")
]
PagesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", help="The ids of pages, as dossier pages list shows them.", show_default=False
    ),
]
OriginOption = Annotated[
    str,
    typer.Option(
        "--origin", metavar="X", help="All pages of a web address, a file, a folder or a run."
    ),
]
ProposalsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="ID", help="The ids of proposals, as dossier memory proposals shows them."
    ),
]
IncludeDecidedOption = Annotated[
    bool, typer.Option("--all", help="Also those that were approved or rejected.")
]
GraphFileOption = Annotated[
    Path, typer.Option("--out", parser=parse_path, metavar="FILE", help="The file to write.")
]
LogFileArgument = Annotated[
    Path,
    typer.Argument(parser=parse_path, metavar="FILE", help="The log: one run on a line, as JSON."),
]
VouchForLogOption = Annotated[
    bool,
    typer.Option(
        "--vouch",
        help="Tell later runs the insights of the log as worded, and what it says you said.",
    ),
]
FolderArgument = Annotated[
    Path,
    typer.Argument(parser=parse_path, metavar="DIR", help="The folder; the current one if none."),
]
EnvFileArgument = Annotated[
    Path,
    typer.Argument(parser=parse_path, metavar="FILE", help="The file; .env of the current folder."),
]
SkipConfirmationOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
DryRunOption = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Change nothing; name the files, reports and conversations it would change.",
    ),
]
IncludeCopiesOption = Annotated[
    bool, typer.Option("--copies", help="Also forget the copies that you keep in other folders.")
]
ItemArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id, as dossier memory list shows it.")
]
ItemsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="ID", help="The ids of facts, pages, insights, files or runs; or profile."
    ),
]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What it is to say, in quotes.")]
CategoryOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="preference, knowledge, context, behavior, goal or correction; "
        "found out if not given.",
    ),
]
MemoryFilterOption = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="NAME",
        help="Only this memory: instructions, profile, facts, experience, reports or pages.",
    ),
]
IncludeEndedOption = Annotated[bool, typer.Option("--all", help="Also what no longer holds.")]
EventArgument = Annotated[
    int,
    typer.Argument(
        metavar="EVENT",
        min=1,
        max=MAX_INTEGER,
        help="The number of a change, as dossier memory log shows it.",
    ),
]
OptionalEventArgument = Annotated[
    int | None,
    typer.Argument(
        metavar="EVENT",
        min=1,
        max=MAX_INTEGER,
        help="The number of a change, as dossier memory log shows it.",
        show_default=False,
    ),
]
UndoRunOption = Annotated[
    str, typer.Option("--run", metavar="RUN", help="Take back everything that this run wrote.")
]
RunFilterOption = Annotated[
    str, typer.Option("--run", metavar="RUN", help="Only changes made by this run.")
]
ItemFilterOption = Annotated[
    str, typer.Option("--id", metavar="ID", help="Only changes of the thing with this id.")
]
ExportFileArgument = Annotated[
    Path | None,
    typer.Argument(
        parser=parse_path, metavar="FILE", help="The file to write; standard output if not given."
    ),
]
ImportFileArgument = Annotated[
    Path,
    typer.Argument(
        parser=parse_path, metavar="FILE", help="A file that dossier memory export wrote."
    ),
]
VouchForFileOption = Annotated[
    bool,
    typer.Option(
        "--vouch",
        help="The file is yours: also add facts, profile, memory files and log, and tell later runs"
        " its insights as they are worded.",
    ),
]
CorpusOption = Annotated[
    Path,
    typer.Option(parser=parse_path, metavar="FILE", help="The pages, one JSON object on a line."),
]
QueriesOption = Annotated[
    Path,
    typer.Option(
        parser=parse_path, metavar="FILE", help="The questions, one JSON object on a line."
    ),
]
QrelsOption = Annotated[
    Path | None,
    typer.Option(
        parser=parse_path,
        metavar="FILE",
        help="Which pages answer which question, as in the BEIR data sets.",
    ),
]
GroupFieldOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Search for each question only among pages with the same value in this field; "
        "group if there is one.",
    ),
]
EmbeddingsOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What makes the vectors of pages, as provider:model; none to search by words alone.",
    ),
]
QuestionLimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        max=MAX_INTEGER,
        help="Ask only this many questions, from the first on.",
    ),
]
LocomoFileArgument = Annotated[
    Path,
    typer.Argument(
        parser=parse_path,
        metavar="FILE",
        help="The file of conversations of the LoCoMo data set, in JSON.",
    ),
]
