"""The profile of a person, as people see it: one thing, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from memory.kept.shelf import Item, not_editable
from memory.profile.shape import Profile, Trait
from memory.profile.store import kept
from retrieval.words import words

ID = "profile"


class ProfileShelf:
    """Who a person is and how they like their answers."""

    name = "profile"

    async def listed(self, owner: str, limit: int, *, every: bool = False) -> list[Item]:
        """Return the profile, if anything is known."""
        del every
        item = await _item(owner)
        return [item] if item.text and limit else []

    async def named(self, owner: str, id: str) -> list[Item]:
        """Return the profile under its one name; it may be empty."""
        return [await _item(owner)] if id == ID else []

    async def search(self, owner: str, query: str, limit: int) -> list[Item]:
        """Return the profile if it has one of the words."""
        item = await _item(owner)
        fits = set(words(query)) & set(words(item.text))
        return [item] if fits and limit else []

    async def edit(self, owner: str, id: str, text: str) -> Item:
        """Refuse: a profile is what the person said."""
        del owner, text
        what, hint = "a profile is learnt, not written", 'say it: dossier memory add "I am …"'
        raise not_editable(id, what, hint)


async def _item(owner: str) -> Item:
    known = await kept(owner)
    text = "\n".join(_lines(known.profile))
    more = {"profile": known.profile, "revision": known.revision}
    return Item("profile", ID, text, title="who you are and what you like", more=more)


def _lines(profile: Profile) -> Iterator[str]:
    for name, trait in sorted(profile["tastes"].items()):
        yield _line(name, trait)
    for name in ("identities", "characteristics"):
        singular = {"identities": "identity", "characteristics": "characteristic"}[name]
        yield from (_line(singular, trait) for trait in profile[name])  # type: ignore[literal-required]


def _line(name: str, trait: Trait) -> str:
    quote = f" — “{trait['quote']}”" if trait["quote"] else ""
    return f"{name}: {trait['text']}{quote}"
