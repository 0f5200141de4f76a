"""The options of the commands: how each is written, and what it means."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from app.cli.choices import complete_choice
from config.environment import ENV_FILE_NAME

MAX_INTEGER = 2**63 - 1
"""The largest number that a database can store."""


REQUIRED = Parameter.empty


def parse_path(written: str) -> Path:
    """Read a path as a shell would; an empty one would mean the current folder.

    Raises:
        typer.BadParameter: When it is empty.
    """
    if not written.strip():
        msg = "the path is empty"
        raise typer.BadParameter(msg)
    return Path(os.path.expanduser(written))


def _flag(name: str, help: str, *spellings: str) -> Parameter:
    """Return a switch, which is off if it is not given; `--name` unless it is spelt otherwise."""
    spelt = spellings or [f"--{name.replace('_', '-')}"]
    return _keyword(name, False, partial(typer.Option, *spelt), kind=bool, help=help)


def _option(
    name: str, metavar: str, help: str, default: Any = "", *spellings: str, **more: Any
) -> Parameter:
    """Return an option with a value; `--name` unless it is spelt otherwise."""
    declare = partial(typer.Option, *spellings)
    return _keyword(name, default, declare, metavar=metavar, help=help, **more)


def _argument(
    name: str, metavar: str, help: str, default: Any = REQUIRED, **more: Any
) -> Parameter:
    """Return a word of the command itself; without a default it is required."""
    return _keyword(name, default, typer.Argument, metavar=metavar, help=help, **more)


def _keyword(
    name: str, default: Any, declare: Callable[..., Any], *, kind: Any = str, **more: Any
) -> Parameter:
    """Return a parameter as a keyword of the function of a command, as typer reads it."""
    parser = parse_path if kind in (Path, Path | None, list[Path] | None) else None
    annotation = cast("Any", Annotated)[kind, declare(parser=parser, **more)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def limit(default: int) -> Parameter:
    """Return the option that says how many are shown at most."""
    return _option(
        "limit", "N", "How many are shown at most.", default, kind=int, min=1, max=10_000
    )


PROGRESS = _option(
    "progress",
    "FORM",
    "How progress is shown on standard error: auto (moving on a terminal), plain, json (a line "
    "for each event) or off.",
    "auto",
)

JSON = _flag("as_json", "Print the result as one line of JSON.", "--json")

_PROJECT = _option(
    "project", "NAME|DIR", "The project whose memory is used: its name or its folder."
)
_TRUST = _flag("trust", "Trust the project's folder, and read its AGENTS.md.")

PROJECT = (_PROJECT, JSON)
"""This is given to a function as its `invocation`."""

TRUSTED = (_PROJECT, _TRUST)
"""With `JSON`, of a command that reads the memory files of a folder: a person is asked first."""

QUESTION = _argument(
    "question",
    "QUESTION",
    "What you want to know, in quotes; - reads standard input.",
    "",
    show_default=False,
)
DOCS = _option(
    "docs", "PATH", "A folder or file to search; may be repeated.", None, kind=list[Path] | None
)
APPROVE_UNSEEN = _flag("yes", "Approve the plan without showing it.", "--yes", "-y")
REVIEW = _flag("review", "Stop when the plan is made; dossier resume goes on.")
QUICK = _flag("quick", "Answer from one search, without a plan.")
WEB = _keyword(
    "web",
    None,
    partial(typer.Option, "--web/--no-web"),
    kind=bool | None,
    help="Search the web as well, without a key if none is set; or do not search it.",
)
DEPTH = _option(
    "depth", "DEPTH", "How deep to research: quick, standard (the default) or deep.", "", kind=str
)
LENGTH = _option(
    "length",
    "LENGTH",
    "How long the report is: brief, standard (the default) or long.",
    "",
    kind=str,
)
AGAIN = _option(
    "again",
    "CHOICE",
    "For a question answered before: reuse, refresh, deepen or new; else it is asked.",
    "",
    kind=str,
)
OUT = _option(
    "out", "DIR", "The folder the report goes to; reports/RUN if not given.", None, kind=Path | None
)
FORCE = _flag("force", "Replace files that are there already.")
THREAD = _option(
    "thread", "ID", "Ask in an earlier conversation, or name a new one.", None, kind=str | None
)
CHOICE = _option(
    "choice",
    "NAME=VALUE",
    "A choice of the run, such as max_steps=2; all are listed below. May be repeated.",
    None,
    "--set",
    kind=list[str] | None,
    autocompletion=complete_choice,
)
CAP = _option(
    "cap",
    "NAME=VALUE",
    "Raise a limit: max_cost, max_tokens, max_calls or max_minutes. May be repeated.",
    None,
    "--set",
    kind=list[str] | None,
)
BASE = _argument("name", "NAME", "The name of the knowledge base.")
BASES = _argument(
    "names", "NAME", "Which knowledge bases.", None, kind=list[str] | None, show_default=False
)
BASE_LOCATION = _argument(
    "location", "PATH|URL", "A folder, or the address of a bucket, an archive or a service."
)
BASE_ABOUT = _option("about", "TEXT", "What it answers, in the words of those who ask.", REQUIRED)
BASE_KIND = _option(
    "kind",
    "KIND",
    "folder, bucket, elasticsearch, opensearch, dify or ragflow; services have to be named.",
)
BASE_OPTION = _option(
    "options",
    "NAME=VALUE",
    "More about it, such as dataset=ID or hyde=true. May be repeated.",
    None,
    "--option",
    kind=list[str] | None,
)
EVERY = _option(
    "every",
    "WHEN",
    'hourly, daily, weekly, monthly (at 7:00), or a cron expression such as "0 7 * * 1".',
    REQUIRED,
)
ZONE = _option(
    "zone", "ZONE", "The time zone it is meant in, such as Europe/Berlin; this machine's if none."
)
NOTIFY = _option(
    "notify",
    "RECEIVER",
    "Who is told: webhook:URL or mail:ADDRESS. May be repeated.",
    None,
    kind=list[str] | None,
)
ALWAYS = _flag("always", "Tell them as well when nothing has changed.")
WATCH_NAME = _option("name", "NAME", "What the watch is called; a name is made up if none.")
WATCH = _argument("name", "NAME", "The name of the watch.")
DUE_WATCH = _argument(
    "name", "NAME", "A watch to ask now; all that are due if none.", "", show_default=False
)
ALL_WATCHES = _flag("everybody", "Ask the watches of all users and projects.")
REMOVED = _flag(
    "removed", "Show the sentences that the checks took out or doubt, with the reasons."
)
SOURCE = _option(
    "source",
    "N|ID",
    "Show what the report uses of a source: its number there, or its id such as S7.",
    None,
    kind=str | None,
)
WHOLE_REPORT = _flag("report", "Show the report, and what became of it since.")
RUN = _argument("run", "RUN", "The name of the run, as dossier runs lists it.")
RUN_BEFORE = _argument("before", "RUN1", "The run of the earlier version.")
RUN_AFTER = _argument("after", "RUN2", "The run of the later version.")
FORMAT = _option(
    "format", "FORMAT", "md, html, pdf, docx, epub, csv, json, bib or csl.", "", kind=str
)
DIFF_PAGE = _option(
    "html", "FILE", "Write a page with both versions to this file.", None, kind=Path | None
)
EXPORT_STYLE = _option(
    "style",
    "STYLE",
    "How sources are cited: numeric, author-year or footnotes; each format has one that is usual.",
    "",
    kind=str,
)
EXPORT_OUT = _option(
    "out",
    "FILE",
    "The file to write; the name of the run in this folder if not given.",
    None,
    kind=Path | None,
)
KEEP = _option("keep", "AGE", "How long a run is kept after its end: 12h, 90d, 8w or 1y.", "90d")
KEEP_LAST = _option(
    "keep_last",
    "N",
    "Keep the N newest conversations of each user, however old they are.",
    0,
    "--keep-last",
    kind=int,
    min=0,
    max=MAX_INTEGER,
)
EVERYBODY = _flag("everybody", "The runs of all users and projects, not only of yours.")
DRY_RUN = _flag("dry_run", "Only show what would be deleted, and about how much that is.")
VERDICT = _argument("words", 'up|down|"TEXT"', "up, down, or what was wrong with it, in quotes.")
APPROVE = _flag("approve", "Approve the plan.")
REJECT = _option("reject", "TEXT", "Reject the plan; say what is to change.", None, kind=str | None)
PLAN = _option(
    "plan",
    "FILE",
    "Research the plan in this file: lines of text, or JSON.",
    None,
    kind=Path | None,
)
ANSWER = _option(
    "answer",
    "ID=TEXT",
    "Answer a question of the plan or of a step, by the number of an option or in words; "
    "yes or no for a tool that waits. May be repeated.",
    None,
    kind=list[str] | None,
)
PORT = _option("port", "PORT", "The port to listen on.", 8123, kind=int, min=1, max=65535)
HTTP = _flag("http", "Serve by streamable HTTP on this machine; each request needs the token.")
MCP_PORT = _option(
    "port", "PORT", "The port to listen on with --http.", 8124, kind=int, min=1, max=65535
)
PLAN_REVIEW = _flag("review", "Let every run wait for your approval of its plan.")
SERVED_DOCS = _option(
    "docs",
    "PATH",
    "A folder or file that runs search; clients can name no other. May be repeated.",
    None,
    kind=list[Path] | None,
)
HOST = _option("host", "ADDRESS", "The address to listen on.", "127.0.0.1")
RENEW = _flag("renew", "Make a new token; the old one stops working at once.")
USER_NAME = _argument("name", "NAME", "The name of the user.")
COST_MONTH = _option(
    "cost_month",
    "DOLLARS",
    "The most US dollars that their runs may cost in a month; or default, as for everybody.",
    "",
    "--cost-month",
)
OPERATOR_ROLE = _flag("operator", "Let them run the server, and not only use it.")
OWNS_LOCAL = _flag("owns_local", "Hand them what this installation has stored without users.")
RESTORE = _flag("restore", "Add again who was removed, with everything that they have stored.")
TOKEN_LIFETIME = _option(
    "expires", "TIME", "How long the token is valid, such as 90d; for ever if not given."
)
TOKEN_LABEL = _option("label", "TEXT", "What the token is for.")
USER_OR_TOKEN = _argument(
    "named",
    "NAME|TOKEN",
    "A user, or a token: by its id, as dossier users list shows it, or whole.",
)
JOBS = _option("jobs", "N", "How many runs work side by side.", 32, kind=int, min=1, max=256)
PATHS = _argument(
    "paths", "PATH", "Folders and files to read.", None, kind=list[Path] | None, show_default=False
)
CHAT = _option(
    "chat", "FILE", "Messages to read, one JSON object on a line.", None, kind=Path | None
)
QUERY = _argument("query", "QUERY", "What to look for, in quotes.")
NAMESPACE = _option(
    "within",
    "NAMESPACE",
    "Only facts, profile, a kind of page (file, web, report, chat), a conversation "
    "or a folder; all for everything.",
    "",
    "--in",
)
EXPLAIN = _flag("explain", "Show what each score is made of.")
WHOLE_PAGES = _flag("pages", "Show whole pages, not a passage of each.")
KIND = _option("kind", "KIND", "Only pages of this kind: file, web, report, chat or knowledge.")
PAGE = _argument("page", "ID", "The id of the page, as dossier pages list shows it.")
PAGES = (
    _argument(
        "ids",
        "ID",
        "The ids of pages, as dossier pages list shows them.",
        None,
        kind=list[str] | None,
        show_default=False,
    ),
    _option("origin", "X", "All pages of a web address, a file, a folder or a run."),
)
PROPOSALS = _argument(
    "ids", "ID", "The ids of proposals, as dossier memory proposals shows them.", kind=list[str]
)
SERVER = _argument("server", "NAME", "The name of an MCP server, as in mcp.json.")
DECIDED = _flag("every", "Also those that were approved or rejected.", "--all")
GRAPH_FILE = _option("out", "FILE", "The file to write.", "experience.html", kind=Path)
LOG_FILE = _argument("file", "FILE", "The log: one run on a line, as JSON.", kind=Path)
VOUCH_FOR_LOG = _flag(
    "vouch", "Tell later runs the insights of the log as worded, and what it says you said."
)
FOLDER = _argument("folder", "DIR", "The folder; the current one if none.", ".", kind=Path)
ENV_FILE = _argument(
    "file", "FILE", "The file; .env of the current folder.", ENV_FILE_NAME, kind=Path
)
YES = _flag("yes", "Do not ask first.", "--yes", "-y")
FORGETTING = (
    YES,
    _flag("dry_run", "Change nothing; name the files, reports and conversations it would change."),
    _flag("copies", "Also forget the copies that you keep in other folders."),
)
ITEM = _argument("id", "ID", "The id, as dossier memory list shows it.")
ITEMS = _argument(
    "ids", "ID", "The ids of facts, pages, insights, files or runs; or profile.", kind=list[str]
)
TEXT = _argument("text", "TEXT", "What it is to say, in quotes.")
CATEGORY = _option(
    "category",
    "NAME",
    "preference, knowledge, context, behavior, goal or correction; found out if not given.",
)
MEMORY = _option(
    "memory",
    "NAME",
    "Only this memory: instructions, profile, facts, experience, reports or pages.",
)
ENDED = _flag("every", "Also what no longer holds.", "--all")
_EVENT_HELP = "The number of a change, as dossier memory log shows it."
EVENT = _argument("event", "EVENT", _EVENT_HELP, kind=int, min=1, max=MAX_INTEGER)
UNDONE = (
    _argument(
        "event",
        "EVENT",
        _EVENT_HELP,
        None,
        kind=int | None,
        min=1,
        max=MAX_INTEGER,
        show_default=False,
    ),
    _option("run", "RUN", "Take back everything that this run wrote."),
)
EVENTS = (
    _option("run", "RUN", "Only changes made by this run."),
    _option("item", "ID", "Only changes of the thing with this id.", "", "--id"),
)
EXPORT_FILE = _argument(
    "file", "FILE", "The file to write; standard output if not given.", None, kind=Path | None
)
BACKUP_FILE = _argument("file", "FILE", "The file to write.", kind=Path)
RESTORED_FILE = _argument("file", "FILE", "A file that dossier backup wrote.", kind=Path)
CHECK_ONLY = _flag("check", "Only read it, and say whether it is whole.")
IMPORT_FILE = _argument("file", "FILE", "A file that dossier memory export wrote.", kind=Path)
VOUCH_FOR_FILE = _flag(
    "vouch",
    "The file is yours: also add facts, profile, memory files and log, and tell later runs"
    " its insights as they are worded.",
)
DATA_SET = (
    _option("corpus", "FILE", "The pages, one JSON object on a line.", REQUIRED, kind=Path),
    _option("queries", "FILE", "The questions, one JSON object on a line.", REQUIRED, kind=Path),
    _option(
        "qrels",
        "FILE",
        "Which pages answer which question, as in the BEIR data sets.",
        None,
        kind=Path | None,
    ),
    _option(
        "group_field",
        "NAME",
        "Search for each question only among pages with the same value in this field; "
        "group if there is one.",
        None,
        kind=str | None,
    ),
)
EMBEDDINGS = _option(
    "embeddings",
    "NAME",
    "What makes the vectors of pages, as provider:model; none to search by words alone.",
)
QUESTION_LIMIT = _option(
    "limit",
    "N",
    "Ask only this many questions, from the first on.",
    None,
    kind=int | None,
    min=1,
    max=MAX_INTEGER,
)
LOCOMO_FILE = _argument(
    "file", "FILE", "The file of conversations of the LoCoMo data set, in JSON.", kind=Path
)
BENCHMARK = (
    _argument(
        "folder", "DIR", "The folder of DeepResearch Bench, or one with its files.", kind=Path
    ),
    _option(
        "reports",
        "PATH",
        "Score the reports in this file or folder; Dossier writes them if not given.",
        None,
        kind=Path | None,
    ),
    _option("name", "NAME", "What is evaluated; names the files of the results."),
    _option(
        "out",
        "DIR",
        "The folder for reports, answers and results.",
        "deep_research_bench",
        kind=Path,
    ),
    _option("judge", "MODEL", "Who judges, as provider:name; the checker's model if not given."),
    _option("fact_judge", "MODEL", "Who judges citations, if it is another model."),
    _option("only", "PART", "Only race (the reports) or only fact (their citations)."),
    _option("language", "CODE", "Only tasks in this language: en or zh."),
    _option(
        "limit",
        "N",
        "Only this many tasks, from the first on.",
        None,
        kind=int | None,
        min=1,
        max=MAX_INTEGER,
    ),
    _option(
        "parallel", "N", "How many calls or runs are made side by side.", 4, kind=int, min=1, max=64
    ),
    _option(
        "reference",
        "FILE",
        "The reference reports, if they are not in the folder.",
        None,
        kind=Path | None,
    ),
    _flag("skip_cleaning", "Compare reports as they are, with their citations."),
    _flag("make_criteria", "Have the judge write criteria that are missing."),
    _flag("retry_failed", "Ask once more what the judge gave no usable answer to."),
    CHOICE,
    _flag("dry_run", "Print what it will cost, and do nothing."),
    YES,
)
VERIFIED = _argument(
    "report",
    "REPORT",
    "The file of a report: Markdown, HTML or a bundle in JSON; or a run by its name.",
)
VERIFIED_DOCS = _option(
    "docs",
    "PATH",
    "A folder or file with what the report rests on; may be repeated.",
    None,
    kind=list[Path] | None,
)
SUPPORT = _flag("support", "Let the checker's model grade how far each claim is supported.")
SUPPORT_MODEL = _option(
    "model", "MODEL", "The same by this model, as provider:name; it is paid for."
)
SUPPORT_COST = _option(
    "max_cost",
    "DOLLARS",
    "The most that grading may cost; that of a run if not given.",
    None,
    kind=float | None,
    min=0.0,
)
COMPLETE = _flag("complete", "The documents are all that the report may cite.")
FIGURES_OF = _argument(
    "reports",
    "REPORT",
    "Runs by their names, or files of reports.",
    None,
    kind=list[str] | None,
    show_default=False,
)
