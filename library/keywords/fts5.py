"""The keyword index on SQLite: a contentless FTS5 table."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, text

from library.keywords.keyword_protocol import TITLE_WEIGHT, KeywordEntry, KeywordIndex, RankedWords

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
        indexed = (_prefixed(number, phrase) for number in namespaces for phrase in phrases)
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
    """Return words as the index stores them, each with its namespace as a prefix."""
    return " ".join(f"{namespace}:{word}" for word in words.split())
