"""The World Bank's indicators: figures of countries by year, as tables."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource
from library.page_metadata import identify_language
from text.words import query_terms, search_words
from tools.web.providers.hit_parsing import each_of, look_up, make_hit, unreadable_answer
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, parse_json, request_body

_MOST_TABLES = 3
_MOST_COUNTRIES = 8
_YEARS = 25
_DEVELOPMENT_INDICATORS = 2
"""The number of the collection that most of the Bank's own pages show."""

_LEAST_SHARE = 0.5
"""How much of the weight of the words of a query must stand in the name of an indicator."""

_ALSO_CALLED = dict(
    one.rsplit(" ", 1)
    for one in (
        *("america USA", "usa USA", "britain GBR", "uk GBR", "uae ARE", "eu EUU", "laos LAO"),
        *("russia RUS", "turkey TUR", "vietnam VNM", "south korea KOR", "north korea PRK"),
        *("syria SYR", "ivory coast CIV", "czech republic CZE", "macedonia MKD"),
        *("slovakia SVK", "kyrgyzstan KGZ"),
    )
)
"""Countries that the Bank calls otherwise, by the codes of ISO 3166."""


class _Indicator(NamedTuple):
    code: str
    name: str
    words: frozenset[str]


class _Country(NamedTuple):
    code: str
    short: str
    """The code in two letters, as the Bank's pages have it."""
    name: str


class _Catalogue(NamedTuple):
    indicators: list[_Indicator]
    countries: list[_Country]
    weights: dict[str, float]
    """How rare each word of the names of indicators is."""


_catalogues: Resource[RecentCache[str, _Catalogue]] = Resource(lambda: RecentCache(4))
"""What there is, by the address at which it was listed; the Bank changes it rarely."""


