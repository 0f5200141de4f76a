"""Say what is to be forgotten, and by what it is recognised wherever it is said again."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from memory.forgetting.asked import Asked, asked
from memory.forgetting.erasure import MARK, Erasure
from memory.forgetting.wording import GIST, gists, han, run, shared, tokens
from memory.kept.shelf import Item
from memory.pages.rows import GONE
from memory.profile.shape import Profile
from retrieval.text import sentences
from retrieval.words import words
from storage.keywords import keywords
from storage.tables import (
    events,
    facts,
    insights,
    namespaces,
    pages,
    profiles,
)

SAID = ("file", "web", "chat")
"""The kinds of pages that say something themselves; others say again what these say."""

TURN = "chat"
"""The kind of pages that those of kind `session` say again."""

FEWEST_WORDS, FEWEST_CHARACTERS = 2, 4
"""A shorter text is forgotten only where it stands alone; it may be part of anything."""


class Aim(NamedTuple):
    """What an owner wants forgotten, by its ids."""

    owner: str
    facts: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """The paths of memory files; what agents wrote into them is forgotten."""
    profile: bool = False
    runs: tuple[str, ...] = ()
    """Runs whose question is forgotten, wherever it stands in their conversation."""
    insights: tuple[str, ...] = ()
    origin: str = ""
    """A file or folder that is in no list any more, whoever else holds the same."""

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids that are named."""
        profile = ["profile"] * self.profile
        return (*self.facts, *self.pages, *self.files, *profile, *self.runs, *self.insights)


class Known(NamedTuple):
    """By what something is recognised that is to be forgotten."""

    everywhere: Erasure
    """What the person said: it goes wherever it stands."""
    nearby: Erasure
    """Beside that, in the conversations in which it was said."""
    of_pages: Mapping[str, Erasure]
    """What pages say that were used, by their ids: it goes in the conversations that did so."""
    of_runs: Mapping[str, Erasure]
    """What was asked in runs, by their ids: it goes in their conversations."""


def aim(owner: str, items: Iterable[Item], runs: Iterable[str] = ()) -> Aim:
    """Return the aim at some things of whatever memory, and at what was asked in runs."""
    of: dict[str, list[str]] = defaultdict(list)
    for item in items:
        of[item.kind if item.memory == "experience" else item.memory].append(item.id)
    return Aim(
        owner,
        facts=tuple(of["facts"]),
        pages=(*of["pages"], *of["reports"]),
        files=tuple(of["instructions"]),
        profile="profile" in of,
        runs=tuple(dict.fromkeys([*runs, *of["run"]])),
        insights=tuple(of["insight"]),
    )


def recognised(connection: Connection, what: Aim, used: Collection[str]) -> Known:
    """Return by what things are recognised; nothing of what was forgotten before.

    Args:
        connection: To read by.
        what: The things.
        used: The pages that something may say again; of others it is not worked out.
    """
    told = _of_facts(connection, what)
    said = [*told, *_of_profile(connection, what, told), *_of_insights(connection, what)]
    rows = connection.execute(
        select(pages).where(pages.c.owner == what.owner, pages.c.id.in_(what.pages))
    ).all()
    others = _others(connection, what)
    going = Counter(word for row in rows if _says_itself(row) for word in _words_of(row))
    everywhere, nearby = _of_words(said), Erasure()
    if said:
        words_ = {word for text in said for word in words(text)}
        lone = _lone(connection, what.owner, words_, Counter(), others)
        nearby = Erasure(gists=frozenset(set().union(*map(gists, said))), terms=frozenset(lone))
    retold = [row for row in rows if row.id in used or row.kind == TURN]
    twins = _twins(connection, what)
    of_pages = {
        row.id: Erasure(pages=frozenset([row.id]))
        if row.id in twins
        else _of_page(connection, row, going, others)
        for row in retold
    }
    of_runs = {
        run: _of_run(connection, what.owner, one, others)
        for run, one in asked(connection, what.owner, what.runs).items()
    }
    return Known(everywhere, nearby, of_pages, of_runs)


def _twins(connection: Connection, what: Aim) -> set[str]:
    """Return those pages of which a copy is kept: what was made of it rests on the copy too."""
    mine = select(pages.c.id, pages.c.sha256).where(
        pages.c.owner == what.owner, pages.c.id.in_(what.pages)
    )
    said = {row.id: row.sha256 for row in connection.execute(mine)}
    every = select(pages.c.id, pages.c.sha256).where(
        pages.c.owner == what.owner, pages.c.kind.in_(SAID), pages.c.indexed > GONE
    )
    rows = connection.execute(every) if said else ()
    kept = {row.sha256 for row in rows if row.id not in said}
    return {id for id, same in said.items() if same in kept}


def derived(texts: Iterable[str]) -> Erasure:
    """Return what forgets some sentences, in whatever form they are said again."""
    return _of_words(texts)


