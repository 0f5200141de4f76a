"""dossier mcp serve: let editors and other agents search, read, recall and ask."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from app.cli.choices import read_choices
from app.cli.dispatch import resolve_project
from app.cli.serve import check_address
from app.cli.start import import_frozen
from app.server_token import load_server_token
from storage.permissions import check_writable

HOST = "127.0.0.1"
"""Only programs of this machine reach it."""

STOPPED = 128
"""The exit status after a signal, less its number."""

PROGRAM_CHOICES = {"learn": False}
"""The choices of every run unless the person makes others: its words are not the person's."""


def serve_if_piped() -> int:
    """Serve on standard input and output if a program is at the other end, else show the help."""
    if not sys.stdin.isatty():
        return serve_mcp(
            docs=None, http=False, port=0, review=False, project="", trust=False, choice=None
        )
    from app.cli.main import load_command  # noqa: PLC0415 - it loads this module itself

    load_command("mcp")(["--help"], "dossier mcp", standalone_mode=False)
    return 0


def serve_mcp(
    *,
    docs: list[Path] | None,
    http: bool,
    port: int,
    review: bool,
    project: str,
    trust: bool,
    choice: list[str] | None,
) -> int:
    """Serve the tools to clients of MCP until they leave; return the exit status.

    Raises:
        Problem: What is wrong with the project, the choices, the folders or the home;
            `address_unusable`.
    """
    check_writable()
    named = resolve_project(project, trust=trust)
    chosen = read_choices(choice or [], yes=False, review=review, quick=False, named={})
    folders = tuple(str(path.absolute()) for path in docs or [])
    if http:
        check_address(HOST, port)
        load_server_token()
    # The graph takes longer to import than a mistyped option may take.
    transports = import_frozen("app.mcp_transports")
    served = import_frozen("app.mcp_runs").ServedRuns(
        named,
        import_frozen("app.mcp_folders").ServedFolders(folders),
        {**PROGRAM_CHOICES, **chosen},
    )
    server = import_frozen("app.mcp_server").make_mcp_server(served)
    if http:
        number = asyncio.run(transports.serve_http(server, HOST, port))
        return STOPPED + number if number else 0
    asyncio.run(transports.serve_pipes(server))
    return 0
