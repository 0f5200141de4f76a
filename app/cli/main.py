"""The dossier command; each subcommand is imported only when it is called."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument
from typer.models import CommandInfo, TyperInfo

from app.cli import calling, measured, output, remembered, stopping
from app.cli.calling import call
from app.cli.examples import epilog
from app.cli.options import (
    MOST,
    Approve,
    Cap,
    Choice,
    Docs,
    EnvFile,
    Folder,
    Force,
    Host,
    Jobs,
    Json,
    Keep,
    Name,
    Out,
    Plan,
    Port,
    Project,
    Question,
    Quick,
    Reject,
    Renew,
    Review,
    ShowRemoved,
    Sure,
    Thread,
    Trust,
    Verdict,
    Yes,
)
from config import environment
from config.environment import FILE
from config.errors import Problem
from config.validation import first_error

USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What typer raises for a wrong option; it does not export the class, only this child of it."""

HELP = ["-h", "--help"]

# Typer reads a default as it reads what is typed.
HERE, ENV = cast("tuple[Path, Path]", (".", FILE))

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": HELP},
)


def print_version(wanted: bool) -> None:
    """Print the version and exit, if that is what is wanted."""
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"dossier {version('dossier')}")
        raise typer.Exit


settings = typer.Typer(help="Copy settings into the home.")


