"""The target of an erasure, and the patterns that recognise repetitions of its text."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from library.keyword_index import keyword_index
from library.page_rows import RETIRED
from library.tables import namespaces, pages
from memory.profile.traits import Profile
from memory.protocol import ErasureRequest, MemoryItem
from memory.tables import experiences, facts, insight_runs, insights, profiles, utterances
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
"""The keys under which a run logs its searches."""


def _queries(connection: Connection, owner: str, run: str) -> Iterator[str]:
    """Yield the searches of a run."""
    its = select(utterances.c.kind, utterances.c.action).filter_by(owner=owner, run=run)
    for kind, action in connection.execute(its):
        with suppress(ValueError):
            queries = [action] if kind == "search" else _query_values(json.loads(action))
            yield from (query.replace(FORGOTTEN_MARK, " ") for query in queries)


def _query_values(data: Any, key: str = "") -> Iterator[str]:
    """Yield the texts below a key of `QUERY_KEYS`."""
    match data:
        case str() if key in QUERY_KEYS:
            yield data
        case list():
            for element in data:
                yield from _query_values(element, key)
        case dict():
            for name, value in data.items():
                yield from _query_values(value, name)


def _other_questions(connection: Connection, what: ErasureTarget, run: str) -> list[str]:
    """Return the other questions of the conversation."""
    threads = select(runs.c.thread).filter_by(owner=what.owner, id=run)
    mine = select(runs.c.question).filter_by(owner=what.owner)
    others = mine.where(runs.c.thread.in_(threads), runs.c.id.not_in(what.runs))
    return list(connection.execute(others).scalars())


def _other_insights(connection: Connection, what: ErasureTarget) -> list[str]:
    """Return the insights from other runs."""
    taught = select(insight_runs.c.insight).filter_by(owner=what.owner)
    erased = taught.where(insight_runs.c.run.in_(what.runs))
    mine = select(insights.c.content).filter_by(owner=what.owner, live=1)
    return list(connection.execute(mine.where(insights.c.id.not_in(erased))).scalars())


PRIMARY_KINDS = ("file", "web", "chat")
"""The kinds of pages with original text; all others are derived from these."""

CHAT_PAGE_KIND = "chat"
"""The kind of pages that pages of kind `session` summarise."""

FEWEST_WORDS, FEWEST_CHARACTERS = 2, 4
"""A shorter text is erased only as a whole sentence, since it may be part of anything."""


class ErasureTarget(NamedTuple):
    """The items to erase, by their ids."""

    owner: str
    facts: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """The paths of memory files whose lines by agents are erased."""
    profile: bool = False
    runs: tuple[str, ...] = ()
    """Runs whose question is erased throughout their conversation."""
    insights: tuple[str, ...] = ()
    origin: str = ""
    """A file or folder to unlist, even if other folders hold the same pages."""

    @property
    def ids(self) -> tuple[str, ...]:
        """All selected ids."""
        profile = ["profile"] * self.profile
        return (*self.facts, *self.pages, *self.files, *profile, *self.runs, *self.insights)

    def request_for(self, memory: str, everywhere: Erasure, why: str = "") -> ErasureRequest:
        """Return the request to one memory.

        Args:
            memory: The name of the memory.
            everywhere: The text to erase wherever it occurs.
            why: The reason, for the log.
        """
        ids = {
            "instructions": self.files,
            "profile": ("profile",) * self.profile,
            "facts": self.facts,
            "experience": self.insights,
        }
        return ErasureRequest(
            self.owner, ids.get(memory, ()), everywhere.redact, FORGOTTEN_MARK, why
        )


class ErasurePatterns(NamedTuple):
    """The text to erase, by where it is erased."""

    everywhere: Erasure
    """Statements of the person, erased everywhere."""
    nearby: Erasure
    """What is also erased in the conversations with these statements."""
    by_page: Mapping[str, Erasure]
    """The text of pages by id, erased in the conversations that used the page."""
    by_run: Mapping[str, Erasure]
    """The questions of runs by id, erased in their conversations."""


def build_erasure_target(
    owner: str, items: Iterable[MemoryItem], runs: Iterable[str] = ()
) -> ErasureTarget:
    """Return the target for items of any memory and for the questions of runs."""
    ids: dict[str, list[str]] = defaultdict(list)
    for item in items:
        ids[item.kind if item.memory == "experience" else item.memory].append(item.id)
    return ErasureTarget(
        owner,
        facts=tuple(ids["facts"]),
        pages=(*ids["pages"], *ids["reports"]),
        files=tuple(ids["instructions"]),
        profile="profile" in ids,
        runs=tuple(dict.fromkeys([*runs, *ids["run"]])),
        insights=tuple(ids["insight"]),
    )


def build_erasure_patterns(
    connection: Connection, what: ErasureTarget, used: Collection[str]
) -> ErasurePatterns:
    """Return the patterns of a target, without text that was erased before.

    Args:
        connection: A connection to read with.
        what: The target.
        used: The pages that other text may repeat; only these and chat pages get patterns.
    """
    fact_texts = _fact_texts(connection, what)
    statements = [
        *fact_texts,
        *_profile_texts(connection, what, fact_texts),
        *_insight_texts(connection, what),
    ]
    mine = select(pages).filter_by(owner=what.owner)
    rows = connection.execute(mine.where(pages.c.id.in_(what.pages))).all()
    kept_words = _kept_words(connection, what)
    erased_counts = Counter(
        word
        for row in rows
        if row.indexed > 0 and row.kind in PRIMARY_KINDS
        for word in set(f"{row.title_words} {row.words}".split())
    )
    nearby = Erasure()
    if statements:
        nearby = Erasure(
            keyword_ngrams=_keyword_ngrams(statements),
            terms=_unique_words(connection, what.owner, statements, kept_words),
        )
    copied = _copied_pages(connection, what.owner, {row.id: row.sha256 for row in rows})
    by_page = {
        row.id: Erasure(pages=frozenset([row.id]))
        if row.id in copied
        else _erasure_of_page(connection, row, erased_counts, kept_words)
        for row in rows
        if row.id in used or row.kind == CHAT_PAGE_KIND
    }
    by_run = {run: _erasure_of_run(connection, what, run, kept_words) for run in what.runs}
    return ErasurePatterns(erasure_of_sentences(statements), nearby, by_page, by_run)


def _copied_pages(connection: Connection, owner: str, erased: Mapping[str, str]) -> set[str]:
    """Return the pages with a copy that stays: text derived from them rests on the copy too.

    Args:
        connection: A connection to read with.
        owner: The owner of the pages.
        erased: The hashes of the texts of the erased pages, by their ids.
    """
    mine = select(pages.c.id, pages.c.sha256).filter_by(owner=owner)
    primary = mine.where(pages.c.kind.in_(PRIMARY_KINDS), pages.c.indexed > RETIRED)
    rows = connection.execute(primary) if erased else ()
    kept = {sha256 for id, sha256 in rows if id not in erased}
    return {id for id, sha256 in erased.items() if sha256 in kept}


def _fact_texts(connection: Connection, what: ErasureTarget) -> list[str]:
    """Return the current and former texts of facts, and their quotes."""
    mine = select(facts.c.content, facts.c.quote).filter_by(owner=what.owner)
    rows = connection.execute(mine.where(facts.c.id.in_(what.facts)))
    texts = [text for row in rows for text in row]
    log = select(events.c.before, events.c.after).filter_by(owner=what.owner)
    for row in connection.execute(log.where(events.c.item.in_(what.facts))):
        for side in filter(None, row):
            data = json.loads(side)
            texts += [str(data.get(name) or "") for name in ("content", "quote")]
    return [text for text in dict.fromkeys(texts) if text.strip()]


def _profile_texts(
    connection: Connection, what: ErasureTarget, erased: Collection[str]
) -> list[str]:
    """Return the traits of a profile and their quotes.

    If the profile itself stays, return only the traits whose quotes are erased.
    """
    row = connection.execute(select(profiles.c.data).filter_by(owner=what.owner)).scalar()
    profile: Profile = json.loads(row) if row else {"tastes": {}}  # type: ignore[typeddict-item]
    traits = [*profile.get("identities", []), *profile.get("characteristics", [])]
    if what.profile:
        texts = [trait["text"] for trait in traits]
        texts += [trait["quote"] for trait in (*traits, *profile["tastes"].values())]
    else:
        texts = [trait["text"] for trait in traits if trait["quote"] in erased]
    return [text for text in texts if text.strip()]


def _insight_texts(connection: Connection, what: ErasureTarget) -> list[str]:
    mine = select(insights.c.content, insights.c.projections).filter_by(owner=what.owner)
    rows = connection.execute(mine.where(insights.c.id.in_(what.insights)))
    texts = [text for words, roles in rows for text in (words, *json.loads(roles).values())]
    return [text for text in dict.fromkeys(texts) if text.strip() and text != FORGOTTEN_MARK]


def _erasure_of_run(
    connection: Connection, what: ErasureTarget, run: str, kept_words: set[str]
) -> Erasure:
    """Return the erasure of a run's question and of its searches, also of an imported run."""
    asked: set[str] = set()
    for table, id in ((runs, runs.c.id), (experiences, experiences.c.run)):
        mine = select(table.c.question).filter_by(owner=what.owner)
        for question in connection.execute(mine.where(id == run)).scalars():
            bare = question.replace(FORGOTTEN_MARK, " ")
            asked |= {bare, *(span.text for span in split_sentences(bare))}
    queries = {text for text in _queries(connection, what.owner, run) if text.strip()}
    texts = (*asked, *queries)
    whole = [text for text in texts if len(search_words(text)) >= KEYWORD_NGRAM]
    kept = [*_other_questions(connection, what, run), *_other_insights(connection, what)]
    known = kept_words.union(*map(search_words, kept))
    return erasure_of_sentences(asked) | Erasure(
        whole_sentences=frozenset(map(word_sequence, queries)) - {""},
        keyword_ngrams=_keyword_ngrams(whole) - _keyword_ngrams(kept),
        terms=_unique_words(connection, what.owner, texts, known),
    )


