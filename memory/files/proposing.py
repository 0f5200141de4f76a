"""Take what an agent would keep in a memory file, and make a proposal of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from config.errors import Problem
from config.settings import settings
from memory.files.deciding import approve
from memory.files.lineage import Read, stands_in, wished
from memory.files.proposals import Proposal, keep
from memory.files.section import divided, replaced
from memory.files.sources import Source
from memory.files.text import LARGEST, decoded, visible
from retrieval.secrets import held
from retrieval.text import normalise

LONGEST = 2_000
"""The most characters that one edit may add."""

REASON = 500
"""The most characters of the reason that are kept."""

NOTHING = Read()


class Edit(NamedTuple):
    """What an agent asks for."""

    new: str
    """The new lines; nothing to take the old ones out."""
    why: str
    old: str = ""
    """Words of the agents' section that they take the place of; nothing to add them at its end."""
    path: str = ""
    """Which file; the person's where none is named."""


class Asker(NamedTuple):
    """Whose agent asks, and where in which run."""

    owner: str
    run: str = ""
    step: str = ""


async def propose(
    asker: Asker, sources: Sequence[Source], edit: Edit, read: Read = NOTHING
) -> Proposal:
    """Propose an edit; it is applied at once if the installation allows that.

    Only what agents wrote can be changed. An edit is applied at once only if the person has said
    its words and nothing that the agent has read contains them; every other edit waits for the
    person, since a stranger's text may have caused it, however it is worded.

    Args:
        asker: Who asks.
        sources: The files there are; the first is the person's.
        edit: What is asked for.
        read: What the agent has seen.

    Raises:
        Problem: `edit_refused` when it may not be done, or what is wrong with the file.
    """
    source = _source(sources, edit.path)
    new = _clean(edit)
    text = decoded(await source.files.read(source.path) or b"", source.path)
    before, inside, after = divided(text, source.path)
    wanted = _edited(inside, edit.old.replace("\r\n", "\n"), new, outside=before + after)
    if len(replaced(text, wanted, source.path).encode()) > LARGEST:
        raise _refused("the file would be too large", "take out what matters no more")
    asked = Proposal(asker.owner, source.path, inside, wanted, edit.why.strip()[:REASON])
    own = wished(asked.added, asked.removed, read.said)
    if await asyncio.to_thread(stands_in, asked.added, read.texts) or (read.foreign and not own):
        asked = asked._replace(provenance="web")
    kept = await keep(asked._replace(run=asker.run, step=asker.step))
    if own and kept.provenance != "web" and settings().memory_edits == "allow":
        await approve(kept.owner, kept.id, source.files, status="allowed")
        return kept._replace(status="allowed")
    return kept


def _source(sources: Sequence[Source], path: str) -> Source:
    for source in sources:
        if path in ("", source.path):
            return source
    known = ", ".join(source.path for source in sources)
    what = f"{path!r} is no memory file"
    raise _refused(what, f"one of: {known}" if known else "there is none")


def _clean(edit: Edit) -> str:
    """Return the new lines with plain line breaks, without what nobody would see in them."""
    new = visible(normalise(edit.new)).strip("\n")
    if not edit.why.strip():
        raise _refused("no reason is given", "say why it should be kept")
    if not (new.strip() or edit.old):
        raise _refused("there is nothing to write")
    if len(new) > LONGEST:
        what = f"it has {len(new)} characters, the most is {LONGEST}"
        raise _refused(what, "keep what matters")
    if held(new):
        raise _refused("it holds what looks like a password, a key or the number of a card")
    if "<!--" in new or "-->" in new:
        raise _refused("comments may not be written")
    return new


def _edited(inside: str, old: str, new: str, *, outside: str) -> str:
    """Return the agents' lines after an edit."""
    if not old:
        edited = f"{inside}{new}"
    elif inside.count(old) == 1:
        edited = inside.replace(old, new)
    elif old in inside:
        raise _refused("the old words stand there more than once", "give more of them")
    elif old in outside.replace("\r\n", "\n"):
        raise _refused("the person wrote that, and only they change it")
    else:
        raise _refused("the old words do not stand in what agents wrote")
    lines = edited.strip("\n")
    edited = f"{lines}\n" if lines.strip() else ""
    if edited == inside:
        raise _refused("that changes nothing")
    return edited


def _refused(what: str, hint: str = "") -> Problem:
    return Problem("edit_refused", what, hint=hint)