def _of_facts(connection: Connection, what: Aim) -> list[str]:
    """Return everything that facts say or said, and the words they rest on."""
    mine = select(facts.c.content, facts.c.quote).where(
        facts.c.owner == what.owner, facts.c.id.in_(what.facts)
    )
    said = [text for row in connection.execute(mine) for text in row]
    log = select(events.c.before, events.c.after).where(
        events.c.owner == what.owner, events.c.item.in_(what.facts)
    )
    for row in connection.execute(log):
        for side in filter(None, row):
            data = json.loads(side)
            said += [str(data.get(name) or "") for name in ("content", "quote")]
    return [text for text in dict.fromkeys(said) if text.strip()]


def _of_profile(connection: Connection, what: Aim, told: Collection[str]) -> list[str]:
    """Return what a profile says of who somebody is, and the words that rests on.

    Where the profile itself is kept, only what rests on words that are `told` and forgotten.
    """
    row = connection.execute(select(profiles.c.data).where(profiles.c.owner == what.owner)).scalar()
    profile: Profile = json.loads(row) if row else {"tastes": {}}  # type: ignore[typeddict-item]
    who = [*profile.get("identities", []), *profile.get("characteristics", [])]
    if not what.profile:
        return [one["text"] for one in who if one["quote"] in told and one["text"].strip()]
    quotes = [one["quote"] for one in (*who, *profile["tastes"].values())]
    return [text for text in (*(one["text"] for one in who), *quotes) if text.strip()]


def _of_insights(connection: Connection, what: Aim) -> list[str]:
    mine = select(insights.c.content, insights.c.projections).where(
        insights.c.owner == what.owner, insights.c.id.in_(what.insights)
    )
    said = [
        text
        for row in connection.execute(mine)
        for text in (row.content, *json.loads(row.projections).values())
    ]
    return [text for text in dict.fromkeys(said) if text.strip() and text != MARK]


def _of_run(connection: Connection, owner: str, asked: Asked, others: set[str]) -> Erasure:
    """Return what forgets a question, however it was put again while it was answered."""
    queries = {text for text in asked.queries if text.strip()}
    whole = [text for text in (*asked.said, *queries) if len(words(text)) >= GIST]
    kept = set().union(*map(gists, asked.elsewhere))
    said = {word for text in (*asked.said, *queries) for word in words(text)}
    known = others.union(*map(words, asked.elsewhere))
    return _of_words(asked.said) | Erasure(
        lines=frozenset(map(run, queries)) - {""},
        gists=frozenset(set().union(*map(gists, whole)) - kept),
        terms=frozenset(_lone(connection, owner, said, Counter(), known)),
    )


def _of_words(said: Iterable[str]) -> Erasure:
    long: set[str] = set()
    short: set[str] = set()
    for text in said:
        cut = [token.word for token in tokens(text)]
        chinese = sum(map(han, cut))
        enough = len(cut) - chinese >= FEWEST_WORDS or chinese >= FEWEST_CHARACTERS
        (long if enough else short).add(run(text))
    return Erasure(phrases=frozenset(long - {""}), lines=frozenset(short - {""}))


def _of_page(
    connection: Connection, row: Any, going: Mapping[str, int], others: set[str]
) -> Erasure:
    whole = f"{row.title}\n\n{row.abstract}\n\n{row.text}"
    lines = {run(sentence.text) for sentence in sentences(whole)} - {""}
    runs = {words_ for words_, _, _ in shared(tokens(row.text))}
    lone = _lone(connection, row.owner, set(words(whole)), going, others)
    return Erasure(
        lines=frozenset(lines),
        shared=frozenset(runs),
        terms=frozenset(lone),
        pages=frozenset([row.id]),
    )


def _others(connection: Connection, what: Aim) -> set[str]:
    """Return the search words of all that is known of a person, but for what is forgotten."""
    mine = select(facts.c.content).where(
        facts.c.owner == what.owner, facts.c.live == 1, facts.c.id.not_in(what.facts)
    )
    return {word for text in connection.execute(mine).scalars() for word in words(text)}


def _lone(
    connection: Connection, owner: str, asked: set[str], going: Mapping[str, int], others: set[str]
) -> set[str]:
    """Return those words that nothing else has which an owner keeps.

    Args:
        connection: To read by.
        owner: Whose.
        asked: The words.
        going: How many pages that are forgotten too have a word; they do not count.
        others: Words that something else has for certain.
    """
    shelves = select(namespaces.c.number).where(
        namespaces.c.owner == owner, namespaces.c.kind.in_(SAID), namespaces.c.group == ""
    )
    numbers = list(connection.execute(shelves).scalars())
    left = sorted(asked - others)
    counts = keywords(connection).counts(connection, numbers, left) if numbers and left else {}
    return {word for word in left if counts.get(word, 0) <= going.get(word, 0)}


def _says_itself(row: Any) -> bool:
    return row.indexed > 0 and row.kind in SAID


def _words_of(row: Any) -> set[str]:
    return set(f"{row.title_words} {row.words}".split())
