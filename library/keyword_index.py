"""The keyword index of pages: FTS5 on SQLite, `tsvector` under GIN on PostgreSQL."""

from __future__ import annotations

import itertools
import json
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, TextClause, text

TITLE_WEIGHT = 3.0
"""The weight of a title word in the index's own rank; a word of the text has 1."""


class KeywordEntry(NamedTuple):
    """A page's number, its namespaces, and the search words of its title and text.

    The words are joined by spaces.
    """

    number: int
    namespaces: Sequence[int]
    title: str
    body: str


class RankedWords(NamedTuple):
    """The words of a search, each with the number of pages that contain it."""

    counts: Mapping[str, int]
    pages: int
    """The number of pages that are searched."""
    rare: Sequence[str]
    """The rarest words; a page must contain one of them."""
    common: Sequence[str]
    """The other words; rarest first."""


class KeywordIndex(ABC):
    """A keyword index that stores a word once for each namespace of its page.

    So each namespace has its own list of pages for a word, and a lookup costs the same however many
    other namespaces contain the word. The statements are those of a dialect.
    """

    most: int
    """The most pages compared for one search."""
    make: Sequence[str]
    put: TextClause
    take: TextClause
    count: TextClause
    complete: TextClause
    find: TextClause
    find_newest: TextClause

    def create_index(self, connection: Connection) -> None:
        """Create the index if it is missing."""
        for statement in self.make:
            connection.exec_driver_sql(statement)

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in the index."""
        if entries:
            connection.execute(self.put, [self.row(entry) for entry in entries])

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages; the entries must equal those that were added."""
        if entries:
            connection.execute(self.take, [self.row(entry) for entry in entries])

    def count_pages(
        self, connection: Connection, namespaces: Sequence[int], words: Sequence[str]
    ) -> dict[str, int]:
        """Return how many pages contain each word; omit words that no page contains."""
        matches = {word: self.match_any(namespaces, [word]) for word in words}
        rows = connection.execute(self.count, {"matches": json.dumps(matches)})
        return {row.word: row.pages for row in rows if row.pages}

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` indexed words of each namespace that begin with `start`."""
        found: dict[str, None] = {}
        for number in namespaces:
            values = {"namespace": f"{number}:", "limit": limit, **self.prefix(number, start)}
            found |= dict.fromkeys(connection.execute(self.complete, values).scalars())
        return list(found)

    def find_best(
        self,
        connection: Connection,
        namespaces: Sequence[int],
        counts: Mapping[str, int],
        pages: int,
        limit: int,
    ) -> list[int]:
        """Return the numbers of the pages that match some words best, best first.

        A page must contain one of the rarest words, which together occur in at most `most` pages.
        If the rarest word alone occurs in more pages, only the newest of these are compared.

        Args:
            connection: To the database of the index.
            namespaces: Only pages of these.
            counts: The words, each with the number of pages that contain it.
            pages: The number of pages in the namespaces.
            limit: The most numbers returned.
        """
        if not counts:
            return []
        rare, common = split_by_rarity(counts, self.most)
        least = 0
        if counts[rare[0]] > self.most:
            newest = {"match": self.match_any(namespaces, rare), "limit": self.most}
            least = connection.execute(self.find_newest, newest).scalar() or 0
        values = self.rank(namespaces, RankedWords(counts, pages, rare, common), limit)
        found = connection.execute(self.find, {**values, "least": least, "limit": limit})
        return list(found.scalars())

    @abstractmethod
    def row(self, entry: KeywordEntry) -> dict[str, object]:
        """Return the values of `put`."""

    @abstractmethod
    def prefix(self, number: int, start: str) -> dict[str, object]:
        """Return the values of `complete` for a namespace."""

    @abstractmethod
    def rank(self, namespaces: Sequence[int], words: RankedWords, limit: int) -> dict[str, object]:
        """Return the values of `find`."""

    @abstractmethod
    def match_any(self, namespaces: Sequence[int], phrases: Sequence[str]) -> str:
        """Return the expression that matches any of some words or phrases."""

    @abstractmethod
    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and number.

        The value tells whether the title contains the name. A name in no page, or in more than
        `limit` pages, is omitted.
        """


def split_by_rarity(counts: Mapping[str, int], most: int) -> tuple[list[str], list[str]]:
    """Split words into the rarest, whose counts sum to at most `most`, and the rest, rarest first.

    The first list has at least one word.
    """
    words = sorted(counts, key=lambda word: counts[word])
    totals = itertools.accumulate(counts[word] for word in words)
    size = max(sum(total <= most for total in totals), 1)
    return words[:size], words[size:]


SHARE = 0.5
"""A word in a larger share of the pages is ignored if the query has rarer ones."""

VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.page_vocabulary USING fts5vocab(main, page_words, row)
"""


class Fts5Index(KeywordIndex):
    """A contentless FTS5 table.

    Words that are not among the rarest only add to the rank of a page.
    """

    most = 5_000
    """The most pages ranked for one search; each takes about 0.6 microseconds."""
    # The words are tokenized already, so spaces are the only separators.
    make = (
        "CREATE VIRTUAL TABLE IF NOT EXISTS page_words USING fts5(title, body, content='', "
        r"""tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'")""",
    )
    put = text("INSERT INTO page_words (rowid, title, body) VALUES (:number, :title, :body)")
    take = text(
        "INSERT INTO page_words (page_words, rowid, title, body)"
        " VALUES ('delete', :number, :title, :body)"
    )
    count = text("""
        SELECT wanted.key AS word,
               (SELECT COUNT(*) FROM page_words WHERE page_words MATCH wanted.value) AS pages
        FROM json_each(:matches) AS wanted
    """)
    complete = text("""
        SELECT DISTINCT substr(term, length(:namespace) + 1) FROM temp.page_vocabulary
        WHERE term >= :least AND term < :beyond LIMIT :limit
    """)
    find = text(f"""
        SELECT rowid FROM page_words WHERE page_words MATCH :match AND rowid >= :least
        ORDER BY bm25(page_words, {TITLE_WEIGHT}, 1.0), rowid LIMIT :limit
    """)  # noqa: S608
    find_newest = text("""
        SELECT MIN(number) FROM (
            SELECT rowid AS number FROM page_words WHERE page_words MATCH :match
            ORDER BY rowid DESC LIMIT :limit
        )
    """)
    name = text("""
        SELECT wanted.key AS name,
               (SELECT json_group_array(number) FROM (
                    SELECT rowid AS number FROM page_words
                    WHERE page_words MATCH wanted.value LIMIT :limit
                )) AS pages,
               (SELECT json_group_array(number) FROM (
                    SELECT rowid AS number FROM page_words
                    WHERE page_words MATCH '{title} : (' || wanted.value || ')' LIMIT :limit
                )) AS titled
        FROM json_each(:matches) AS wanted
    """)

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` indexed words of each namespace that begin with `start`."""
        connection.exec_driver_sql(VOCABULARY)
        return super().complete_prefix(connection, namespaces, start, limit)

    def row(self, entry: KeywordEntry) -> dict[str, object]:
        """Return the values of `put` and `take`."""
        return {
            "number": entry.number,
            "title": " ".join(_prefixed(number, entry.title) for number in entry.namespaces),
            "body": " ".join(_prefixed(number, entry.body) for number in entry.namespaces),
        }

    def prefix(self, number: int, start: str) -> dict[str, object]:
        """Return the values of `complete` for a namespace."""
        least = f"{number}:{start}"
        return {"least": least, "beyond": least[:-1] + chr(ord(least[-1]) + 1)}

    def rank(self, namespaces: Sequence[int], words: RankedWords, limit: int) -> dict[str, object]:
        """Return the values of `find`."""
        rarest = self.match_any(namespaces, words.rare)
        common = [word for word in words.common if words.counts[word] <= SHARE * words.pages]
        if not common:
            return {"match": rarest}
        return {"match": f"({rarest}) AND ({self.match_any(namespaces, common)} OR {rarest})"}

    def match_any(self, namespaces: Sequence[int], phrases: Sequence[str]) -> str:
        """Return the expression that matches any of some words or phrases."""
        bare = [" ".join(phrase.split()) for phrase in phrases]
        indexed = (_prefixed(number, phrase) for number in namespaces for phrase in bare)
        return " OR ".join('"{}"'.format(phrase.replace('"', '""')) for phrase in indexed)

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and number."""
        matches = json.dumps({name: self.match_any(namespaces, [name]) for name in names})
        found: dict[str, dict[int, bool]] = {}
        for row in connection.execute(self.name, {"matches": matches, "limit": limit + 1}):
            pages, titled = json.loads(row.pages), set(json.loads(row.titled))
            if 0 < len(pages) <= limit:
                found[row.name] = {number: number in titled for number in pages}
        return found


