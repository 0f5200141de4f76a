"""The keyword index on PostgreSQL: word vectors under a GIN index."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from library.keywords.keyword_protocol import TITLE_WEIGHT, KeywordEntry, split_by_rarity

MOST = 10_000
"""How many pages are compared for one search."""

RANKED = 3
"""How many times more pages than are wanted are ranked by how often they hold the words."""

# PostgreSQL keeps 255 places of a word in a page, and counts places up to 16,383.
PLACES, LAST = 255, 16_383

ROOM = 1_000_000
"""How long a word vector may be, in bytes; PostgreSQL refuses one of more than 2**20."""

MAKE = (
    "CREATE TABLE IF NOT EXISTS page_words (number INTEGER PRIMARY KEY, words TSVECTOR NOT NULL)",
    "CREATE INDEX IF NOT EXISTS page_words_words ON page_words USING gin (words)",
)

PUT = text("INSERT INTO page_words (number, words) VALUES (:number, CAST(:words AS tsvector))")

TAKE = text("DELETE FROM page_words WHERE number = :number")

COUNTS = text("""
SELECT asked.key AS word,
       (SELECT COUNT(*) FROM page_words WHERE words @@ CAST(asked.value AS tsquery)) AS pages
FROM json_each_text(CAST(:asked AS json)) AS asked
""")

BEGINNING = text("""
SELECT DISTINCT substr(word, length(:namespace) + 1) FROM (
    SELECT words FROM page_words WHERE words @@ CAST(:match AS tsquery) LIMIT :pages
) AS held, unnest(tsvector_to_array(words)) AS word
WHERE starts_with(word, :start) LIMIT :limit
""")

SAMPLED = 300
"""The words that begin with some letters are read from so many pages."""

BEST = text(f"""
WITH found AS (
    SELECT number, SUM(CAST(asked.value AS float)) AS worth
    FROM json_each_text(CAST(:asked AS json)) AS asked
    JOIN page_words ON words @@ CAST(asked.key AS tsquery)
    WHERE number >= :least
    GROUP BY number ORDER BY worth DESC, number LIMIT :ranked
)
SELECT number FROM found JOIN page_words USING (number)
ORDER BY worth + ts_rank('{{{1 / TITLE_WEIGHT}, {1 / TITLE_WEIGHT}, {1 / TITLE_WEIGHT}, 1}}', words,
                         CAST(:every AS tsquery)) DESC, number
LIMIT :limit
""")  # noqa: S608

NEWEST = text("""
SELECT MIN(number) FROM (
    SELECT number FROM page_words WHERE words @@ CAST(:match AS tsquery)
    ORDER BY number DESC LIMIT :limit
) AS newest
""")

HOLDING = text("""
SELECT asked.key AS name, found.number, found.titled
FROM json_each(CAST(:asked AS json)) AS asked CROSS JOIN LATERAL (
    SELECT number, words @@ CAST(asked.value ->> 1 AS tsquery) AS titled
    FROM page_words WHERE words @@ CAST(asked.value ->> 0 AS tsquery) LIMIT :limit
) AS found
""")


class GinIndex:
    """Word vectors under a GIN index (`KeywordIndex`)."""

    def create_index(self, connection: Connection) -> None:
        """Make the index if it is missing."""
        for statement in MAKE:
            connection.exec_driver_sql(statement)

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in it."""
        if entries:
            rows = [{"number": entry.number, "words": _vector(entry)} for entry in entries]
            connection.execute(PUT, rows)

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages."""
        if entries:
            connection.execute(TAKE, [{"number": entry.number} for entry in entries])

    def count_pages(
        self, connection: Connection, namespaces: Sequence[int], words: Sequence[str]
    ) -> dict[str, int]:
        """Return how many pages hold each word; a word that none holds is left out."""
        asked = json.dumps({word: _any(namespaces, [word]) for word in words})
        return {
            row.word: row.pages for row in connection.execute(COUNTS, {"asked": asked}) if row.pages
        }

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` words that begin with some letters and that pages hold."""
        found: dict[str, None] = {}
        for namespace in (f"{one}:" for one in namespaces):
            whole = f"{namespace}{start}"
            match = "'{}':*".format(whole.replace("\\", "\\\\").replace("'", "''"))
            values = {"namespace": namespace, "start": whole, "match": match, "limit": limit}
            rows = connection.execute(BEGINNING, {**values, "pages": SAMPLED})
            found |= dict.fromkeys(rows.scalars())
        return list(found)

    def find_best(
        self,
        connection: Connection,
        namespaces: Sequence[int],
        counts: Mapping[str, int],
        pages: int,
        limit: int,
    ) -> list[int]:
        """Return the numbers of the pages that fit some words best, best first.

        The pages that hold one of the rarest words, those of `MOST` pages together, are compared by
        how rare the words are that they hold, and the first of them by how often they hold all the
        words. Where the rarest word alone is in more pages, the newest of them are compared.
        """
        if not counts:
            return []
        few, _ = split_by_rarity(counts, MOST)
        least = 0
        if counts[few[0]] > MOST:
            newest = {"match": _any(namespaces, few), "limit": MOST}
            least = connection.execute(NEWEST, newest).scalar() or 0
        worth = {_any(namespaces, [word]): _rarity(counts[word], pages) for word in few}
        values = {
            "asked": json.dumps(worth),
            "every": _any(namespaces, list(counts)),
            "least": least,
            "ranked": RANKED * limit,
            "limit": limit,
        }
        return list(connection.execute(BEST, values).scalars())

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that hold the words of a name side by side, by name and number."""
        asked = {name: [_any(namespaces, [name]), _any(namespaces, [name], ":A")] for name in names}
        found: dict[str, dict[int, bool]] = defaultdict(dict)
        for row in connection.execute(HOLDING, {"asked": json.dumps(asked), "limit": limit + 1}):
            found[row.name][row.number] = row.titled
        return {name: pages for name, pages in found.items() if len(pages) <= limit}


def _rarity(count: int, pages: int) -> float:
    """Return the inverse document frequency of a word, as Lucene has it."""
    return math.log(1 + (max(pages - count, 0) + 0.5) / (count + 0.5))


def _vector(entry: KeywordEntry) -> str:
    """Return the words of a page with their places, as long as there is room."""
    vector: list[str] = []
    room = ROOM
    for word, places in _places(entry).items():
        where = f":{','.join(places[:PLACES])}" if places else ""
        lexemes = [f"{_quoted(one, word)}{where}" for one in entry.namespaces]
        room -= sum(len(lexeme.encode()) for lexeme in lexemes)
        if room < 0:
            break
        vector += lexemes
    return " ".join(vector)


def _places(entry: KeywordEntry) -> dict[str, list[str]]:
    """Return where each word stands; the words of the title come first and are marked A."""
    title = entry.title.split()
    places: dict[str, list[str]] = defaultdict(list)
    for at, word in enumerate(title, start=1):
        places[word].append(f"{at}A")
    # The last word of the title and the first of the text are not neighbours.
    for at, word in enumerate(entry.body.split(), start=len(title) + 2):
        places[word] += [str(at)] if at <= LAST else []
    return places


def _quoted(namespace: int, word: str) -> str:
    return "'{}:{}'".format(namespace, word.replace("\\", "\\\\").replace("'", "''"))


def _any(namespaces: Sequence[int], phrases: Sequence[str], weight: str = "") -> str:
    """Return the expression that finds any of some words or runs of words."""
    return " | ".join(
        "({})".format(" <-> ".join(_quoted(one, word) + weight for word in phrase.split()))
        for one in namespaces
        for phrase in phrases
    )
