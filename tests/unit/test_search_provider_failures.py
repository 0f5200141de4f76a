"""What providers answer when they do not search: refusals, quotas, limits, and no key told."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress

import pytest

from config.errors import Problem
from tests.loopback import Answer, reply, serving
from tests.unit.test_search_provider_formats import (
    ENTRY,
    ESEARCH,
    GITHUB,
    KEY,
    RESULT,
    STACKEXCHANGE,
    answer_of,
    feed,
    search,
)
from tools.web.providers.provider import ProviderThrottled
from tools.web.providers.provider_registry import DECLARATIONS, SEARCH_PROVIDERS


def plain(text: str, *headers: str, status: str) -> bytes:
    return reply(text, *headers, mime="text/plain", status=status)


AT_ONCE = "retry-after: 0"
"""A header that lets the second attempt of a test not wait."""

EXA_ERROR = {"requestId": "67207943fab9832d162b5317f4cf830c", "error": "…", "tag": "…"}
MEDIAWIKI_BUSY = {"error": {"code": "maxlag", "info": "Waiting for db1: 6 seconds lagged."}}
MEDIAWIKI_BAD = {"error": {"code": "missingparam", "info": "The parameter must be set."}}
ATOM_ERROR = ENTRY.replace("abs/2401.01234v2", "api/errors#start_must_be_non-negative")

REFUSALS: list[tuple[str, bytes, str]] = [
    ("tavily", answer_of({"detail": {"error": "Unauthorized"}}, status="401 No"), "the key"),
    ("tavily", answer_of({"detail": {"error": "plan limit"}}, status="432 Plan"), "of the plan"),
    ("tavily", answer_of({"detail": {"error": "paygo"}}, status="433 Paygo"), "of the plan"),
    (
        "brave",
        answer_of(
            {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}},
            status="422 Unprocessable",
        ),
        "answers 422",
    ),
    (
        "serper",
        answer_of({"message": "Unauthorized.", "statusCode": 403}, status="403 Forbidden"),
        "refuses",
    ),
    (
        "serper",
        answer_of({"message": "Not enough credits", "statusCode": 400}, status="400 Bad"),
        "no credit left",
    ),
    ("exa", answer_of(EXA_ERROR, status="401 Unauthorized"), "the key"),
    ("exa", answer_of(EXA_ERROR, status="402 Payment"), "no credit left"),
    ("searxng", plain("403 Forbidden", status="403 Forbidden"), "no json among"),
    ("wikipedia", answer_of(MEDIAWIKI_BUSY, "mediawiki-api-error: maxlag"), "it is busy"),
    ("wikipedia", answer_of(MEDIAWIKI_BAD), "does not understand"),
    ("arxiv", feed(ATOM_ERROR), "does not understand"),
    ("arxiv", plain("Rate exceeded.", AT_ONCE, status="429 Unknown"), "asked too often"),
    ("arxiv", reply("<html><p>not closed", status="200 OK"), "cannot be read"),
    (
        "openalex",
        answer_of({"error": "Invalid filter", "message": "…"}, status="400 Bad"),
        "does not understand",
    ),
    ("openalex", answer_of({"error": "Rate limit exceeded"}, status="403 Forbidden"), "refuses"),
    (
        "semantic_scholar",
        answer_of({"error": "Unrecognized or unsupported fields: [x]"}, status="400 Bad"),
        "does not understand",
    ),
    ("semantic_scholar", answer_of({"message": "Forbidden"}, status="403 Forbidden"), "refuses"),
    (
        "semantic_scholar",
        answer_of({"message": "Too Many Requests.", "code": "429"}, AT_ONCE, status="429 Many"),
        "asked too often",
    ),
    (
        "europe_pmc",
        answer_of({"version": "6.9", "errCode": 404, "errMsg": "Invalid query"}),
        "does not understand",
    ),
    ("pubmed", answer_of({"esearchresult": {"ERROR": "Invalid db name"}}), "cannot be read"),
    (
        "crossref",
        answer_of(
            {
                "status": "failed",
                "message-type": "validation-failure",
                "message": [{"type": "parameter-not-allowed", "value": "x", "message": "…"}],
            },
            status="400 Bad Request",
        ),
        "does not understand",
    ),
    ("crossref", plain("Resource not found.", status="404 Not Found"), "nothing is at"),
    (
        "stackexchange",
        answer_of(
            {"error_id": 502, "error_message": "too many requests", "error_name": "throttle_x"},
            status="400 Bad Request",
        ),
        "asked too often",
    ),
    (
        "stackexchange",
        answer_of({"error_id": 400, "error_name": "bad_parameter"}, status="400 Bad Request"),
        "does not understand",
    ),
    ("github", answer_of({"message": "Bad credentials"}, status="401 Unauthorized"), "the key"),
    ("github", answer_of({"message": "Validation Failed"}, status="422 U"), "does not understand"),
    ("duckduckgo", reply("<html>", status="202 Accepted"), "asked too often"),
    ("duckduckgo", reply('<div class="anomaly-modal__title">bots</div>'), "asked too often"),
    ("duckduckgo", reply("<html>", status="500 Oh"), "answers 500"),
    ("duckduckgo", b"", "cannot be reached"),
    ("duckduckgo", reply(" \n "), "cannot be read"),
]


@pytest.mark.parametrize(
    ("name", "answer", "what"), REFUSALS, ids=[f"{one[0]}: {one[2]}" for one in REFUSALS]
)
async def test_a_refusal_is_told_in_words(name, answer, what):
    with pytest.raises(Problem, match=what) as problem:
        await search(name, answer)

    assert problem.value.code == "search_unavailable"


BUSY = answer_of({}, "retry-after: 3600", status="429 Many")
LATER = 4_000_000_000
THROTTLED: list[tuple[str, bytes, float]] = [
    *((name, BUSY, 3600.0) for name in sorted(set(DECLARATIONS) - {"duckduckgo"})),
    # https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api.
    (
        "github",
        answer_of(
            {"message": "API rate limit exceeded"},
            "x-ratelimit-limit: 10",
            "x-ratelimit-remaining: 0",
            f"x-ratelimit-reset: {LATER}",
            status="403 rate limit exceeded",
        ),
        LATER - time.time(),
    ),
    (
        "github",
        answer_of(
            {"message": "You have exceeded a secondary rate limit."},
            "x-ratelimit-remaining: 9",
            "retry-after: 60",
            status="403 Forbidden",
        ),
        60.0,
    ),
    # https://api-dashboard.search.brave.com/app/documentation/web-search/response-headers.
    (
        "brave",
        answer_of(
            {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "status": 429}},
            "x-ratelimit-limit: 1, 2000",
            "x-ratelimit-remaining: 1, 0",
            "x-ratelimit-reset: 1, 1419704",
            status="429 Too Many",
        ),
        1419704.0,
    ),
    ("duckduckgo", reply("<html>", status="202 Accepted"), 60.0),
]


@pytest.mark.parametrize(
    ("name", "answer", "wait"),
    THROTTLED,
    ids=[f"{one[0]} {at}" for at, one in enumerate(THROTTLED)],
)
async def test_a_provider_that_names_a_time_is_left_alone_so_long(name, answer, wait):
    declared = DECLARATIONS[name]
    async with serving(lambda _: answer) as server:
        environ = {declared.url_variable: server.url}
        if declared.key_needed:
            environ[declared.key_variable] = KEY
        provider = SEARCH_PROVIDERS[name](environ)
        with pytest.raises(ProviderThrottled) as first:
            await provider.search("population of Kenya", 5)
        requests = len(server.asked)
        with pytest.raises(ProviderThrottled, match="left alone") as second:
            await SEARCH_PROVIDERS[name](environ).search("population of Chad", 5)

    assert first.value.wait == pytest.approx(wait, rel=1e-3)
    assert 0 < second.value.wait <= 3600
    assert len(server.asked) == requests


async def test_one_provider_that_is_left_alone_does_not_hold_up_another():
    with pytest.raises(ProviderThrottled):
        await search("github", BUSY)

    assert (await search("github", answer_of(GITHUB))).hits


async def test_brave_is_asked_again_when_the_second_that_it_names_has_passed():
    busy = answer_of(
        {"type": "ErrorResponse"},
        "x-ratelimit-remaining: 0, 1999",
        "x-ratelimit-reset: 0, 1419704",
        status="429 Too Many",
    )

    found = await search("brave", busy, answer_of({"web": {"results": []}}))

    assert len(found.asked) == 2


@pytest.mark.parametrize(
    ("more", "left_alone"),
    [({"backoff": 10}, True), ({"quota_remaining": 0}, True), ({}, False), ({"backoff": 0}, False)],
)
async def test_stack_exchange_is_left_alone_as_its_good_answers_ask(more, left_alone):
    async with serving(lambda _: answer_of(STACKEXCHANGE | more)) as server:
        environ = {"DOSSIER_STACKEXCHANGE_URL": server.url}
        assert await SEARCH_PROVIDERS["stackexchange"](environ).search("yield", 5)
        if left_alone:
            with pytest.raises(ProviderThrottled, match="left alone"):
                await SEARCH_PROVIDERS["stackexchange"](environ).search("yield", 5)
        else:
            assert await SEARCH_PROVIDERS["stackexchange"](environ).search("yield", 5)

    assert len(server.asked) == (1 if left_alone else 2)


ECHOES: list[Answer] = [
    answer_of({"error": "API rate limit exceeded", "api-key": KEY, "limit": "10"}, status="400 B"),
    answer_of({"error": KEY}, AT_ONCE, status="429 Too Many"),
    reply(f"<html>{KEY}"),
    plain(KEY, AT_ONCE, status="500 Oh"),
    b"",
]


@pytest.mark.parametrize("answer", ECHOES, ids=["400", "429", "garbage", "500", "gone"])
@pytest.mark.parametrize("name", [one for one, it in DECLARATIONS.items() if it.key_variable])
async def test_no_key_is_told_in_an_error_or_a_log(name, answer, caplog):
    caplog.set_level(logging.DEBUG)

    with pytest.raises(Problem) as problem:
        await search(name, answer, key=KEY)

    told = [str(problem.value), repr(problem.value), json.dumps(problem.value.as_dict())]
    assert KEY not in "".join([*told, caplog.text])
    assert KEY not in repr(SEARCH_PROVIDERS[name]({DECLARATIONS[name].key_variable: KEY}))


async def test_a_key_in_an_address_is_in_no_log_of_a_good_search(caplog):
    caplog.set_level(logging.DEBUG)

    found = await search("stackexchange", answer_of(STACKEXCHANGE), key=KEY)

    assert KEY in found.asked[0].target
    assert "/search/excerpts" in caplog.text
    assert KEY not in caplog.text


ENTITIES = """<?xml version="1.0"?>
<!DOCTYPE feed [<!ENTITY a "SECRET"><!ENTITY f SYSTEM "file:///etc/hostname">
<!ENTITY u SYSTEM "{url}/dtd">]>"""


async def test_entities_of_xml_are_not_resolved():
    async with serving(lambda _: reply("SECRET")) as other:
        entry = ENTRY.replace("It works.", "&a;&f;&u; It works.")
        document = feed(entry).partition(b"\r\n\r\n")[2].decode().partition("?>")[2]
        text = ENTITIES.format(url=other.url) + document

        found = await search("arxiv", reply(text, mime="application/atom+xml"))

    assert found.hits[0]["text"].startswith("We read dances of bees")
    assert "SECRET" not in found.hits[0]["text"]
    assert other.asked == []


async def test_a_bomb_of_entities_ends_the_answer_and_nothing_else():
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE r [<!ENTITY e0 "ha">{levels}]><r><t>&e12;</t></r>'
    start = time.monotonic()

    with pytest.raises(Problem, match="cannot be read"):
        await search("pubmed", answer_of(ESEARCH), reply(f"{bomb}<", mime="text/xml"))

    assert time.monotonic() - start < 5


async def test_what_is_no_page_of_duckduckgo_finds_nothing():
    bad = RESULT.format(url="javascript:alert(1)")

    assert (await search("duckduckgo", reply(f"<html>{bad}"))).hits == []


WRONG_TYPES = [None, 7, "text", [], [[]], {"a": 1}, [7, None, "x", {"url": 1, "id": [], "DOI": {}}]]


@pytest.mark.parametrize("wrong", WRONG_TYPES, ids=lambda one: json.dumps(one)[:20])
@pytest.mark.parametrize("name", sorted(set(DECLARATIONS) - {"arxiv", "duckduckgo"}))
async def test_values_of_other_types_than_promised_end_in_a_problem_or_in_no_hit(name, wrong):
    answer = {"results": wrong, "items": wrong, "organic": wrong, "web": {"results": wrong}}
    answer |= {"data": wrong, "message": {"items": wrong}, "resultList": {"result": wrong}}
    answer |= {"esearchresult": {"idlist": wrong}, "query": {"pages": wrong}}

    with suppress(Problem):
        found = await search(name, answer_of(answer))
        assert all(hit["url"].startswith("https://") for hit in found.hits)


async def test_details_of_other_types_than_promised_count_as_unknown():
    odd = {
        "id": "https://openalex.org/W1",
        **dict.fromkeys(("doi", "display_name", "publication_date", "type"), 7),
        "authorships": [{"author": None}, 3, {"author": {"display_name": ["x"]}}],
        "primary_location": {"source": [], "landing_page_url": 9},
        "best_oa_location": "none",
        "abstract_inverted_index": {"a": 3, "b": ["x"]},
    }

    found = await search("openalex", answer_of({"results": [odd]}))

    assert found.hits == [
        {"url": "https://openalex.org/W1", "title": "", "snippet": "", "kind": "paper"}
    ]


async def test_a_slow_search_of_duckduckgo_is_left(monkeypatch):
    async def silence():
        await asyncio.sleep(60)
        yield b""

    monkeypatch.setattr("tools.web.providers.duckduckgo._SECONDS", 1)
    with pytest.raises(Problem, match="slow"):
        await search("duckduckgo", silence())


async def test_a_contact_that_no_header_can_hold_is_refused():
    with pytest.raises(Problem, match="DOSSIER_CONTACT has characters"):
        SEARCH_PROVIDERS["wikipedia"]({"DOSSIER_CONTACT": "a\r\nx: y"})
