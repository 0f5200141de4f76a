"""Declare commands, and run them for a project named by a word or its folder."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, NamedTuple, TypeVar

import typer

from app.cli.options import JsonOption, ProjectOption, TrustOption
from app.cli.start import import_frozen
from config.environment import ENV_FILE_NAME
from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.call_site import join_owner

started_at = 0.0
"""When the command was started, by the clock that only goes forward; 0 outside of a command."""

_Function = TypeVar("_Function", bound=Callable[..., int])


class Invocation(NamedTuple):
    """How a command about a project is called: for which project, and how it prints its result."""

    project: str = ""
    as_json: bool = False

    @property
    def owner(self) -> str:
        """Whose memory is used: the user's, in this project."""
        return join_owner(settings().user, self.project)


class Declaration(NamedTuple):
    """A command: the function that runs it, and what is settled before it runs."""

    function: Callable[..., int]
    trust: bool
    folder_env: bool

    @property
    def help(self) -> str:
        """What the command does, as its help says it."""
        return (inspect.getdoc(self.function) or "").partition("\n\nRaises:")[0]

    def callback(self) -> Callable[..., None]:
        """Return a function that typer reads the options from, and calls to run the command."""

        def run(**options: Any) -> None:
            # The function of a group is called before each command of the group.
            if options.pop("context").invoked_subcommand is None:
                run_command(self, options)

        parameters = list(self._parameters())
        vars(run).update(__signature__=inspect.Signature(parameters))
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    def _parameters(self) -> Iterator[Parameter]:
        """Yield the parameters of the function, with the options that `Invocation` stands for."""
        yield Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
        own = inspect.signature(self.function, eval_str=True).parameters.values()
        for one in own:
            if one.annotation is not Invocation:
                yield one
                continue
            yield _option("project", ProjectOption, "")
            if self.trust:
                yield _option("trust", TrustOption, False)
        if any(one.annotation is Invocation for one in own):
            yield _option("as_json", JsonOption, False)


def _option(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class Commands(dict[str, Declaration]):
    """The commands that a module declares, by the words that call them."""

    def add(
        self, *paths: str, trust: bool = False, folder_env: bool = True
    ) -> Callable[[_Function], _Function]:
        """Declare a function as a command; it takes keywords and returns the exit status.

        Its parameters are the options, and its docstring is the help. A parameter of the type
        `Invocation` stands for `--project` and `--json`.

        Args:
            *paths: The words that call it, such as `memory list`; `app.cli.main` lists them too.
            trust: Whether it reads the memory files of a folder, and so has `--trust`: a person is
                asked first.
            folder_env: Whether a `.env` in the current folder is read, as far as the folder is
                trusted; what is ignored is reported.
        """

        def declare(function: _Function) -> _Function:
            self.update(dict.fromkeys(paths, Declaration(function, trust, folder_env)))
            return function

        return declare


def run_command(declared: Declaration, options: dict[str, Any]) -> None:
    """Run a command and exit with its status.

    Args:
        declared: The command.
        options: What was given on the command line; a project by its name or its folder.
    """
    if "project" in options:
        trust = options.pop("trust") if declared.trust else None
        project = resolve_project(options.pop("project"), trust=trust)
        options["invocation"] = Invocation(project, options.pop("as_json"))
    if declared.folder_env and os.path.exists(ENV_FILE_NAME):
        # Few folders have the file.
        import_frozen("app.cli.folder_settings").apply_folder_env()
    status = declared.function(**options)
    sys.stdout.flush()  # What cannot be written can only be told before Python ends.
    raise typer.Exit(status)


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
        hint = "check the path; a name without a slash is a project without a folder"
        raise Problem(
            ErrorCode.PROJECT_NOT_FOUND, "there is no such folder", where=written, hint=hint
        )
    if trust:
        hint = "--project FOLDER --trust"
        raise Problem(ErrorCode.USAGE, "--trust is for the folder of a project", hint=hint)
    return written