def _prefixed(namespace: int, words: str) -> str:
    """Return words, which single spaces separate, each with its namespace as a prefix."""
    return f"{namespace}:{words.replace(' ', f' {namespace}:')}" if words else ""


RANKED = 3
"""How many times the requested number of pages `ts_rank` ranks, by how often words occur."""

# A tsvector stores up to 255 positions of a word; the largest position is 16,383.
PLACES, LAST = 255, 16_383

ROOM = 1_000_000
"""The longest tsvector written, in bytes; PostgreSQL refuses more than 2**20."""

SAMPLED = 300
"""How many pages are read to complete a prefix."""

OTHERS = 1 / TITLE_WEIGHT
"""The weights of `ts_rank` are at most 1."""


class GinIndex(KeywordIndex):
    """`tsvector` values under a GIN index.

    The pages with one of the rarest words are ranked by the rarity of the words they contain, and
    the best of them by how often they contain all the words.
    """

    most = 10_000
    """The most pages compared for one search."""
    make = (
        "CREATE TABLE IF NOT EXISTS page_words "
        "(number INTEGER PRIMARY KEY, words TSVECTOR NOT NULL)",
        "CREATE INDEX IF NOT EXISTS page_words_words ON page_words USING gin (words)",
    )
    put = text("INSERT INTO page_words (number, words) VALUES (:number, CAST(:words AS tsvector))")
    take = text("DELETE FROM page_words WHERE number = :number")
    count = text("""
        SELECT wanted.key AS word,
               (SELECT COUNT(*) FROM page_words WHERE words @@ CAST(wanted.value AS tsquery))
               AS pages
        FROM json_each_text(CAST(:matches AS json)) AS wanted
    """)
    complete = text("""
        SELECT DISTINCT substr(word, length(:namespace) + 1) FROM (
            SELECT words FROM page_words WHERE words @@ CAST(:match AS tsquery) LIMIT :pages
        ) AS sampled, unnest(tsvector_to_array(words)) AS word
        WHERE starts_with(word, :start) LIMIT :limit
    """)
    find = text(f"""
        WITH found AS (
            SELECT number, SUM(CAST(wanted.value AS float)) AS worth
            FROM json_each_text(CAST(:matches AS json)) AS wanted
            JOIN page_words ON words @@ CAST(wanted.key AS tsquery)
            WHERE number >= :least
            GROUP BY number ORDER BY worth DESC, number LIMIT :ranked
        )
        SELECT number FROM found JOIN page_words USING (number)
        ORDER BY worth + ts_rank('{{{OTHERS}, {OTHERS}, {OTHERS}, 1}}', words,
                                 CAST(:all_words AS tsquery)) DESC, number
        LIMIT :limit
    """)  # noqa: S608
    find_newest = text("""
        SELECT MIN(number) FROM (
            SELECT number FROM page_words WHERE words @@ CAST(:match AS tsquery)
            ORDER BY number DESC LIMIT :limit
        ) AS newest
    """)
    name = text("""
        SELECT wanted.key AS name, found.number, found.titled
        FROM json_each(CAST(:matches AS json)) AS wanted CROSS JOIN LATERAL (
            SELECT number, words @@ CAST(wanted.value ->> 1 AS tsquery) AS titled
            FROM page_words WHERE words @@ CAST(wanted.value ->> 0 AS tsquery) LIMIT :limit
        ) AS found
    """)

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages."""
        if entries:
            connection.execute(self.take, [{"number": entry.number} for entry in entries])

    def row(self, entry: KeywordEntry) -> dict[str, object]:
        """Return the values of `put`."""
        return {"number": entry.number, "words": _vector(entry)}

    def prefix(self, number: int, start: str) -> dict[str, object]:
        """Return the values of `complete` for a namespace."""
        match = f"{_quoted(number, start)}:*"
        return {"start": f"{number}:{start}", "match": match, "pages": SAMPLED}

    def rank(self, namespaces: Sequence[int], words: RankedWords, limit: int) -> dict[str, object]:
        """Return the values of `find`."""
        worth = {
            self.match_any(namespaces, [word]): _idf(words.counts[word], words.pages)
            for word in words.rare
        }
        every = self.match_any(namespaces, list(words.counts))
        return {"matches": json.dumps(worth), "all_words": every, "ranked": RANKED * limit}

    def match_any(self, namespaces: Sequence[int], phrases: Sequence[str], weight: str = "") -> str:
        """Return the expression that matches any of some words or phrases."""
        return " | ".join(
            "({})".format(" <-> ".join(_quoted(number, word) + weight for word in phrase.split()))
            for number in namespaces
            for phrase in phrases
        )

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and number."""
        matches = {
            name: [self.match_any(namespaces, [name], weight) for weight in ("", ":A")]
            for name in names
        }
        found: dict[str, dict[int, bool]] = defaultdict(dict)
        values = {"matches": json.dumps(matches), "limit": limit + 1}
        for row in connection.execute(self.name, values):
            found[row.name][row.number] = row.titled
        return {name: pages for name, pages in found.items() if len(pages) <= limit}


