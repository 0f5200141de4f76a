"""The keyword index on SQLite: a contentless FTS5 table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, text

from library.keywords.keyword_protocol import (
    TITLE_WEIGHT,
    KeywordEntry,
    count_matches,
    split_by_rarity,
)

MOST = 5_000
"""The most pages ranked for one search; each takes about 0.6 microseconds."""

SHARE = 0.5
"""A word in a larger share of the pages is ignored if the query has rarer ones."""

# The words are tokenized already, so spaces are the only separators.
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
SELECT wanted.key AS word,
       (SELECT COUNT(*) FROM page_words WHERE page_words MATCH wanted.value) AS pages
FROM json_each(:matches) AS wanted
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
SELECT wanted.key AS name,
       (SELECT json_group_array(number) FROM (
            SELECT rowid AS number FROM page_words WHERE page_words MATCH wanted.value LIMIT :limit
        )) AS pages,
       (SELECT json_group_array(number) FROM (
            SELECT rowid AS number FROM page_words
            WHERE page_words MATCH '{title} : (' || wanted.value || ')' LIMIT :limit
        )) AS titled
FROM json_each(:matches) AS wanted
""")


class Fts5Index:
    """A contentless FTS5 table (`KeywordIndex`)."""

    def create_index(self, connection: Connection) -> None:
        """Create the index if it is missing."""
        connection.exec_driver_sql(MAKE)

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in the index."""
        if entries:
            connection.execute(PUT, [_row(entry) for entry in entries])

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages; the entries must equal those that were added."""
        if entries:
            connection.execute(TAKE, [_row(entry) for entry in entries])

    def count_pages(
        self, connection: Connection, namespaces: Sequence[int], words: Sequence[str]
    ) -> dict[str, int]:
        """Return how many pages contain each word; omit words that no page contains."""
        matches = {word: _match_any(namespaces, [word]) for word in words}
        return count_matches(connection, COUNTS, matches)

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` indexed words that begin with `start`."""
        connection.exec_driver_sql(VOCABULARY)
        found: dict[str, None] = {}
        for namespace in (f"{number}:" for number in namespaces):
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
        """Return the numbers of the pages that match some words best, best first.

        A page must contain one of the rarest words, which together occur in at most `MOST` pages;
        the other words only add to its rank. If the rarest word alone occurs in more pages, only
        the newest of these are ranked.
        """
        if not counts:
            return []
        rare, common = split_by_rarity(counts, MOST)
        common = [word for word in common if counts[word] <= SHARE * pages]
        match = rarest = _match_any(namespaces, rare)
        least = 0
        if counts[rare[0]] > MOST:
            newest = {"match": rarest, "limit": MOST}
            least = connection.execute(NEWEST, newest).scalar() or 0
        if common:
            match = f"({rarest}) AND ({_match_any(namespaces, common)} OR {rarest})"
        values = {"match": match, "least": least, "limit": limit}
        return list(connection.execute(BEST, values).scalars())

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and number."""
        matches = json.dumps({name: _match_any(namespaces, [name]) for name in names})
        found: dict[str, dict[int, bool]] = {}
        for row in connection.execute(HOLDING, {"matches": matches, "limit": limit + 1}):
            pages, titled = json.loads(row.pages), set(json.loads(row.titled))
            if 0 < len(pages) <= limit:
                found[row.name] = {number: number in titled for number in pages}
        return found


def _row(entry: KeywordEntry) -> dict[str, object]:
    return {
        "number": entry.number,
        "title": " ".join(_prefixed(number, entry.title) for number in entry.namespaces),
        "body": " ".join(_prefixed(number, entry.body) for number in entry.namespaces),
    }


def _prefixed(namespace: int, words: str) -> str:
    """Return words as the index stores them, each with its namespace as a prefix."""
    return " ".join(f"{namespace}:{word}" for word in words.split())


def _match_any(namespaces: Iterable[int], phrases: Sequence[str]) -> str:
    """Return the expression that matches any of some words or phrases."""
    indexed = (_prefixed(number, phrase) for number in namespaces for phrase in phrases)
    return " OR ".join('"{}"'.format(phrase.replace('"', '""')) for phrase in indexed)
