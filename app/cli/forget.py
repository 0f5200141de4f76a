"""dossier memory forget, dossier pages forget: take things out of memory for good, after asking."""

from __future__ import annotations

import sys
from functools import partial

from app.cli.memories import finished
from app.cli.output import has_terminal, one_line, print_json
from app.cli.pages import missing
from app.cli.redrawing import redraw, undrawn
from config.errors import EXIT, Problem
from config.settings import settings
from memory.forgetting.aim import Aim
from memory.forgetting.door import Plan, aimed, forget, planned, unfinished
from memory.pages.listing import shown
from memory.pages.within import from_origin
from runs.place import owned

MOST = 30_000
"""So many pages are forgotten at once; SQLite as it usually comes takes 32,766 values."""


def main(*, ids: list[str], origin: str, sure: bool, project: str, as_json: bool) -> int:
    """Forget pages, if the person says so; return the exit status.

    Raises:
        Problem: `usage`, `page_not_found`, or what `memory.forgetting.door` tells of.
    """
    if bool(ids) == bool(origin):
        what = "name pages, or one origin" if ids else "nothing is named"
        raise Problem("usage", what, hint="dossier pages forget ID..., or --origin X")
    owner = owned(settings().user, project)
    pages = finished(_found(owner, ids, origin))
    if len(pages) > MOST:
        what = f"{len(pages):,} pages are too many at once; the most is {MOST:,}"
        raise Problem("usage", what, hint="name the folders below one by one")
    return _forget(Aim(owner, pages=tuple(pages)), sure=sure, as_json=as_json)


def forgetting(*, ids: list[str], sure: bool, project: str, as_json: bool) -> int:
    """Forget things of any memory, if the person says so; return the exit status.

    Raises:
        Problem: What `memory.forgetting.door` tells of.
    """
    what = finished(aimed(owned(settings().user, project), ids))
    return _forget(what, sure=sure, as_json=as_json)


def _forget(what: Aim, *, sure: bool, as_json: bool) -> int:
    plan = finished(_planned(what))
    if not (sure or _agreed(plan)):
        return _let_be(as_json=as_json)
    beyond = finished(forget(plan, partial(redraw, what.owner)))
    if as_json:
        print_json({**_plain(plan), "beyond": beyond})
    else:
        print(f"{_counts(plan)} forgotten.")
        for line in [*_stays(plan), *([f"Beyond reach: {beyond}."] if beyond else [])]:
            print(line)
    return EXIT["partial"] if plan.unread else 0


def _let_be(*, as_json: bool) -> int:
    if as_json:
        print_json({"forgotten": 0, "ids": []})
    else:
        print("Nothing is forgotten.")
    return 0


async def _planned(what: Aim) -> Plan:
    plan = await planned(what)
    return plan._replace(reports=tuple(await undrawn(what.owner, plan.reports)))


async def _found(owner: str, ids: list[str], origin: str) -> list[str]:
    if origin:
        found = await from_origin(owner, origin)
        if not found:
            hint = "an address, a file, a folder, a run or a conversation"
            raise Problem("page_not_found", f"no page is from {origin!r}", hint=hint)
        return found
    # What a killed command has half forgotten is known as such.
    unknown = [one for one in ids if await shown(owner, one) is None]
    if unknown and not (await unfinished(owner)).issuperset(unknown):
        raise missing(unknown)
    return list(dict.fromkeys(ids))


def _agreed(plan: Plan) -> bool:
    if not has_terminal():
        raise Problem("forget_unconfirmed", "nobody can be asked", hint="say --yes")
    for line in _stays(plan):
        print(line, file=sys.stderr)
    asked = f"Forget {_counts(plan)}? It cannot be undone. [y/N] "
    print(asked, end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False


def _plain(plan: Plan) -> dict[str, object]:
    counts = {"pages": plan.pages, "facts": plan.facts, "profile": plan.what.profile}
    return {
        "forgotten": len(plan.what.ids),
        "ids": list(plan.what.ids),
        **counts,
        "reports": [one.run for one in plan.reports],
        "threads": plan.threads,
        "left_in": list(plan.files),
        "unread": [problem.as_dict() for problem in plan.unread],
    }


def _counts(plan: Plan) -> str:
    """Say what is touched; what was named, and what says it again."""
    counts = {
        "page": plan.pages,
        "fact": plan.facts,
        "profile": int(plan.what.profile),
        "file section": len({*plan.what.files} - {one.where for one in plan.unread}),
        "insight": len(plan.what.insights),
        "report": len(plan.reports),
        "thread": len(plan.threads),
    }
    told = [f"{n:,} {name}{'s' if n > 1 else ''}" for name, n in counts.items() if n]
    return ", ".join(told) or "Nothing more"


def _stays(plan: Plan) -> list[str]:
    """Say which lines a person wrote themselves say it too, and what nobody can look into."""
    own = [f"Your own lines in {path} say it too; they stay: edit them." for path in plan.files]
    unread = [f"{one.where} stays as it is: {one.what}." for one in plan.unread]
    return [one_line(line) for line in (*own, *unread)]