def _idf(count: int, pages: int) -> float:
    """Return the inverse document frequency of a word, by Lucene's formula."""
    return math.log(1 + (max(pages - count, 0) + 0.5) / (count + 0.5))


def _vector(entry: KeywordEntry) -> str:
    """Return the words of a page and their positions as a tsvector literal of at most `ROOM`."""
    vector: list[str] = []
    room = ROOM
    for word, positions in _word_positions(entry).items():
        suffix = f":{','.join(positions[:PLACES])}" if positions else ""
        lexemes = [f"{_quoted(number, word)}{suffix}" for number in entry.namespaces]
        room -= sum(len(lexeme.encode()) for lexeme in lexemes)
        if room < 0:
            break
        vector += lexemes
    return " ".join(vector)


def _word_positions(entry: KeywordEntry) -> dict[str, list[str]]:
    """Return the positions of each word; those in the title come first, with the weight A."""
    title = entry.title.split()
    positions: dict[str, list[str]] = defaultdict(list)
    for at, word in enumerate(title, start=1):
        positions[word].append(f"{at}A")
    # The gap keeps a phrase from matching across the end of the title.
    for at, word in enumerate(entry.body.split(), start=len(title) + 2):
        positions[word] += [str(at)] if at <= LAST else []
    return positions


def _quoted(namespace: int, word: str) -> str:
    return "'{}:{}'".format(namespace, word.replace("\\", "\\\\").replace("'", "''"))


def keyword_index(connection: Connection) -> KeywordIndex:
    """Return the keyword index for the dialect of a connection."""
    return Fts5Index() if connection.dialect.name == "sqlite" else GinIndex()
