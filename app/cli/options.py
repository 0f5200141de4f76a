"""The options of the commands: how each is written, and what it means."""

from __future__ import annotations

import os
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from app.cli.choices import complete_choice
from config.environment import ENV_FILE_NAME

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


def _flag(name: str, help: str, *spellings: str) -> Parameter:
    """Return a switch, which is off if it is not given; `--name` unless it is spelt otherwise."""
    spelt = typer.Option(*(spellings or [f"--{name.replace('_', '-')}"]), help=help)
    return _keyword(name, bool, spelt, default=False)


def _option(
    name: str, kind: Any, metavar: str, help: str, default: Any, *spellings: str, **more: Any
) -> Parameter:
    """Return an option with a value; without a default it is required."""
    parser = _parser(kind)
    spelt = typer.Option(*spellings, metavar=metavar, help=help, parser=parser, **more)
    return _keyword(name, kind, spelt, default)


def _argument(
    name: str, kind: Any, metavar: str, help: str, default: Any = Parameter.empty, **more: Any
) -> Parameter:
    """Return a word of the command itself; without a default it is required."""
    spelt = typer.Argument(metavar=metavar, help=help, parser=_parser(kind), **more)
    return _keyword(name, kind, spelt, default)


def _parser(kind: Any) -> Any:
    return parse_path if kind in (Path, Path | None, list[Path] | None) else None


def _keyword(name: str, kind: Any, spelt: Any, default: Any) -> Parameter:
    """Return a parameter as a keyword of the function of a command, as typer reads it."""
    annotation = cast("Any", Annotated)[kind, spelt]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def limit(default: int) -> Parameter:
    """Return the option that says how many are shown at most."""
    return _option("limit", int, "N", "How many are shown at most.", default, min=1, max=10_000)


REQUIRED = Parameter.empty

JSON = _flag("as_json", "Print the result as one line of JSON.", "--json")

_PROJECT = _option(
    "project", str, "NAME|DIR", "The project whose memory is used: its name or its folder.", ""
)
_TRUST = _flag("trust", "Trust the project's folder, and read its AGENTS.md.")

PROJECT = (_PROJECT, JSON)
"""This is given to a function as its `invocation`."""

TRUSTED = (_PROJECT, _TRUST)
"""With `JSON`, of a command that reads the memory files of a folder: a person is asked first."""

