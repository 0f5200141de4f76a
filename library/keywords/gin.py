"""The keyword index on PostgreSQL: `tsvector` values under a GIN index."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, text

from library.keywords.keyword_protocol import TITLE_WEIGHT, KeywordEntry, KeywordIndex, RankedWords

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