def _keyword_ngrams(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(list_keyword_ngrams, texts))


def erasure_of_sentences(texts: Iterable[str]) -> Erasure:
    """Return the erasure of sentences, in any form in which they are repeated."""
    long: set[str] = set()
    short: set[str] = set()
    for text in texts:
        words = [token.word for token in list_placed_words(text)]
        chinese = sum(map(is_cjk_character, words))
        enough = len(words) - chinese >= FEWEST_WORDS or chinese >= FEWEST_CHARACTERS
        (long if enough else short).add(word_sequence(text))
    return Erasure(phrases=frozenset(long - {""}), whole_sentences=frozenset(short - {""}))


def _erasure_of_page(
    connection: Connection, row: Any, erased_counts: Mapping[str, int], kept_words: set[str]
) -> Erasure:
    whole = f"{row.title}\n\n{row.abstract}\n\n{row.text}"
    lines = {word_sequence(sentence.text) for sentence in split_sentences(whole)} - {""}
    ngrams = {words for words, _, _ in iter_word_ngrams(list_placed_words(row.text))}
    return Erasure(
        whole_sentences=frozenset(lines),
        word_ngrams=frozenset(ngrams),
        terms=_unique_words(connection, row.owner, [whole], kept_words, erased_counts),
        pages=frozenset([row.id]),
    )


