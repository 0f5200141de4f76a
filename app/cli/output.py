"""Write to the person's streams: one line of plain text, or data as one line of JSON."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from types import TracebackType
from typing import Any

from config.errors import Problem


def prepare() -> None:
    """Let nothing that is written fail, whatever characters the person's locale has."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def hide_traces(*, as_json: bool) -> None:
    """Tell in one line what nobody foresaw, and keep what libraries say to themselves."""

    def unforeseen(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            tell(_unforeseen(error), as_json=as_json)

    sys.excepthook = unforeseen
    logging.getLogger().addHandler(logging.NullHandler())
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def one_line(text: str) -> str:
    """Return a text as one line that no terminal takes for a command."""
    return " ".join("".join(one for one in text if one.isprintable() or one.isspace()).split())


def print_json(data: Any) -> None:
    """Print data as one line of JSON on standard output; escaped where the locale is not UTF-8."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    print(json.dumps(data, ensure_ascii=encoding.lower() not in ("utf-8", "utf8")))


def tell(problem: Problem, *, as_json: bool) -> int:
    """Tell a problem in one line, with `--json` as an object too; return the exit status."""
    print(one_line(str(problem)), file=sys.stderr)
    if as_json:
        print_json({"error": problem.as_dict()})
    return problem.exit_status


def has_terminal() -> bool:
    """Say whether there is somebody to ask."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _unforeseen(error: BaseException) -> Problem:
    """Return what is told of an error that is no problem of ours, or that hides one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, Problem):
        return error
    hint = "this is a mistake in dossier; --debug shows where"
    return Problem("internal", f"{type(error).__name__}: {error}"[:300], hint=hint)
