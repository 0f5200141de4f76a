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

from app.cli import commands_eval, commands_memory, dispatch, output, start
from app.cli.dispatch import run_command
from app.cli.help_examples import render_epilog
from app.cli.options import (
    MAX_INTEGER,
    ApproveOption,
    ApproveUnseenOption,
    CapOption,
    ChoiceOption,
    DocsOption,
    EnvFileArgument,
    FolderArgument,
    ForceOption,
    HostOption,
    JobsOption,
    JsonOption,
    KeepOption,
    OutOption,
    PlanOption,
    PortOption,
    ProjectOption,
    QuestionArgument,
    QuickOption,
    RejectOption,
    RenewOption,
    ReviewOption,
    RunArgument,
    ShowRemovedOption,
    SkipConfirmationOption,
    ThreadOption,
    TrustOption,
    VerdictArgument,
)
from config import environment
from config.environment import ENV_FILE_NAME
from config.errors import ErrorCode, Problem, first_validation_error

USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What typer raises for a wrong option; it does not export the class, only this child of it."""

HELP = ["-h", "--help"]

# Typer reads a default as it reads what is typed.
HERE, ENV = cast("tuple[Path, Path]", (".", ENV_FILE_NAME))

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": HELP},
)


def _print_version(wanted: bool) -> None:
    """Print the version and exit, if that is what is wanted."""
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"dossier {version('dossier')}")
        raise typer.Exit


settings_app = typer.Typer(help="Copy settings into the home.")


@app.callback()
def dossier(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Research a question over your files and the web, with every sentence traced to a source."""