def _kept_words(connection: Connection, what: ErasureTarget) -> set[str]:
    """Return the search words of all facts that stay."""
    mine = select(facts.c.content).filter_by(owner=what.owner, live=1)
    texts = connection.execute(mine.where(facts.c.id.not_in(what.facts))).scalars()
    return set().union(*map(search_words, texts))


def _unique_words(
    connection: Connection,
    owner: str,
    texts: Iterable[str],
    kept_words: set[str],
    erased_counts: Mapping[str, int] = MappingProxyType({}),
) -> frozenset[str]:
    """Return the words of texts that occur in nothing that stays.

    Args:
        connection: A connection to read with.
        owner: The owner of the pages.
        texts: The texts.
        kept_words: Words that are known to stay.
        erased_counts: The number of erased pages with each word.
    """
    whole = select(namespaces.c.number).filter_by(owner=owner, group="")
    primary = connection.execute(whole.where(namespaces.c.kind.in_(PRIMARY_KINDS)))
    numbers = list(primary.scalars())
    rest = sorted(set().union(*map(search_words, texts)) - kept_words)
    counts: Mapping[str, int] = {}
    if numbers and rest:
        counts = keyword_index(connection).count_pages(connection, numbers, rest)
    return frozenset(word for word in rest if counts.get(word, 0) <= erased_counts.get(word, 0))
