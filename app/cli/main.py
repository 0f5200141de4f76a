"""The dossier command: read the command line, and run the command that it names."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument, TyperCommand

from app.cli import dispatch, output, start
from app.cli.command_table import COMMANDS
from app.cli.help_examples import render_epilog
from app.cli.options import MAX_INTEGER
from config import environment
from config.errors import ErrorCode, Problem, first_validation_error

USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What typer raises for a wrong option; it does not export the class, only this child of it."""

HELP = ["-h", "--help"]


def _print_version(wanted: bool) -> None:
    """Print the version and exit, if that is what is wanted."""
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"dossier {version('dossier')}")
        raise typer.Exit


class LazyCommand(TyperCommand):
    """A command of which the name and one line of help are shown; its options are read later."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            path.rpartition(" ")[2], help=COMMANDS[path].summary, rich_markup_mode=None
        )

    def make_context(self, *args: Any, **options: Any) -> typer.Context:
        """Let the command read the words that follow its name."""
        return cast("typer.Context", self.load().make_context(*args, **options))

    def load(self) -> Any:
        """Return the command with its options."""
        return load_command(self.path)


def load_command(path: str = "") -> Any:
    """Return a command as typer runs it; those of a group read their options when called.

    Args:
        path: The words that call it; the program itself without any.
    """
    entry = COMMANDS[path]
    group = {
        one.rpartition(" ")[2]: LazyCommand(one)
        for one in COMMANDS
        if one and one.rpartition(" ")[0] == path
    }
    program = typer.Typer(
        rich_markup_mode=None,
        add_completion=not path,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": HELP},
    )
    run = entry.callback() if entry.function else _group if path else _dossier
    if group:
        program.callback(help=entry.help, invoke_without_command=True)(run)
    else:
        program.command(help=entry.help)(run)
    command = cast("Any", typer.main.get_command(program))
    if group:
        command.commands = group
    return _simplify_help(command, path)


def _dossier(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Take the options of the program itself."""


def _group(context: typer.Context) -> None:
    """Show the help of a group that is called without a command."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
        status = load_command()(words or ["--help"], "dossier", standalone_mode=False)
    except Problem as problem:
        status = output.print_problem(problem, as_json=as_json)
    except USAGE_ERROR as error:
        wrong = Problem(ErrorCode.USAGE, _usage_text(error), hint=_hint(error))
        status = output.print_problem(wrong, as_json=as_json)
    sys.exit(start.exit_status(status))


def _simplify_help(command: Any, path: str) -> Any:
    """Let the help of a command speak plainly, and end with examples.

    Arguments are named without their types, and what a number may be is told in words.
    """
    command.epilog = render_epilog(path)
    helping = command.get_help_option(typer.Context(command, help_option_names=HELP))
    for one in (*command.params, helping):
        vars(one).update(_get_number_range_help_str=partial(_bounds, one))
        vars(one).update(get_runtime_param=partial(SimpleNamespace, coerce=partial(_coerce, one)))
        if isinstance(one, TyperArgument):
            vars(one).update(
                display_type_rich=_nothing, _usage_display_name=partial(_argument_name, one)
            )
    return command


def _coerce(one: Any, value: Any, param: Any, ctx: typer.Context) -> Any:
    """Return the value of a parameter as a command is given it: as it is where it is of its kind.

    Typer does so with true and false alone; for all else it loads pydantic, which most commands
    with nothing but texts and defaults can do without.
    """
    kind = one.type_descriptor
    if type(value) is kind.annotation and kind.parameter_info.parser is None:
        return value
    if value is None and not one.multiple and one.nargs == 1:
        return None
    return type(one).get_runtime_param(one).coerce(value, param=param, ctx=ctx)


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
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
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