@app.command("ask")
def ask_command(
    question: QuestionArgument = "",
    docs: DocsOption = None,
    yes: ApproveUnseenOption = False,
    review: ReviewOption = False,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    thread: ThreadOption = None,
    project: ProjectOption = "",
    trust: TrustOption = False,
    choice: ChoiceOption = None,
    json: JsonOption = False,
) -> None:
    """Research a question and write a report."""
    run_command(
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


@app.command("resume")
def resume_run_command(
    run: RunArgument,
    approve: ApproveOption = False,
    reject: RejectOption = None,
    plan: PlanOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    project: ProjectOption = "",
    trust: TrustOption = False,
    cap: CapOption = None,
    json: JsonOption = False,
) -> None:
    """Go on with a run that waits, was paused or killed, failed in part, or reached a limit."""
    run_command(
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


@app.command("feedback")
def feedback_command(
    run: RunArgument, words: VerdictArgument, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """Say that a run was good (up) or bad (down), or what was wrong with it."""
    run_command("feedback", name=run, words=words, project=project, as_json=json)


runs_app = typer.Typer(
    help="List the runs, show one, or delete old ones.", invoke_without_command=True
)
app.add_typer(runs_app, name="runs")


@runs_app.callback()
def list_runs_command(
    context: typer.Context, project: ProjectOption = "", json: JsonOption = False
) -> None:
    """List the newest runs."""
    if context.invoked_subcommand is None:
        run_command("runs", name=None, project=project, as_json=json)


@runs_app.command("show")
def show_run_command(
    run: RunArgument,
    removed: ShowRemovedOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Show every call of a run: role, step, tokens and time."""
    run_command("runs", name=run, removed=removed, project=project, as_json=json)


@runs_app.command("prune")
def prune_command(
    keep: KeepOption = "90d",
    yes: SkipConfirmationOption = False,
    project: ProjectOption = "",
    json: JsonOption = False,
) -> None:
    """Delete runs that ended long ago; what was learnt and reported stays.

    Their checkpoints, traces and recorded calls are deleted, so that they can be neither resumed
    nor asked further. Pages, facts, insights and the files of reports are kept, and so is every run
    that waits, was paused or is at work.
    """
    run_command("prune", keep=keep, sure=yes, project=project, as_json=json)


app.add_typer(commands_memory.memory_and_pages_app)
app.add_typer(commands_eval.eval_app, name="eval")


@app.command("serve")
def serve_command(
    port: PortOption = 8123,
    host: HostOption = "127.0.0.1",
    jobs: JobsOption = 32,
) -> None:
    """Start the LangGraph development server with this agent."""
    run_command("serve", host=host, port=port, jobs=jobs)


@app.command("token")
def token_command(renew: RenewOption = False, json: JsonOption = False) -> None:
    """Print the token that scripts send to the server."""
    run_command("token", renew=renew, as_json=json)


@app.command("trust")
def trust_command(folder: FolderArgument = HERE) -> None:
    """Trust a folder: its AGENTS.md is read with --project, and its .env may set time limits.

    No file in it can decide where prompts and keys are sent. To undo: dossier memory undo.
    """
    run_command("folder_settings", "trust_folder", folder=folder)


@settings_app.command("import")
def import_settings_command(
    file: EnvFileArgument = ENV, yes: SkipConfirmationOption = False
) -> None:
    """Copy the settings of a .env into the home, after showing them.

    Only the .env of the home is read, since a folder may be anybody's. Existing settings stay.
    """
    run_command("folder_settings", "import_settings", file=file, sure=yes)


app.add_typer(settings_app, name="settings", no_args_is_help=True)


@app.command("doctor")
def doctor_command(json: JsonOption = False) -> None:
    """Check this installation and say how to mend what is wrong."""
    run_command("doctor", as_json=json)


def main() -> None:
    """Run the command line; whatever goes wrong is told in one line, never in a traceback."""
    dispatch.started_at = time.monotonic()
    _disable_telemetry()
    words = [word for word in sys.argv[1:] if word != "--debug"]
    as_json = "--json" in words
    output.prepare_streams()
    start.handle_signals()
    if "--debug" not in sys.argv and not os.environ.get("DOSSIER_DEBUG"):
        output.hide_tracebacks(as_json=as_json)
    try:
        _check(words)
        meant = _select_command(app, words[0]) if words else None
        command = _simplify_help(typer.main.get_command(meant or app))
        status = command(words or ["--help"], "dossier", standalone_mode=False)
    except Problem as problem:
        status = output.print_problem(problem, as_json=as_json)
    except USAGE_ERROR as error:
        wrong = Problem(ErrorCode.USAGE, _usage_text(error), hint=_hint(error))
        status = output.print_problem(wrong, as_json=as_json)
    sys.exit(start.exit_status(status))


def _select_command(program: typer.Typer, name: str) -> typer.Typer | None:
    """Return a program with the command of this name alone: to build all of them takes long."""
    alone = copy(program)
    alone.registered_commands = [one for one in program.registered_commands if _name(one) == name]
    alone.registered_groups = list(_select_groups(program, name))
    return alone if alone.registered_commands or alone.registered_groups else None


def _select_groups(program: typer.Typer, name: str) -> Iterator[TyperInfo]:
    """Give the group of this name, or what has its commands where a group has no name itself."""
    for group in program.registered_groups:
        if group.name == name:
            yield group
        elif not group.name and group.typer_instance:
            inner = copy(group)
            inner.typer_instance = _select_command(group.typer_instance, name)
            if inner.typer_instance:
                yield inner


def _name(command: CommandInfo) -> str:
    return command.name or getattr(command.callback, "__name__", "").replace("_", "-")


def _simplify_help(command: Any, path: str = "") -> Any:
    """Let the help of a command and of all below it speak plainly, and end with examples.

    Arguments are named without their types, and what a number may be is told in words.
    """
    command.epilog = render_epilog(path)
    helping = command.get_help_option(typer.Context(command, help_option_names=HELP))
    for one in (*command.params, helping):
        vars(one).update(_get_number_range_help_str=partial(_bounds, one))
        vars(one).update(get_runtime_param=partial(_LazyParam, one))
        if isinstance(one, TyperArgument):
            vars(one).update(
                display_type_rich=_nothing, _usage_display_name=partial(_argument_name, one)
            )
    for name, below in getattr(command, "commands", {}).items():
        _simplify_help(below, f"{path} {name}".strip())
    return command


class _LazyParam:
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
    return f"at least {least}" if most == MAX_INTEGER else f"from {least} to {most}"


def _nothing(ctx: typer.Context) -> None:
    """Return what stands behind the name of an argument."""


def _argument_name(one: TyperArgument) -> str:
    name = one.metavar or str(one.name)
    more = "..." if one.nargs != 1 else ""
    return f"{name}{more}" if one.required else f"[{name}{more}]"


def _disable_telemetry() -> None:
    """Have nobody told of a run, unless the person has switched LangSmith's tracing on."""
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    with suppress(Problem):  # The settings tell what is wrong with the file.
        environment.load_home_env()
    environment.normalize_tracing()


def _check(words: list[str]) -> None:
    """Make sure that words and place are such as a run can be about.

    Raises:
        Problem: `usage`.
    """
    # Python marks a byte that is no UTF-8 as half a character, which no file and no model takes.
    strange = [word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word)]
    if strange:
        raise Problem(ErrorCode.USAGE, "a word of the command is not UTF-8", where=repr(strange[0]))
    try:
        Path.cwd()
    except OSError as error:
        hint = "change to a folder that is there"
        raise Problem(ErrorCode.USAGE, f"no current folder: {error.strerror}", hint=hint) from error


def _usage_text(error: typer.BadParameter) -> str:
    """Return what is wrong with the words of a command; typer takes over what pydantic says."""
    # Only a command that is wrong needs it, and one that is right must not wait for it.
    from pydantic import ValidationError  # noqa: PLC0415

    if not isinstance(error.__cause__, ValidationError):
        return error.format_message()
    name = error.param.get_error_hint() if isinstance(error.param, TyperArgument) else ""
    name = name or f"'{max(getattr(error.param, 'opts', ['']), key=len)}'"
    written = error.__cause__.errors(include_url=False)[0]["input"]
    return f"{name} cannot be {written!r}: {first_validation_error(error.__cause__)[1]}"


def _hint(error: typer.BadParameter) -> str:
    command = error.ctx.command_path if error.ctx else "dossier"
    loose = command == "dossier ask" and not isinstance(error, typer.BadParameter)
    quotes = "a question stands in quotes, and after -- if it begins with -; "
    return f"{quotes if loose else ''}see {command} --help"
