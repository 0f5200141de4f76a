"""dossier ask: take the question from the command line or standard input."""

from __future__ import annotations

from pathlib import Path

from app.cli.choices import read_choices
from app.cli.dispatch import Invocation
from app.cli.output import read_question
from app.cli.start import import_frozen


def ask_command(
    *,
    question: str,
    docs: list[Path] | None,
    yes: bool,
    review: bool,
    quick: bool,
    web: bool | None,
    depth: str,
    length: str,
    again: str,
    out: Path | None,
    force: bool,
    thread: str | None,
    invocation: Invocation,
    choice: list[str] | None,
    progress: str,
) -> int:
    """Research a question and write a report."""
    project = invocation.project
    use_of_web = "" if web is None else "on" if web else "off"
    named = {"depth": depth, "length": length, "again": again, "project": project}
    named["web"] = use_of_web
    wanted = read_choices(choice or [], yes=yes, review=review, quick=quick, named=named)
    asked = read_question(question)
    _load_run(progress)
    from app.cli.question_run import run_question  # noqa: PLC0415

    return run_question(
        asked,
        docs or [],
        wanted,
        thread=thread,
        wait=review,
        out=out,
        force=force,
        as_json=invocation.as_json,
        progress=progress,
    )


def _load_run(progress: str) -> None:
    """Import what a run needs, and show on a terminal meanwhile that the command has started.

    The graph takes longer to import than --help or a mistyped option may take.
    """
    from app.cli.progress import make_progress  # noqa: PLC0415

    with make_progress(progress):
        import_frozen("app.cli.question_run")
