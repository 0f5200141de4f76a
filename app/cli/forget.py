"""dossier pages forget: take pages out of memory, after asking."""

from __future__ import annotations

import asyncio

from app.cli.output import has_terminal, print_json
from app.cli.pages import missing
from config.errors import Problem
from config.settings import settings
from memory.pages.forgetting import forget
from memory.pages.listing import shown
from memory.pages.within import from_origin
from runs.place import owned
from storage.engine import close


def main(*, ids: list[str], origin: str, sure: bool, project: str, as_json: bool) -> int:
    """Forget pages, if the person says so; return the exit status.

    Raises:
        Problem: `usage`, `page_not_found`, or `forget_unconfirmed` when nobody can be asked.
    """
    if bool(ids) == bool(origin):
        what = "name pages, or one origin" if ids else "nothing is named"
        raise Problem("usage", what, hint="dossier pages forget ID..., or --origin X")
    owner = owned(settings().user, project)
    found = asyncio.run(_found(owner, ids, origin))
    if not (sure or _agreed(len(found))):
        print("Nothing is forgotten.")
        return 0
    count = asyncio.run(_forgotten(owner, found))
    if as_json:
        print_json({"forgotten": count, "pages": found})
    else:
        print(f"{_pages(count)} forgotten.")
    return 0


async def _found(owner: str, ids: list[str], origin: str) -> list[str]:
    try:
        if origin:
            found = await from_origin(owner, origin)
            if not found:
                hint = "an address, a file, a folder, a run or a conversation"
                raise Problem("page_not_found", f"no page is from {origin!r}", hint=hint)
            return found
        unknown = [one for one in ids if await shown(owner, one) is None]
    finally:
        await close()
    if unknown:
        raise missing(unknown)
    return list(dict.fromkeys(ids))


async def _forgotten(owner: str, ids: list[str]) -> int:
    try:
        return await forget(owner, ids)
    finally:
        await close()


def _agreed(count: int) -> bool:
    if not has_terminal():
        raise Problem("forget_unconfirmed", "nobody can be asked", hint="say --yes")
    answer = input(f"Forget {_pages(count)}? It cannot be undone. [y/N] ")
    return answer.strip().lower() in ("y", "yes")


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