@app.callback()
def dossier(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Research a question over your files and the web, with every sentence traced to a source."""


@app.command()
def ask(
    question: Question = "",
    docs: Docs = None,
    yes: Yes = False,
    review: Review = False,
    quick: Quick = False,
    out: Out = None,
    force: Force = False,
    thread: Thread = None,
    project: Project = "",
    trust: Trust = False,
    choice: Choice = None,
    json: Json = False,
) -> None:
    """Research a question and write a report."""
    call(
        "ask",
        question=question,
        docs=docs or [],
        yes=yes,
        review=review,
        quick=quick,
        out=out,
        force=force,
        thread=thread,
        project=project,
        trust=trust,
        choices=choice or [],
        as_json=json,
    )


@app.command()
def resume(
    run: Name,
    approve: Approve = False,
    reject: Reject = None,
    plan: Plan = None,
    out: Out = None,
    force: Force = False,
    project: Project = "",
    trust: Trust = False,
    cap: Cap = None,
    json: Json = False,
) -> None:
    """Go on with a run that waits, was paused or killed, failed in part, or reached a limit."""
    call(
        "resume",
        name=run,
        approve=approve,
        reject=reject,
        plan=plan,
        out=out,
        force=force,
        project=project,
        trust=trust,
        caps=cap or [],
        as_json=json,
    )


@app.command()
def feedback(run: Name, words: Verdict, project: Project = "", json: Json = False) -> None:
    """Say that a run was good (up) or bad (down), or what was wrong with it."""
    call("feedback", name=run, words=words, project=project, as_json=json)


runs = typer.Typer(help="List the runs, show one, or delete old ones.", invoke_without_command=True)
app.add_typer(runs, name="runs")


@runs.callback()
def list_runs(context: typer.Context, project: Project = "", json: Json = False) -> None:
    """List the newest runs."""
    if context.invoked_subcommand is None:
        call("runs", name=None, project=project, as_json=json)


@runs.command()
def show(
    run: Name, removed: ShowRemoved = False, project: Project = "", json: Json = False
) -> None:
    """Show every call of a run: role, step, tokens and time."""
    call("runs", name=run, removed=removed, project=project, as_json=json)


@runs.command()
def prune(keep: Keep = "90d", yes: Sure = False, project: Project = "", json: Json = False) -> None:
    """Delete runs that ended long ago; what was learnt and reported stays.

    Their checkpoints, traces and recorded calls are deleted, so that they can be neither resumed
    nor asked further. Pages, facts, insights and the files of reports are kept, and so is every run
    that waits, was paused or is at work.
    """
    call("prune", keep=keep, sure=yes, project=project, as_json=json)


app.add_typer(remembered.app)
app.add_typer(measured.app, name="eval")


@app.command()
def serve(
    port: Port = 8123,
    host: Host = "127.0.0.1",
    jobs: Jobs = 32,
) -> None:
    """Start the LangGraph development server with this agent."""
    call("serve", host=host, port=port, jobs=jobs)


@app.command("token")
def print_token(renew: Renew = False, json: Json = False) -> None:
    """Print the token that scripts send to the server."""
    call("token", renew=renew, as_json=json)


@app.command()
def trust(folder: Folder = HERE) -> None:
    """Trust a folder: its AGENTS.md is read with --project, and its .env may set time limits.

    No file in it can decide where prompts and keys are sent. To undo: dossier memory undo.
    """
    call("folders", "trust_folder", folder=folder)


@settings.command("import")
def import_settings(file: EnvFile = ENV, yes: Sure = False) -> None:
    """Copy the settings of a .env into the home, after showing them.

    Only the .env of the home is read, since a folder may be anybody's. Existing settings stay.
    """
    call("folders", "import_settings", file=file, sure=yes)


app.add_typer(settings, name="settings", no_args_is_help=True)


@app.command()
def doctor(json: Json = False) -> None:
    """Check this installation and say how to mend what is wrong."""
    call("doctor", as_json=json)


def main() -> None:
    """Run the command line; whatever goes wrong is told in one line, never in a traceback."""
    calling.began = time.monotonic()
    _keep_to_itself()
    words = [word for word in sys.argv[1:] if word != "--debug"]
    as_json = "--json" in words
    output.prepare()
    stopping.handle_signals()
    if "--debug" not in sys.argv and not os.environ.get("DOSSIER_DEBUG"):
        output.hide_traces(as_json=as_json)
    try:
        _check(words)
        meant = _meant(app, words[0]) if words else None
        command = _plain(typer.main.get_command(meant or app))
        status = command(words or ["--help"], "dossier", standalone_mode=False)
    except Problem as problem:
        status = output.tell(problem, as_json=as_json)
    except USAGE_ERROR as error:
        wrong = Problem("usage", _said(error), hint=_hint(error))
        status = output.tell(wrong, as_json=as_json)
    sys.exit(stopping.status(status))


def _meant(program: typer.Typer, name: str) -> typer.Typer | None:
    """Return a program with the command of this name alone: to build all of them takes long."""
    alone = copy(program)
    alone.registered_commands = [one for one in program.registered_commands if _name(one) == name]
    alone.registered_groups = list(_groups(program, name))
    return alone if alone.registered_commands or alone.registered_groups else None


def _groups(program: typer.Typer, name: str) -> Iterator[TyperInfo]:
    """Give the group of this name, or what has its commands where a group has no name itself."""
    for group in program.registered_groups:
        if group.name == name:
            yield group
        elif not group.name and group.typer_instance:
            inner = copy(group)
            inner.typer_instance = _meant(group.typer_instance, name)
            if inner.typer_instance:
                yield inner


def _name(command: CommandInfo) -> str:
    return command.name or getattr(command.callback, "__name__", "").replace("_", "-")


def _plain(command: Any, path: str = "") -> Any:
    """Let the help of a command and of all below it speak plainly, and end with examples.

    Arguments are named without their types, and what a number may be is told in words.
    """
    command.epilog = epilog(path)
    helping = command.get_help_option(typer.Context(command, help_option_names=HELP))
    for one in (*command.params, helping):
        vars(one).update(_get_number_range_help_str=partial(_bounds, one))
        vars(one).update(get_runtime_param=partial(_Taken, one))
        if isinstance(one, TyperArgument):
            vars(one).update(display_type_rich=_nothing, _usage_display_name=partial(_named, one))
    for name, below in getattr(command, "commands", {}).items():
        _plain(below, f"{path} {name}".strip())
    return command


class _Taken:
    """What takes the value of a parameter: as it is where it is of its kind already.

    Typer does so with true and false alone; for all else it loads pydantic, which most commands
    with nothing but texts and defaults can do without.
    """

    def __init__(self, one: Any) -> None:
        self.one = one

    def coerce(self, value: Any, param: Any, ctx: typer.Context) -> Any:
        """Return a value as the command is given it; typer reads what has to be read."""
        kind = self.one.type_descriptor
        if type(value) is kind.annotation and kind.parameter_info.parser is None:
            return value
        if value is None and not self.one.multiple and self.one.nargs == 1:
            return None
        return type(self.one).get_runtime_param(self.one).coerce(value, param=param, ctx=ctx)


def _bounds(one: Any) -> str | None:
    least, most = getattr(one, "min", None), getattr(one, "max", None)
    if least is None:
        return None
    return f"at least {least}" if most == MOST else f"from {least} to {most}"


def _nothing(ctx: typer.Context) -> None:
    """Return what stands behind the name of an argument."""


def _named(one: TyperArgument) -> str:
    name = one.metavar or str(one.name)
    more = "..." if one.nargs != 1 else ""
    return f"{name}{more}" if one.required else f"[{name}{more}]"


def _keep_to_itself() -> None:
    """Have nobody told of a run, unless the person has switched LangSmith's tracing on."""
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    with suppress(Problem):  # The settings tell what is wrong with the file.
        environment.take_over()
    environment.settle_tracing()


def _check(words: list[str]) -> None:
    """Make sure that words and place are such as a run can be about.

    Raises:
        Problem: `usage`.
    """
    # Python marks a byte that is no UTF-8 as half a character, which no file and no model takes.
    strange = [word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word)]
    if strange:
        raise Problem("usage", "a word of the command is not UTF-8", where=repr(strange[0]))
    try:
        Path.cwd()
    except OSError as error:
        hint = "change to a folder that is there"
        raise Problem("usage", f"no current folder: {error.strerror}", hint=hint) from error


def _said(error: typer.BadParameter) -> str:
    """Return what is wrong with the words of a command; typer takes over what pydantic says."""
    # Only a command that is wrong needs it, and one that is right must not wait for it.
    from pydantic import ValidationError  # noqa: PLC0415

    if not isinstance(error.__cause__, ValidationError):
        return error.format_message()
    name = error.param.get_error_hint() if isinstance(error.param, TyperArgument) else ""
    name = name or f"'{max(getattr(error.param, 'opts', ['']), key=len)}'"
    written = error.__cause__.errors(include_url=False)[0]["input"]
    return f"{name} cannot be {written!r}: {first_error(error.__cause__)[1]}"


def _hint(error: typer.BadParameter) -> str:
    command = error.ctx.command_path if error.ctx else "dossier"
    loose = command == "dossier ask" and not isinstance(error, typer.BadParameter)
    quotes = "a question stands in quotes, and after -- if it begins with -; "
    return f"{quotes if loose else ''}see {command} --help"
