"""dossier pages remove: stop searching pages, and change nothing else."""

from __future__ import annotations

from app.cli.forget import named
from app.cli.memories import finished
from app.cli.output import print_json
from config.counted import counted
from config.settings import settings
from memory.pages.removing import Removed, remove
from runs.place import owned


def main(*, ids: list[str], origin: str, project: str, as_json: bool) -> int:
    """Let pages be found no more; return the exit status.

    Raises:
        Problem: `usage` or `page_not_found`.
    """
    done = finished(_removed(owned(settings().user, project), ids, origin))
    if as_json:
        print_json(done._asdict())
    elif not done.event:
        print("Nothing there is searched.")
    else:
        counts = {"page": done.pages, "file": done.files}
        told = ", ".join(counted(count, name) for name, count in counts.items() if count)
        print(f"{told} not searched any more; dossier memory undo {done.event} brings them back.")
    return 0


async def _removed(owner: str, ids: list[str], origin: str) -> Removed:
    found = await named(owner, ids, origin)
    return await remove(owner, found.ids, origin, "removed by the person")
