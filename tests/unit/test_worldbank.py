"""The World Bank has no search: names of indicators and countries are compared here."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from config.errors import Problem
from tests.loopback import Asked, Loopback, reply, serving
from tools.web.providers.provider import SearchHit
from tools.web.providers.provider_registry import SEARCH_PROVIDERS

INDICATORS = {
    "NY.GDP.MKTP.CD": "GDP (current US$)",
    "NY.GDP.PCAP.CD": "GDP per capita (current US$)",
    "SP.POP.TOTL": "Population, total",
    "SP.POP.GROW": "Population growth (annual %)",
    "SL.UEM.TOTL.ZS": "Unemployment, total (% of total labor force) (modeled ILO estimate)",
    "EN.GHG.CO2.PC.CE.AR5": "Carbon dioxide (CO2) emissions excluding LULUCF per capita",
}
COUNTRIES = {
    "KEN": ("KE", "Kenya"),
    "EGY": ("EG", "Egypt, Arab Rep."),
    "RUS": ("RU", "Russian Federation"),
    "TCD": ("TD", "Chad"),
    "NER": ("NE", "Niger"),
    "NGA": ("NG", "Nigeria"),
    "WLD": ("1W", "World"),
}
VALUES = {"KEN": {"2023": 1949.9, "2022": None, "2021": 2061.1}, "WLD": {"2023": 8_061_876_001}}


def rows(target: str) -> tuple[dict[str, object], list[dict[str, object]]]:
    """Return what the interface answers to a request, in its documented form."""
    path = urlsplit(target).path
    head = {"page": 1, "pages": 1, "per_page": 1000, "total": 1}
    if path.endswith("/indicator"):
        return head, [
            {"id": code, "name": name, "unit": "", "source": {"id": "2"}, "sourceNote": "…"}
            for code, name in INDICATORS.items()
        ]
    if path.endswith("/country"):
        return head, [
            {"id": code, "iso2Code": short, "name": _in(path, name), "region": {"id": "AFR"}}
            for code, (short, name) in COUNTRIES.items()
        ]
    _, _, codes, _, indicator = path.strip("/").split("/")
    found = [
        {
            "indicator": {"id": indicator, "value": INDICATORS[indicator]},
            "country": {"id": COUNTRIES[code][0], "value": COUNTRIES[code][1]},
            "countryiso3code": code,
            "date": year,
            "value": value,
            "unit": "",
            "obs_status": "",
            "decimal": 1,
        }
        for code in codes.split(";")
        for year, value in VALUES.get(code, {"2023": 5}).items()
    ]
    return head | {"sourceid": "2", "lastupdated": "2026-10-07"}, found


def _in(path: str, name: str) -> str:
    """Return the name of a country in the language of a path."""
    return {"Kenya": "肯尼亚"}.get(name, name) if path.startswith("/zh/") else name


def answer(asked: Asked) -> bytes:
    return reply(json.dumps(rows(asked.target)), mime="application/json")


async def ask(server: Loopback, query: str, limit: int = 1) -> list[SearchHit]:
    return await SEARCH_PROVIDERS["worldbank"]({"DOSSIER_WORLDBANK_URL": server.url}).search(
        query, limit
    )


async def test_an_indicator_of_a_country_is_a_table_that_needs_no_page():
    async with serving(answer) as server:
        hits = await ask(server, "GDP per capita of Kenya")

    assert hits == [
        {
            "url": "https://data.worldbank.org/indicator/NY.GDP.PCAP.CD?locations=KE",
            "title": "GDP per capita (current US$) (Kenya)",
            "snippet": "Kenya: 1,949.9 (2023)",
            "date": "2026-10-07",
            "site": "World Bank",
            "kind": "dataset",
            "text": "GDP per capita (current US$)\n\n"
            "| Year | Kenya |\n| --- | --- |\n| 2023 | 1,949.9 |\n| 2021 | 2,061.1 |\n\n"
            "World Bank, NY.GDP.PCAP.CD, last updated 2026-10-07.",
        }
    ]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("population of Egypt", "/en/country/EGY/indicator/SP.POP.TOTL"),
        ("What was the population of Russia in 2020?", "/en/country/RUS/indicator/SP.POP.TOTL"),
        ("population growth Chad vs Kenya", "/en/country/KEN;TCD/indicator/SP.POP.GROW"),
        ("unemployment in Niger", "/en/country/NER/indicator/SL.UEM.TOTL.ZS"),
        ("world population", "/en/country/WLD/indicator/SP.POP.TOTL"),
        ("CO2 emissions per capita", "/en/country/WLD/indicator/EN.GHG.CO2.PC.CE.AR5"),
        ("肯尼亚 GDP", "/zh/country/KEN/indicator/NY.GDP.MKTP.CD"),
    ],
)
async def test_the_indicator_that_fits_best_is_asked_for_the_countries_that_are_named(query, place):
    async with serving(answer) as server:
        await ask(server, query)

    assert urlsplit(server.asked[-1].target).path == place


NO_FIGURES = [
    "waggle dance of bees",
    "history of the French revolution",
    "who opposed the population control policy of one child",
    "?",
]


@pytest.mark.parametrize("query", NO_FIGURES)
async def test_a_query_about_anything_else_gets_no_table(query):
    async with serving(answer) as server:
        assert await ask(server, query) == []

    assert len(server.asked) == 2


async def test_the_lists_of_what_there_is_are_read_once_in_a_process():
    async with serving(answer) as server:
        await ask(server, "population of Kenya")
        await ask(server, "population of Chad")

    assert sum("/country/" in one.target for one in server.asked) == 2
    assert len(server.asked) == 4


async def test_an_indicator_without_values_is_left_out():
    def without(asked: Asked) -> bytes:
        head, found = rows(asked.target)
        empty = [one | {"value": None} for one in found] if "lastupdated" in head else found
        return reply(json.dumps([head, empty]), mime="application/json")

    async with serving(without) as server:
        assert await ask(server, "population of Kenya") == []


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (
            '[{"message":[{"id":"120","key":"Invalid value",'
            '"value":"The provided parameter value is not valid"}]}]',
            "does not understand",
        ),
        ("[]", "cannot be read"),
        ("<?xml version='1.0'?><wb:error/>", "cannot be read"),
    ],
)
async def test_a_mistake_that_is_told_with_the_status_200_is_a_failure(body, what):
    async with serving(lambda _: reply(body, mime="application/json")) as server:
        with pytest.raises(Problem, match=what):
            await ask(server, "population of Kenya")
