"""What is to be erased, and by what it is recognised wherever it is said again."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from library.keywords import keyword_index
from library.page_rows import RETIRED
from library.tables import namespaces, pages
from memory.experience.tables import experiences, insight_runs, insights, utterances
from memory.facts.tables import facts
from memory.profile.tables import profiles
from memory.profile.traits import Profile
from memory.protocol import ErasureRequest, MemoryItem
from privacy.erasure import (
    FORGOTTEN_MARK,
    KEYWORD_NGRAM,
    Erasure,
    is_cjk_character,
    iter_word_ngrams,
    list_keyword_ngrams,
    list_placed_words,
    word_sequence,
)
from runs.tables import runs
from storage.tables import events
from text.sentences import split_sentences
from text.words import search_words

QUERY_KEYS = {"question", "query", "queries"}
"""Under these keys a run writes down what it looks for."""


class _RunQueries(NamedTuple):
    """What was asked in a run."""

    questions: set[str]
    """The question and its sentences, and in what words it stands alone."""
    queries: set[str]
    """What the run has searched for."""
    kept_texts: list[str]
    """What the person asks in the rest of the conversation, and what other runs teach."""


def _collect_run_queries(
    connection: Connection, owner: str, named: tuple[str, ...]
) -> dict[str, _RunQueries]:
    """Return what was asked in runs, of this program and of others that were imported."""
    return {run: _collect_queries(connection, owner, run, named) for run in named}


def _collect_queries(
    connection: Connection, owner: str, run: str, named: tuple[str, ...]
) -> _RunQueries:
    questions: list[str] = []
    for table, id in ((runs, runs.c.id), (experiences, experiences.c.run)):
        its = select(table.c.question).where(table.c.owner == owner, id == run)
        questions += connection.execute(its).scalars()
    bare = [question.replace(FORGOTTEN_MARK, " ") for question in questions]
    said = {one.text for question in bare for one in split_sentences(question)}
    elsewhere = [*_beside(connection, owner, run, named), *_taught(connection, owner, named)]
    return _RunQueries({*bare, *said}, set(_queries(connection, owner, run)), elsewhere)


def _queries(connection: Connection, owner: str, run: str) -> Iterator[str]:
    its = select(utterances.c.kind, utterances.c.action).where(
        utterances.c.owner == owner, utterances.c.run == run
    )
    for row in connection.execute(its):
        found = [row.action] if row.kind == "search" else _own(_data(row.action))
        yield from (one.replace(FORGOTTEN_MARK, " ") for one in found)


def _own(data: Any, key: str = "") -> Iterator[str]:
    """Yield what stands in data under a key of those that hold questions."""
    match data:
        case str() if key in QUERY_KEYS:
            yield data
        case list():
            for one in data:
                yield from _own(one, key)
        case dict():
            for name, one in data.items():
                yield from _own(one, name)


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _beside(connection: Connection, owner: str, run: str, named: tuple[str, ...]) -> list[str]:
    """Return the other questions of the conversation."""
    its = select(runs.c.thread).where(runs.c.owner == owner, runs.c.id == run)
    others = select(runs.c.question).where(
        runs.c.owner == owner, runs.c.thread.in_(its), runs.c.id.not_in(named)
    )
    return list(connection.execute(others).scalars())


def _taught(connection: Connection, owner: str, named: tuple[str, ...]) -> list[str]:
    """Return what is known from other runs."""
    of = select(insight_runs.c.insight).where(
        insight_runs.c.owner == owner, insight_runs.c.run.in_(named)
    )
    others = select(insights.c.content).where(
        insights.c.owner == owner, insights.c.live == 1, insights.c.id.not_in(of)
    )
    return list(connection.execute(others).scalars())


PRIMARY_KINDS = ("file", "web", "chat")
"""The kinds of pages that say something themselves; others say again what these say."""

CHAT_PAGE_KIND = "chat"
"""The kind of pages that those of kind `session` say again."""

FEWEST_WORDS, FEWEST_CHARACTERS = 2, 4
"""A shorter text is forgotten only where it stands alone; it may be part of anything."""


class ErasureTarget(NamedTuple):
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

    def request_for(self, memory: str, everywhere: Erasure, why: str = "") -> ErasureRequest:
        """Return what one memory must erase.

        Args:
            memory: Its name.
            everywhere: What is erased wherever it is said again.
            why: The reason, for the log.
        """
        ids = {
            "instructions": self.files,
            "profile": ("profile",) * self.profile,
            "facts": self.facts,
            "experience": self.insights,
        }
        named = ids.get(memory, ())
        return ErasureRequest(self.owner, named, everywhere.redact, FORGOTTEN_MARK, why)


class ErasurePatterns(NamedTuple):
    """By what something is recognised that is to be forgotten."""

    everywhere: Erasure
    """What the person said: it goes wherever it stands."""
    nearby: Erasure
    """Beside that, in the conversations in which it was said."""
    by_page: Mapping[str, Erasure]
    """What pages say that were used, by their ids: it goes in the conversations that did so."""
    by_run: Mapping[str, Erasure]
    """What was asked in runs, by their ids: it goes in their conversations."""


def build_erasure_target(
    owner: str, items: Iterable[MemoryItem], runs: Iterable[str] = ()
) -> ErasureTarget:
    """Return the aim at some things of whatever memory, and at what was asked in runs."""
    of: dict[str, list[str]] = defaultdict(list)
    for item in items:
        of[item.kind if item.memory == "experience" else item.memory].append(item.id)
    return ErasureTarget(
        owner,
        facts=tuple(of["facts"]),
        pages=(*of["pages"], *of["reports"]),
        files=tuple(of["instructions"]),
        profile="profile" in of,
        runs=tuple(dict.fromkeys([*runs, *of["run"]])),
        insights=tuple(of["insight"]),
    )


def build_erasure_patterns(
    connection: Connection, what: ErasureTarget, used: Collection[str]
) -> ErasurePatterns:
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
        words_ = {word for text in said for word in search_words(text)}
        lone = _unique_words(connection, what.owner, words_, Counter(), others)
        nearby = Erasure(
            keyword_ngrams=frozenset(set().union(*map(list_keyword_ngrams, said))),
            terms=frozenset(lone),
        )
    retold = [row for row in rows if row.id in used or row.kind == CHAT_PAGE_KIND]
    twins = _twins(connection, what)
    of_pages = {
        row.id: Erasure(pages=frozenset([row.id]))
        if row.id in twins
        else _of_page(connection, row, going, others)
        for row in retold
    }
    of_runs = {
        run: _of_run(connection, what.owner, one, others)
        for run, one in _collect_run_queries(connection, what.owner, what.runs).items()
    }
    return ErasurePatterns(everywhere, nearby, of_pages, of_runs)


def _twins(connection: Connection, what: ErasureTarget) -> set[str]:
    """Return those pages of which a copy is kept: what was made of it rests on the copy too."""
    mine = select(pages.c.id, pages.c.sha256).where(
        pages.c.owner == what.owner, pages.c.id.in_(what.pages)
    )
    said = {row.id: row.sha256 for row in connection.execute(mine)}
    every = select(pages.c.id, pages.c.sha256).where(
        pages.c.owner == what.owner, pages.c.kind.in_(PRIMARY_KINDS), pages.c.indexed > RETIRED
    )
    rows = connection.execute(every) if said else ()
    kept = {row.sha256 for row in rows if row.id not in said}
    return {id for id, same in said.items() if same in kept}


def erasure_of_sentences(texts: Iterable[str]) -> Erasure:
    """Return what forgets some sentences, in whatever form they are said again."""
    return _of_words(texts)


def _of_facts(connection: Connection, what: ErasureTarget) -> list[str]:
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


def _of_profile(connection: Connection, what: ErasureTarget, told: Collection[str]) -> list[str]:
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


def _of_insights(connection: Connection, what: ErasureTarget) -> list[str]:
    mine = select(insights.c.content, insights.c.projections).where(
        insights.c.owner == what.owner, insights.c.id.in_(what.insights)
    )
    said = [
        text
        for row in connection.execute(mine)
        for text in (row.content, *json.loads(row.projections).values())
    ]
    return [text for text in dict.fromkeys(said) if text.strip() and text != FORGOTTEN_MARK]


def _of_run(connection: Connection, owner: str, asked: _RunQueries, others: set[str]) -> Erasure:
    """Return what forgets a question, however it was put again while it was answered."""
    queries = {text for text in asked.queries if text.strip()}
    whole = [
        text for text in (*asked.questions, *queries) if len(search_words(text)) >= KEYWORD_NGRAM
    ]
    kept = set().union(*map(list_keyword_ngrams, asked.kept_texts))
    said = {word for text in (*asked.questions, *queries) for word in search_words(text)}
    known = others.union(*map(search_words, asked.kept_texts))
    return _of_words(asked.questions) | Erasure(
        whole_sentences=frozenset(map(word_sequence, queries)) - {""},
        keyword_ngrams=frozenset(set().union(*map(list_keyword_ngrams, whole)) - kept),
        terms=frozenset(_unique_words(connection, owner, said, Counter(), known)),
    )


def _of_words(said: Iterable[str]) -> Erasure:
    long: set[str] = set()
    short: set[str] = set()
    for text in said:
        cut = [token.word for token in list_placed_words(text)]
        chinese = sum(map(is_cjk_character, cut))
        enough = len(cut) - chinese >= FEWEST_WORDS or chinese >= FEWEST_CHARACTERS
        (long if enough else short).add(word_sequence(text))
    return Erasure(phrases=frozenset(long - {""}), whole_sentences=frozenset(short - {""}))


def _of_page(
    connection: Connection, row: Any, going: Mapping[str, int], others: set[str]
) -> Erasure:
    whole = f"{row.title}\n\n{row.abstract}\n\n{row.text}"
    lines = {word_sequence(sentence.text) for sentence in split_sentences(whole)} - {""}
    runs = {words_ for words_, _, _ in iter_word_ngrams(list_placed_words(row.text))}
    lone = _unique_words(connection, row.owner, set(search_words(whole)), going, others)
    return Erasure(
        whole_sentences=frozenset(lines),
        word_ngrams=frozenset(runs),
        terms=frozenset(lone),
        pages=frozenset([row.id]),
    )


def _others(connection: Connection, what: ErasureTarget) -> set[str]:
    """Return the search words of all that is known of a person, but for what is forgotten."""
    mine = select(facts.c.content).where(
        facts.c.owner == what.owner, facts.c.live == 1, facts.c.id.not_in(what.facts)
    )
    return {word for text in connection.execute(mine).scalars() for word in search_words(text)}


def _unique_words(
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
        namespaces.c.owner == owner, namespaces.c.kind.in_(PRIMARY_KINDS), namespaces.c.group == ""
    )
    numbers = list(connection.execute(shelves).scalars())
    left = sorted(asked - others)
    counts = (
        keyword_index(connection).count_pages(connection, numbers, left) if numbers and left else {}
    )
    return {word for word in left if counts.get(word, 0) <= going.get(word, 0)}


def _says_itself(row: Any) -> bool:
    return row.indexed > 0 and row.kind in PRIMARY_KINDS


def _words_of(row: Any) -> set[str]:
    return set(f"{row.title_words} {row.words}".split())
