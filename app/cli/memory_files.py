"""dossier memory proposals, approve, reject: decide what agents may add to AGENTS.md."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from app.cli.memories import finished
from app.cli.output import one_line, print_json
from app.cli.table import coloured, show
from config.settings import settings
from memory.files import deciding
from memory.files.proposals import Proposal, listed, waiting
from runs.place import owned

WARNING = "possibly from a page: the run had read texts by strangers, and you have not said this"


def listing(*, every: bool, project: str, as_json: bool) -> int:
    """Show the proposals that wait, or all of them; return the exit status."""
    found = finished(listed(owned(settings().user, project), decided=every))
    if as_json:
        print_json([_plain(one) for one in found])
    else:
        show(*(part for one in found for part in _parts(one)))
        if not found:
            show("No change to AGENTS.md is proposed.")
    return 0


def approving(*, ids: list[str], project: str, as_json: bool) -> int:
    """Write proposed changes into their files; return the exit status.

    Raises:
        Problem: What `memory.files.deciding.approve` tells of.
    """
    done = finished(_each(ids, project, _approve))
    _tell(done, as_json=as_json)
    return 0


def rejecting(*, ids: list[str], project: str, as_json: bool) -> int:
    """Let proposed changes be; return the exit status.

    Raises:
        Problem: What `memory.files.deciding.reject` tells of.
    """
    done = finished(_each(ids, project, _reject))
    _tell(done, as_json=as_json)
    return 0


Done = dict[str, Any]
"""What was decided on one proposal, as `--json` prints it."""


async def _each(
    ids: Sequence[str], project: str, decide: Callable[[str, str], Awaitable[Done]]
) -> list[Done]:
    """Decide on several proposals; none is touched when one of them cannot be decided on."""
    owner = owned(settings().user, project)
    different = list(dict.fromkeys(ids))
    for one in different:
        await waiting(owner, one)
    return [await decide(owner, one) for one in different]


async def _approve(owner: str, name: str) -> Done:
    proposal = await waiting(owner, name)
    merged = await deciding.approve(owner, name)
    told = {"id": name, "status": "approved", "path": proposal.path}
    return {**told, "conflicts": merged.conflicts}


async def _reject(owner: str, name: str) -> Done:
    proposal = await deciding.reject(owner, name)
    return {"id": name, "status": "rejected", "path": proposal.path, "conflicts": 0}


def _tell(done: Sequence[Done], *, as_json: bool) -> None:
    if as_json:
        print_json(list(done))
        return
    for one in done:
        show(Text(f"{one['id']}  {one['status']}  {one_line(one['path'])}"))
        if one["conflicts"]:
            show("  the file says something else there since: both texts stand in it, choose one")


def _parts(proposal: Proposal) -> list[Text]:
    """Return the lines that show one proposal."""
    at = datetime.fromtimestamp(proposal.created, UTC).astimezone()
    where = f"run {proposal.run} {proposal.step}".rstrip() if proposal.run else ""
    head = f"{proposal.id}  {proposal.status}  {at:%Y-%m-%d %H:%M}  {where}"
    web = [Text(WARNING, "yellow")] if proposal.provenance == "web" else []
    difference = [coloured(line, indent="  ") for line in proposal.diff.splitlines()]
    why = Text(f"why: {one_line(proposal.why)}")
    return [Text(head.rstrip(), "bold"), why, *web, *difference, Text("")]


def _plain(proposal: Proposal) -> Done:
    row = proposal._asdict()
    del row["owner"]
    return {**row, "diff": proposal.diff}
