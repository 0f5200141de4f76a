"""dossier memory forget, dossier pages forget: take things out of memory for good, after asking."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import NamedTuple

from app.cli.memories import finished
from app.cli.output import confirmed, one_line, print_json
from app.cli.pages import missing
from app.cli.redrawing import redraw, rewritten, undrawn
from config.counted import counted
from config.errors import EXIT, Problem
from config.settings import settings
from memory.forgetting.aim import Aim
from memory.forgetting.door import Plan, aimed, forget, planned, unfinished
from memory.pages.listing import shown
from memory.pages.within import Origin, from_origin
from memory.pages.within import copies as same
from runs.place import owned

MOST = 30_000
"""So many pages are forgotten at once; SQLite as it usually comes takes 32,766 values."""


class Shown(NamedTuple):
    """What forgetting touches, and what it leaves, by path."""

    plan: Plan
    reports: list[str]
    """The files of reports that are rewritten."""
    copies: dict[str, str]
    """Pages that say the same and stay, each with where it is from."""

    @property
    def written(self) -> list[str]:
        """Every file that is rewritten, beside the databases."""
        return [*self.reports, *self.plan.written]


class Wish(NamedTuple):
    """How a person wants it done."""

    sure: bool = False
    look: bool = False
    """Whether only to show what would be touched."""
    copies: bool = False
    """Whether to forget copies elsewhere, too."""
    as_json: bool = False


def main(*, ids: list[str], origin: str, project: str, **how: bool) -> int:
    """Forget pages, if the person says so; return the exit status.

    Raises:
        Problem: `usage`, `page_not_found`, or what `memory.forgetting.door` tells of.
    """
    owner = owned(settings().user, project)
    found = finished(named(owner, ids, origin, forgotten=True))
    return _forget(Aim(owner, pages=tuple(found.ids), origin=origin), Wish(**how), found.kept)


def forgetting(*, ids: list[str], project: str, **how: bool) -> int:
    """Forget things of any memory, if the person says so; return the exit status.

    Raises:
        Problem: What `memory.forgetting.door` tells of.
    """
    return _forget(finished(aimed(owned(settings().user, project), ids)), Wish(**how), {})


def _forget(what: Aim, wish: Wish, kept: dict[str, str]) -> int:
    shown = finished(_planned(what, kept, copies=wish.copies))
    plan = shown.plan
    if wish.look:
        return _look(shown, as_json=wish.as_json)
    if not (wish.sure or _agreed(shown)):
        return _let_be(as_json=wish.as_json)
    beyond = finished(forget(plan, partial(redraw, what.owner)))
    if wish.as_json:
        print_json({**_plain(shown), "beyond": beyond})
    else:
        print(f"{_counts(plan)} forgotten.")
        for line in [*_stays(shown), *([f"Beyond reach: {beyond}."] if beyond else [])]:
            print(line)
    return EXIT["partial"] if plan.unread else 0


def _look(shown: Shown, *, as_json: bool) -> int:
    """Show what would be touched; nothing is."""
    if as_json:
        print_json({**_plain(shown), "forgotten": 0})
    else:
        print("\n".join([*_touched(shown), *_stays(shown), _counts(shown.plan)]))
    return 0


def _let_be(*, as_json: bool) -> int:
    if as_json:
        print_json({"forgotten": 0, "ids": []})
    else:
        print("Nothing is forgotten.")
    return 0


async def _planned(what: Aim, kept: dict[str, str], *, copies: bool) -> Shown:
    also = {**await same(what.owner, what.pages), **kept}
    if copies:
        what, also = what._replace(pages=(*what.pages, *also)), {}
    if len(what.pages) > MOST:
        told = f"{len(what.pages):,} pages are too many at once; the most is {MOST:,}"
        raise Problem("usage", told, hint="name the folders below one by one")
    plan = await planned(what)
    plan = plan._replace(reports=tuple(await undrawn(what.owner, plan.reports)))
    return Shown(plan, await rewritten(what.owner, plan.reports), also)


async def named(owner: str, ids: list[str], origin: str, *, forgotten: bool = False) -> Origin:
    """Return the pages that a person names by ids or by their origin.

    Args:
        owner: Whose.
        ids: The pages.
        origin: Where all of them are from; one of the two.
        forgotten: Whether pages may be named that a killed command has half forgotten.

    Raises:
        Problem: `usage` or `page_not_found`.
    """
    if bool(ids) == bool(origin):
        what = "name pages, or one origin" if ids else "nothing is named"
        raise Problem("usage", what, hint="dossier pages remove ID..., or --origin X")
    if origin:
        found = await from_origin(owner, origin)
        if not (found.ids or found.kept):
            hint = "an address, a file, a folder, a run or a conversation"
            raise Problem("page_not_found", f"no page is from {origin!r}", hint=hint)
        return found
    unknown = [one for one in ids if await shown(owner, one) is None]
    half = await unfinished(owner) if forgotten else set()
    if unknown and not half.issuperset(unknown):
        raise missing(unknown)
    return Origin(list(dict.fromkeys(ids)), {})


def _agreed(shown: Shown) -> bool:
    asked = f"Forget {_counts(shown.plan)}? It cannot be undone."
    return confirmed(asked, "forget_unconfirmed", [*_touched(shown), *_stays(shown)])


def _plain(shown: Shown) -> dict[str, object]:
    plan = shown.plan
    counts = {"pages": plan.pages, "facts": plan.facts, "profile": plan.what.profile}
    return {
        "forgotten": len(plan.what.ids),
        "ids": list(plan.what.ids),
        **counts,
        "reports": [one.run for one in plan.reports],
        "threads": plan.threads,
        "rewritten": shown.written,
        "deleted": list(plan.deleted),
        "copies_kept": [{"page": id, "in": where} for id, where in shown.copies.items()],
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
        "list of files": int(bool(plan.what.origin) and not plan.what.pages),
    }
    told = [counted(count, name) for name, count in counts.items() if count]
    return ", ".join(told) or "Nothing more"


def _touched(shown: Shown) -> list[str]:
    """Name every file that is rewritten or deleted, and every conversation."""
    files = [f"rewritten: {path}" for path in shown.written]
    files += [f"deleted: {path}" for path in shown.plan.deleted]
    return [one_line(line) for line in (*files, *(f"thread: {one}" for one in shown.plan.threads))]


def _stays(shown: Shown) -> list[str]:
    """Say which lines a person wrote themselves say it too, and what nobody can look into."""
    plan = shown.plan
    own = [f"Your own lines in {path} say it too; they stay: edit them." for path in plan.files]
    unread = [f"{one.where} stays as it is: {one.what}." for one in plan.unread]
    copies = []
    for where, count in Counter(shown.copies.values()).items():
        says = counted(count, "page says the same and stays", "pages say the same and stay")
        copies.append(f"{says} in {where}; --copies forgets them too.")
    return [one_line(line) for line in (*copies, *own, *unread)]
