"""Declare commands, and run them for a project named by a word or its folder."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from app.cli.output import print_json
from app.cli.start import import_frozen
from config.environment import ENV_FILE_NAME
from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.call_site import join_owner

if TYPE_CHECKING:
    from rich.console import RenderableType

started_at = 0.0
"""When the command was started, by the clock that only goes forward; 0 outside of a command."""


class Invocation(NamedTuple):
    """How a command about a project is called: for which project, and how it prints its result."""

    project: str = ""
    as_json: bool = False

    @property
    def owner(self) -> str:
        """Whose memory is used: the user's, in this project."""
        return join_owner(settings().user, self.project)

    def print_result(self, data: Any, *parts: RenderableType) -> None:
        """Print the result as data if the person wants JSON, or else as lines and tables."""
        if self.as_json:
            print_json(data)
        elif len(parts) == 1 and isinstance(parts[0], str):
            print(parts[0])
        else:
            import_frozen("app.cli.table").print_renderables(*parts)


class CommandEntry(NamedTuple):
    """A command: what its help says, and the function that runs it, which is imported then."""

    help: str
    """What it does; lists of commands show the first paragraph."""
    function: str = ""
    """The module in `app.cli` and the function, such as `pages.print_page`; "" for a group that
    only has commands. It takes the options as keywords, and returns the exit status if that is
    not 0. If it is asynchronous, the database is closed after it."""
    options: tuple[Parameter, ...] = ()
    """In the order of the help. `project`, `trust` and `as_json` together are the `invocation` of
    the function."""
    folder_env: bool = True
    """Whether a `.env` in the current folder is read, as far as the folder is trusted; what is
    ignored is reported."""

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return self.help.partition("\n\n")[0]

    def callback(self) -> Callable[..., None]:
        """Return a function that typer reads the options from, and calls to run the command."""

        def run(**options: Any) -> None:
            # The function of a group is called before each command of the group.
            if options.pop("context").invoked_subcommand is None:
                run_command(self, options)

        context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *self.options]
        vars(run).update(__signature__=inspect.Signature(parameters))
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    def load(self) -> Callable[..., Any]:
        """Import the function that runs it."""
        module, _, name = self.function.partition(".")
        function: Callable[..., Any] = getattr(import_frozen(f"app.cli.{module}"), name)
        return function


def run_command(command: CommandEntry, options: dict[str, Any]) -> None:
    """Run a command and exit with its status.

    Args:
        command: The command.
        options: What was given on the command line; a project by its name or its folder.
    """
    if "as_json" in options:
        project = resolve_project(options.pop("project", ""), trust=options.pop("trust", None))
        options["invocation"] = Invocation(project, options.pop("as_json"))
    if command.folder_env and os.path.exists(ENV_FILE_NAME):
        # Few folders have the file.
        import_frozen("app.cli.folder_settings").apply_folder_env()
    status = command.load()(**options)
    if inspect.iscoroutine(status):
        status = import_frozen("app.cli.event_loop").run_and_close(status)
    sys.stdout.flush()  # What cannot be written can only be told before Python ends.
    raise typer.Exit(status or 0)


def resolve_project(written: str, *, trust: bool | None) -> str:
    """Return the name of a project that was given by name or by its folder.

    Args:
        written: What was given; a folder exists or has a separator in it.
        trust: Whether its memory files may be read without a question; `None` where none are read.

    Raises:
        Problem: `project_not_found`, or `usage` for trust in what is no folder.
    """
    folder = os.path.expanduser(written)
    if os.path.isdir(folder):
        # A command that names no folder loads no database for it.
        from app.cli.folder_trust import settle_folder_trust  # noqa: PLC0415

        return settle_folder_trust(os.path.realpath(folder), trust=trust)
    if os.sep in written or (os.altsep and os.altsep in written):
        what = "there is no such folder"
        hint = "check the path; a name without a slash is a project without a folder"
        raise Problem(ErrorCode.PROJECT_NOT_FOUND, what, where=written, hint=hint)
    if trust:
        hint = "--project FOLDER --trust"
        raise Problem(ErrorCode.USAGE, "--trust is for the folder of a project", hint=hint)
    return written
