"""The person's streams: lines of plain text or JSON are written, questions and answers read."""

from __future__ import annotations

import codecs
import io
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from config.errors import ErrorCode, Problem

STDOUT = 1
"""The number of standard output."""

MISSING_LOCATION = "a file that is in no folder any more"
"""What a person is told where a location would stand."""


class _SafeStream(io.TextIOWrapper):
    """A standard stream that fails at most once; what is written after that goes nowhere.

    A run is worth more than what is said about it, so standard error fails in silence, and so does
    standard output when its reader has gone.
    """

    def write(self, text: str) -> int:
        """Write a text.

        Raises:
            Problem: `output_lost` when it is standard output that cannot be written.
        """
        with self._failing_once():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is held back.

        Raises:
            Problem: `output_lost` when it is standard output that cannot be written.
        """
        with self._failing_once():
            super().flush()

    @contextmanager
    def _failing_once(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self.fileno() == STDOUT and not isinstance(error, BrokenPipeError):
                what = f"standard output cannot be written: {error.strerror}"
                hint = "a report that was written is kept; see `dossier runs`"
                raise Problem(ErrorCode.OUTPUT_LOST, what, hint=hint) from error


def prepare_streams() -> None:
    """Let nothing that is written stop a run: no character, no full disk, no closed stream."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        # What is opened takes the lowest number that is free, and that may not be a database.
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))
    sys.stdout, sys.stderr = _steady(sys.stdout), _steady(sys.stderr)


def _steady(stream: Any) -> _SafeStream:
    encoding, lines = stream.encoding, stream is sys.stderr or stream.isatty()
    return _SafeStream(stream.detach(), encoding, errors="backslashreplace", line_buffering=lines)


def hide_tracebacks(*, as_json: bool) -> None:
    """Tell in one line what nobody foresaw, and keep what libraries say to themselves."""

    def unforeseen(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Tell an error that reached the top; Ctrl-C needs no words."""
        if not issubclass(kind, KeyboardInterrupt):
            print_problem(_to_internal_problem(error), as_json=as_json)

    sys.excepthook = unforeseen
    logging.getLogger().addHandler(logging.NullHandler())
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def one_line(text: str) -> str:
    """Return a text as one line that no terminal takes for a command."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return " ".join("".join(one for one in text if one.isprintable() or one.isspace()).split())


def print_notice(line: str) -> None:
    """Print one line on standard error, where no program takes it for a result."""
    print(one_line(line), file=sys.stderr)


def print_json(data: Any) -> None:
    """Print data as one line of JSON on standard output; escaped where the locale is not UTF-8."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    print(json.dumps(data, ensure_ascii=encoding.lower() not in ("utf-8", "utf8")))


def print_problem(problem: Problem, *, as_json: bool, about: dict[str, Any] | None = None) -> int:
    """Tell a problem in one line, with `--json` as an object too; return the exit status.

    Args:
        problem: What went wrong.
        as_json: Whether the object is printed.
        about: What else is in the object, such as the run it went wrong in.
    """
    print(one_line(str(problem)), file=sys.stderr)
    if as_json:
        print_json({**(about or {}), "error": problem.as_dict()})
    return problem.exit_status


def has_terminal() -> bool:
    """Say whether there is somebody who sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def drop_typed() -> None:
    """Drop what was typed before a question is shown: it cannot be meant as its answer."""
    if not sys.stdin.isatty():
        return
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - Windows alone has it

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios  # noqa: PLC0415 - Windows has none

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def confirm(question: str, unconfirmed: ErrorCode, lines: Sequence[str] = ()) -> bool:
    """Ask a person on the terminal for a yes, after some lines that say what it is about.

    Raises:
        Problem: With the code `unconfirmed` where nobody can be asked.
    """
    for line in lines:
        print(line, file=sys.stderr)
    if not has_terminal():
        raise Problem(unconfirmed, "nobody can be asked", hint="say --yes")
    drop_typed()
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return read_yes()


def read_yes() -> bool:
    """Say whether a person answers a question that was put to them with yes."""
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False


LARGEST_QUESTION = 100_000
"""The most bytes of a question that are read; it may be a device without an end."""


def read_question(question: str) -> str:
    """Return the question; `-`, or none at all where something is piped in, reads standard input.

    Raises:
        Problem: `usage` when what comes in cannot be read or is not UTF-8.
    """
    if question != "-" and (question or sys.stdin.isatty()):
        return question
    try:
        read = sys.stdin.buffer.read(LARGEST_QUESTION)
        # What is longer may end within a character, and is too long for a question anyway.
        return codecs.getincrementaldecoder("utf-8-sig")().decode(
            read, len(read) < LARGEST_QUESTION
        )
    except OSError as error:
        what = f"standard input cannot be read: {error.strerror}"
        raise Problem(ErrorCode.USAGE, what, hint="put the question in quotes") from error
    except UnicodeDecodeError as error:
        what = "what comes in on standard input is not UTF-8"
        raise Problem(ErrorCode.USAGE, what, hint="pipe in a question as text in UTF-8") from error


def _to_internal_problem(error: BaseException) -> Problem:
    """Return what is told of an error that is no problem of ours, or that hides one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, Problem):
        return error
    from storage.maintenance import find_database_damage  # noqa: PLC0415

    if damage := find_database_damage():
        return damage
    if isinstance(error, ModuleNotFoundError):
        from config.packages import check_requirements  # noqa: PLC0415

        try:
            check_requirements()
        except Problem as problem:
            return problem
    hint = "this is a mistake in dossier; --debug shows where"
    return Problem(ErrorCode.INTERNAL, f"{type(error).__name__}: {error}"[:300], hint=hint)
