"""The dossier command; each subcommand is imported only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from app.cli import output
from config.errors import Problem

USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What typer raises for a wrong option; it does not export the class, only this child of it."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Research a question over your files and the web, with every sentence traced to a source.",
)

Docs = Annotated[
    list[Path] | None, typer.Option("--docs", help="A folder or file to read; may be repeated.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Approve the plan without showing it.")]
Review = Annotated[bool, typer.Option("--review", help="Stop at the plan; resume decides.")]
Quick = Annotated[bool, typer.Option("--quick", help="Answer from one search, without a plan.")]
Out = Annotated[Path | None, typer.Option(help="Where the report goes; reports/RUN if not given.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a report that is there.")]
Thread = Annotated[str | None, typer.Option(help="Ask in an earlier conversation.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
Project = Annotated[str, typer.Option(help="The project whose memory is used.")]
Choice = Annotated[
    list[str] | None,
    typer.Option("--set", help="A choice of the run, as name=value, e.g. max_steps=2."),
]
Name = Annotated[str, typer.Argument(metavar="RUN", help="The run, as `dossier runs` lists it.")]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")] = "",
    docs: Docs = None,
    yes: Yes = False,
    review: Review = False,
    quick: Quick = False,
    out: Out = None,
    force: Force = False,
    thread: Thread = None,
    project: Project = "",
    choice: Choice = None,
    json: Json = False,
) -> None:
    """Research a question and write a report."""
    _do(
        "ask",
        question,
        docs or [],
        yes,
        review,
        quick,
        out,
        force,
        thread,
        project,
        choice or [],
        json,
    )


@app.command()
def resume(
    run: Name,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the plan.")] = False,
    reject: Annotated[str | None, typer.Option(help="Reject the plan; say why.")] = None,
    plan: Annotated[Path | None, typer.Option(help="Use the plan in this JSON file.")] = None,
    out: Out = None,
    force: Force = False,
    project: Project = "",
    json: Json = False,
) -> None:
    """Go on with a run that waits for a review, was paused or was killed."""
    _do("resume", run, approve, reject, plan, out, force, project, json)


runs = typer.Typer(help="List the runs, or show one of them.", invoke_without_command=True)
app.add_typer(runs, name="runs")


@runs.callback()
def list_runs(context: typer.Context, project: Project = "", json: Json = False) -> None:
    """List the newest runs."""
    if context.invoked_subcommand is None:
        _do("runs", None, project, json)


@runs.command()
def show(run: Name, project: Project = "", json: Json = False) -> None:
    """Show every call of a run: role, step, tokens, time and how it came out."""
    _do("runs", run, project, json)


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8123,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
) -> None:
    """Start the LangGraph development server with this agent."""
    _do("serve", host, port)


@app.command()
def doctor(json: Json = False) -> None:
    """Check this installation and say how to mend what is wrong."""
    _do("doctor", json)


def _do(command: str, *values: Any) -> None:
    """Run a command and exit with its status."""
    run: Callable[..., int] = importlib.import_module(f"app.cli.{command}").main
    try:
        status = run(*values)
        print(end="", flush=True)
    except BrokenPipeError:
        # The reader of our output has gone; closing it again would only complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    raise typer.Exit(status)


def main() -> None:
    """Run the command line; whatever goes wrong is told in one line, never in a traceback."""
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    os.environ.setdefault("LANGSMITH_TRACING", "false")
    words = [word for word in sys.argv[1:] if word != "--debug"]
    as_json = "--json" in words
    output.prepare()
    if "--debug" not in sys.argv and not os.environ.get("DOSSIER_DEBUG"):
        output.hide_traces(as_json=as_json)
    command = typer.main.get_command(app)
    try:
        status = command(words or ["--help"], "dossier", standalone_mode=False)
    except Problem as problem:
        status = output.tell(problem, as_json=as_json)
    except USAGE_ERROR as error:
        wrong = Problem("usage", error.format_message(), hint="see dossier --help")
        status = output.tell(wrong, as_json=as_json)
    sys.exit(status)
