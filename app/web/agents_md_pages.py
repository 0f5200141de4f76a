"""AGENTS.md in the console: the texts that every call is told, and what agents propose for them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from app.api.agents_md_routes import WrittenText, list_agents_md, write_agents_md
from app.api.parameters import Name, Owner
from app.api.server_paths import load_path_filter
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.page_rendering import go_to, render_console_page
from memory.agents_md.proposals import approve_proposal, list_proposals, reject_proposal

router = make_console_router()

_PAGE = f"{CONSOLE}/memory/agents-md"

ProposalId = Annotated[Name, Path()]


@router.get("/memory/agents-md")
async def show_agents_md(
    request: Request, owner: Owner, told: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    """Show the files, and the changes that wait for a decision."""
    paths = await load_path_filter(owner)
    waiting = [
        {
            "id": one.id,
            "why": one.why,
            "run": one.run,
            "is_of_web": one.provenance == "web",
            "created": one.created,
            "lines": paths.hide(one.diff).splitlines()[2:],
        }
        for one in await list_proposals(owner)
    ]
    values = {"files": await list_agents_md(owner), "proposals": waiting, "told": told}
    return render_console_page(request, "agents_md", values)


@router.post("/memory/agents-md")
async def save_agents_md(owner: Owner, form: CheckedForm) -> Response:
    """Replace the person's own file.

    Raises:
        Problem: `memory_file_unwritable`.
    """
    text = form.words("text")
    await write_agents_md(owner, WrittenText(text=f"{text}\n" if text else ""))
    return go_to(f"{_PAGE}?told=changed")


@router.post("/memory/proposals/{proposal}/accept")
async def accept_console_proposal(
    owner: Owner, proposal: ProposalId, form: CheckedForm
) -> Response:
    """Write a proposed change into its file."""
    del form
    await approve_proposal(owner, proposal)
    return go_to(f"{_PAGE}?told=accepted")


@router.post("/memory/proposals/{proposal}/reject")
async def reject_console_proposal(
    owner: Owner, proposal: ProposalId, form: CheckedForm
) -> Response:
    """Let a proposed change be."""
    del form
    await reject_proposal(owner, proposal)
    return go_to(f"{_PAGE}?told=rejected")
