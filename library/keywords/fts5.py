"""The keyword index on SQLite: an FTS5 table without content of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, text

from library.keywords.keyword_protocol import TITLE_WEIGHT, KeywordEntry, split_by_rarity

MOST = 5_000
"""How many pages are ranked for one search; ranking one takes about 0.6 microseconds."""

SHARE = 0.5
"""A word that more of the pages hold than this says nothing where there are rarer ones."""

# Words are cut already, so only the spaces between them count here.
MAKE = r"""
CREATE VIRTUAL TABLE IF NOT EXISTS page_words USING fts5(
    title, body, content='', tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
)"""

PUT = text("INSERT INTO page_words (rowid, title, body) VALUES (:number, :title, :body)")

TAKE = text(
    "INSERT INTO page_words (page_words, rowid, title, body)"
    " VALUES ('delete', :number, :title, :body)"
)

COUNTS = text("""
SELECT asked.key AS word,
       (SELECT COUNT(*) FROM page_words WHERE page_words MATCH asked.value) AS pages
FROM json_each(:asked) AS asked
""")

VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.page_vocabulary USING fts5vocab(main, page_words, row)
"""

BEGINNING = text("""
SELECT DISTINCT substr(term, length(:namespace) + 1) FROM temp.page_vocabulary
WHERE term >= :least AND term < :beyond LIMIT :limit
""")

BEST = text(f"""
SELECT rowid FROM page_words WHERE page_words MATCH :match AND rowid >= :least
ORDER BY bm25(page_words, {TITLE_WEIGHT}, 1.0), rowid LIMIT :limit
""")  # noqa: S608

NEWEST = text("""
SELECT MIN(number) FROM (
    SELECT rowid AS number FROM page_words WHERE page_words MATCH :match
    ORDER BY rowid DESC LIMIT :limit
)
""")

HOLDING = text("""
SELECT asked.key AS name,
       (SELECT json_group_array(number) FROM (
            SELECT rowid AS number FROM page_words WHERE page_words MATCH asked.value LIMIT :limit
        )) AS pages,
       (SELECT json_group_array(number) FROM (
            SELECT rowid AS number FROM page_words
            WHERE page_words MATCH '{title} : (' || asked.value || ')' LIMIT :limit
        )) AS titled
FROM json_each(:asked) AS asked
""")


class Fts5Index:
    """An FTS5 table without content of its own (`KeywordIndex`)."""

    def create_index(self, connection: Connection) -> None:
        """Make the index if it is missing."""
        connection.exec_driver_sql(MAKE)

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in it."""
        if entries:
            connection.execute(PUT, [_row(entry) for entry in entries])

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages; the entries must be those that were put."""
        if entries:
            connection.execute(TAKE, [_row(entry) for entry in entries])

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
        connection.exec_driver_sql(VOCABULARY)
        found: dict[str, None] = {}
        for namespace in (f"{one}:" for one in namespaces):
            least = f"{namespace}{start}"
            beyond = least[:-1] + chr(ord(least[-1]) + 1)
            values = {"namespace": namespace, "least": least, "beyond": beyond, "limit": limit}
            found |= dict.fromkeys(connection.execute(BEGINNING, values).scalars())
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

        A page must hold one of the rarest words, those of `MOST` pages together; the others then
        count too. Where the rarest word alone is in more pages, the newest of them are ranked.
        """
        if not counts:
            return []
        few, many = split_by_rarity(counts, MOST)
        many = [word for word in many if counts[word] <= SHARE * pages]
        rare = _any(namespaces, few)
        least = 0
        if counts[few[0]] > MOST:
            newest = connection.execute(NEWEST, {"match": rare, "limit": MOST})
            least = newest.scalar() or 0
        match = f"({rare}) AND ({_any(namespaces, many)} OR {rare})" if many else rare
        values = {"match": match, "least": least, "limit": limit}
        return list(connection.execute(BEST, values).scalars())

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that hold the words of a name side by side, by name and number."""
        asked = json.dumps({name: _any(namespaces, [name]) for name in names})
        found: dict[str, dict[int, bool]] = {}
        for row in connection.execute(HOLDING, {"asked": asked, "limit": limit + 1}):
            pages, titled = json.loads(row.pages), set(json.loads(row.titled))
            if 0 < len(pages) <= limit:
                found[row.name] = {number: number in titled for number in pages}
        return found


def _row(entry: KeywordEntry) -> dict[str, object]:
    return {
        "number": entry.number,
        "title": " ".join(_inside(one, entry.title) for one in entry.namespaces),
        "body": " ".join(_inside(one, entry.body) for one in entry.namespaces),
    }


def _inside(namespace: int, words: str) -> str:
    """Return words as they stand in the index for a namespace."""
    plain = " ".join(words.split())
    return f"{namespace}:{plain.replace(' ', f' {namespace}:')}" if plain else ""


def _any(namespaces: Iterable[int], phrases: Sequence[str]) -> str:
    """Return the expression that finds any of some words or runs of words."""
    found = (_inside(one, phrase) for one in namespaces for phrase in phrases)
    return " OR ".join('"{}"'.format(phrase.replace('"', '""')) for phrase in found)