@dataclass(frozen=True)
class WorldBank:
    """The interface of https://data.worldbank.org; it has no search, so names are compared here."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="worldbank",
        topics=("data",),
        url="https://api.worldbank.org/v2",
        url_variable="DOSSIER_WORLDBANK_URL",
        requests_per_second=5,
        requests_per_search=2 + _MOST_TABLES,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return tables of the indicators that fit best, for the countries that are named.

        Without a country, they are for the world. See
        https://datahelpdesk.worldbank.org/knowledgebase/articles/898581.
        """
        language = "zh" if identify_language(query) == "zh" else "en"
        catalogue = await self._catalogue(language)
        countries = _named_countries(query, catalogue.countries)
        chosen = _fitting_indicators(query, countries, catalogue)[: min(limit, _MOST_TABLES)]
        hits = [await self._table(language, one, countries) for one in chosen]
        return [hit for hit in hits if hit]

    async def _catalogue(self, language: str) -> _Catalogue:
        cached, key = _catalogues.get(), f"{self.access.address}/{language}"
        if key not in cached:
            wanted: dict[str, str | int] = {"source": _DEVELOPMENT_INDICATORS, "per_page": 3000}
            (_, indicators), (_, countries) = await asyncio.gather(
                self._list(f"/{language}/indicator", wanted),
                self._list(f"/{language}/country", {"per_page": 500}),
            )
            cached[key] = _make_catalogue(indicators, countries)
        return cached[key]

    async def _list(
        self, path: str, params: dict[str, str | int]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the head of an answer and its rows.

        Raises:
            Problem: `search_unavailable`, also where a mistake is told with the status 200.
        """
        asked = ProviderQuery(path, {"format": "json", **params})
        answer = parse_json(await request_body(self.access, asked))
        head = look_up(answer, 0)
        if not isinstance(head, dict):
            raise unreadable_answer()
        if "message" in head:
            what = "it does not understand what it was asked"
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, what)
        return head, list(each_of(look_up(answer, 1)))

    async def _table(
        self, language: str, indicator: _Indicator, countries: Sequence[_Country]
    ) -> SearchHit | None:
        codes = ";".join(one.code for one in countries) or "WLD"
        path = f"/{language}/country/{codes}/indicator/{indicator.code}"
        head, rows = await self._list(path, {"mrv": _YEARS, "per_page": 1000})
        values = _values(rows)
        if not values:
            return None
        places = "-".join(one.short for one in countries) or "1W"
        return make_hit(
            f"https://data.worldbank.org/indicator/{indicator.code}?locations={places}",
            f"{indicator.name} ({', '.join(values)})",
            "; ".join(f"{name}: {_newest(years)}" for name, years in values.items()),
            date=head.get("lastupdated"),
            site="World Bank",
            kind="dataset",
            text=_written(indicator, values, str(head.get("lastupdated") or "")),
        )


def _make_catalogue(
    indicators: Sequence[dict[str, Any]], countries: Sequence[dict[str, Any]]
) -> _Catalogue:
    listed = [
        _Indicator(str(one.get("id")), str(one.get("name")), _words(str(one.get("name"))))
        for one in indicators
    ]
    counts = Counter(word for one in listed for word in one.words)
    weights = {word: math.log(1 + len(listed) / count) for word, count in counts.items()}
    named = [
        _Country(str(one.get("id")), str(one.get("iso2Code")), str(one.get("name")))
        for one in countries
    ]
    return _Catalogue(listed, named, weights)


def _words(name: str) -> frozenset[str]:
    return frozenset(search_words(name))


def _named_countries(query: str, countries: Sequence[_Country]) -> list[_Country]:
    """Return the countries that a query names, also by the first words of a name with a comma."""
    said = f" {' '.join(search_words(query))} "
    others = {code for name, code in _ALSO_CALLED.items() if _is_in(name, said)}
    found = [
        one
        for one in countries
        if one.code in others or _is_in(one.name, said) or _is_in(one.name.split(",")[0], said)
    ]
    return found[:_MOST_COUNTRIES]


def _is_in(name: str, said: str) -> bool:
    words = " ".join(search_words(name))
    return bool(words) and f" {words} " in said


def _fitting_indicators(
    query: str, countries: Sequence[_Country], catalogue: _Catalogue
) -> list[_Indicator]:
    """Return the indicators whose names have most of the query's words and few others."""
    of_places = {word for one in countries for word in search_words(one.name)}
    of_places |= {word for name in _ALSO_CALLED for word in search_words(name) if countries}
    wanted = {one for one in query_terms(query) if not one.isdecimal()} - of_places
    # A word that no indicator has weighs as much as the rarest that one has.
    rarest = max(catalogue.weights.values(), default=1.0)
    asked = sum(catalogue.weights.get(word, rarest) for word in wanted)
    scored = []
    for one in catalogue.indicators:
        shared = sum(catalogue.weights[word] for word in one.words & wanted)
        if shared and shared >= _LEAST_SHARE * asked:
            rest = sum(catalogue.weights[word] for word in one.words - wanted)
            scored.append((shared - 0.1 * rest, one))
    return [one for _, one in sorted(scored, key=lambda pair: -pair[0])]


def _values(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the values by the name of the country and the year, the newest year first."""
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        value, name = row.get("value"), look_up(row, "country", "value")
        if isinstance(value, int | float) and isinstance(name, str):
            values.setdefault(name, {})[str(row.get("date"))] = value
    return values


def _newest(years: dict[str, float]) -> str:
    year = max(years)
    return f"{_figure(years[year])} ({year})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100_000 else f"{value:,.6g}"


def _written(indicator: _Indicator, values: dict[str, dict[str, float]], updated: str) -> str:
    """Return a table in Markdown, with a row for each year and a column for each country."""
    years = sorted({year for one in values.values() for year in one}, reverse=True)
    rows = [
        [year, *(_figure(one[year]) if year in one else "" for one in values.values())]
        for year in years
    ]
    lines = [["Year", *values], ["---"] * (1 + len(values)), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    told = f", last updated {updated}" if updated else ""
    return f"{indicator.name}\n\n{table}\n\nWorld Bank, {indicator.code}{told}."