QUESTION = _argument(
    "question",
    str,
    "QUESTION",
    "What you want to know, in quotes; - reads standard input.",
    "",
    show_default=False,
)
DOCS = _option(
    "docs", list[Path] | None, "PATH", "A folder or file to search; may be repeated.", None
)
APPROVE_UNSEEN = _flag("yes", "Approve the plan without showing it.", "--yes", "-y")
REVIEW = _flag("review", "Stop when the plan is made; dossier resume goes on.")
QUICK = _flag("quick", "Answer from one search, without a plan.")
OUT = _option(
    "out", Path | None, "DIR", "The folder the report goes to; reports/RUN if not given.", None
)
FORCE = _flag("force", "Replace files that are there already.")
THREAD = _option(
    "thread", str | None, "ID", "Ask in an earlier conversation, or name a new one.", None
)
CHOICE = _option(
    "choice",
    list[str] | None,
    "NAME=VALUE",
    "A choice of the run, such as max_steps=2; all are listed below. May be repeated.",
    None,
    "--set",
    autocompletion=complete_choice,
)
CAP = _option(
    "cap",
    list[str] | None,
    "NAME=VALUE",
    "Raise a limit: max_cost, max_tokens, max_calls or max_minutes. May be repeated.",
    None,
    "--set",
)
REMOVED = _flag(
    "removed", "Show the sentences that the checks took out or doubt, with the reasons."
)
RUN = _argument("run", str, "RUN", "The name of the run, as dossier runs lists it.")
KEEP = _option(
    "keep", str, "AGE", "How long a run is kept after its end: 12h, 90d, 8w or 1y.", "90d"
)
VERDICT = _argument(
    "words", str, 'up|down|"TEXT"', "up, down, or what was wrong with it, in quotes."
)
APPROVE = _flag("approve", "Approve the plan.")
REJECT = _option("reject", str | None, "TEXT", "Reject the plan; say what is to change.", None)
PLAN = _option(
    "plan", Path | None, "FILE", "Research the plan in this file: lines of text, or JSON.", None
)
PORT = _option("port", int, "PORT", "The port to listen on.", 8123, min=1, max=65535)
HOST = _option("host", str, "ADDRESS", "The address to listen on.", "127.0.0.1")
RENEW = _flag("renew", "Make a new token; the old one stops working at once.")
JOBS = _option("jobs", int, "N", "How many runs work side by side.", 32, min=1, max=256)
PATHS = _argument(
    "paths", list[Path] | None, "PATH", "Folders and files to read.", None, show_default=False
)
CHAT = _option("chat", Path | None, "FILE", "Messages to read, one JSON object on a line.", None)
QUERY = _argument("query", str, "QUERY", "What to look for, in quotes.")
NAMESPACE = _option(
    "within",
    str,
    "NAMESPACE",
    "Only facts, profile, a kind of page (file, web, report, chat), a conversation "
    "or a folder; all for everything.",
    "",
    "--in",
)
EXPLAIN = _flag("explain", "Show what each score is made of.")
WHOLE_PAGES = _flag("pages", "Show whole pages, not a passage of each.")
KIND = _option("kind", str, "KIND", "Only pages of this kind: file, web, report or chat.", "")
PAGE = _argument("page", str, "ID", "The id of the page, as dossier pages list shows it.")
PAGES = (
    _argument(
        "ids",
        list[str] | None,
        "ID",
        "The ids of pages, as dossier pages list shows them.",
        None,
        show_default=False,
    ),
    _option("origin", str, "X", "All pages of a web address, a file, a folder or a run.", ""),
)
PROPOSALS = _argument(
    "ids", list[str], "ID", "The ids of proposals, as dossier memory proposals shows them."
)
DECIDED = _flag("every", "Also those that were approved or rejected.", "--all")
GRAPH_FILE = _option("out", Path, "FILE", "The file to write.", "experience.html")
LOG_FILE = _argument("file", Path, "FILE", "The log: one run on a line, as JSON.")
VOUCH_FOR_LOG = _flag(
    "vouch", "Tell later runs the insights of the log as worded, and what it says you said."
)
FOLDER = _argument("folder", Path, "DIR", "The folder; the current one if none.", ".")
ENV_FILE = _argument("file", Path, "FILE", "The file; .env of the current folder.", ENV_FILE_NAME)
YES = _flag("yes", "Do not ask first.", "--yes", "-y")
FORGETTING = (
    YES,
    _flag("dry_run", "Change nothing; name the files, reports and conversations it would change."),
    _flag("copies", "Also forget the copies that you keep in other folders."),
)
ITEM = _argument("id", str, "ID", "The id, as dossier memory list shows it.")
ITEMS = _argument(
    "ids", list[str], "ID", "The ids of facts, pages, insights, files or runs; or profile."
)
TEXT = _argument("text", str, "TEXT", "What it is to say, in quotes.")
CATEGORY = _option(
    "category",
    str,
    "NAME",
    "preference, knowledge, context, behavior, goal or correction; found out if not given.",
    "",
)
MEMORY = _option(
    "memory",
    str,
    "NAME",
    "Only this memory: instructions, profile, facts, experience, reports or pages.",
    "",
)
ENDED = _flag("every", "Also what no longer holds.", "--all")
_EVENT_HELP = "The number of a change, as dossier memory log shows it."
EVENT = _argument("event", int, "EVENT", _EVENT_HELP, min=1, max=MAX_INTEGER)
UNDONE = (
    _argument(
        "event",
        int | None,
        "EVENT",
        _EVENT_HELP,
        None,
        min=1,
        max=MAX_INTEGER,
        show_default=False,
    ),
    _option("run", str, "RUN", "Take back everything that this run wrote.", ""),
)
EVENTS = (
    _option("run", str, "RUN", "Only changes made by this run.", ""),
    _option("item", str, "ID", "Only changes of the thing with this id.", "", "--id"),
)
EXPORT_FILE = _argument(
    "file", Path | None, "FILE", "The file to write; standard output if not given.", None
)
IMPORT_FILE = _argument("file", Path, "FILE", "A file that dossier memory export wrote.")
VOUCH_FOR_FILE = _flag(
    "vouch",
    "The file is yours: also add facts, profile, memory files and log, and tell later runs"
    " its insights as they are worded.",
)
DATA_SET = (
    _option("corpus", Path, "FILE", "The pages, one JSON object on a line.", REQUIRED),
    _option("queries", Path, "FILE", "The questions, one JSON object on a line.", REQUIRED),
    _option(
        "qrels",
        Path | None,
        "FILE",
        "Which pages answer which question, as in the BEIR data sets.",
        None,
    ),
    _option(
        "group_field",
        str | None,
        "NAME",
        "Search for each question only among pages with the same value in this field; "
        "group if there is one.",
        None,
    ),
)
EMBEDDINGS = _option(
    "embeddings",
    str,
    "NAME",
    "What makes the vectors of pages, as provider:model; none to search by words alone.",
    "",
)
QUESTION_LIMIT = _option(
    "limit",
    int | None,
    "N",
    "Ask only this many questions, from the first on.",
    None,
    min=1,
    max=MAX_INTEGER,
)
LOCOMO_FILE = _argument(
    "file", Path, "FILE", "The file of conversations of the LoCoMo data set, in JSON."
)
