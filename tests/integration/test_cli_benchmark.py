"""DeepResearch Bench on the command line, with a judge that says what a test wants."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from evals.openai_server import Server
from tests.integration.command import Done, Forks, Place

pytestmark = pytest.mark.integration

DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
PROMPTS = {1: "How do bees dance?", 2: "蜜蜂怎样过冬？"}
LANGUAGES = {1: "en", 2: "zh"}
REFERENCE = "The waggle dance was described by Karl von Frisch. " * 4
JUDGE = "openai:gpt-4o"


def criteria(prompt: str) -> dict[str, Any]:
    rules = [
        {"criterion": f"{prompt} A", "explanation": "about A", "weight": 0.75},
        {"criterion": f"{prompt} B", "explanation": "about B", "weight": 0.25},
    ]
    weights = dict(zip(DIMENSIONS, (0.4, 0.3, 0.2, 0.1), strict=True))
    return {"dimension_weight": weights, "criterions": dict.fromkeys(DIMENSIONS, rules)}


def scores(body: dict[str, Any]) -> dict[str, Any]:
    """Give the report 8 for A and 4 for B, the reference 3 for both."""
    prompt = next(one for one in PROMPTS.values() if one in body["messages"][-1]["content"])
    given = [
        {"criterion": f"{prompt} A", "article_1_score": 8, "article_2_score": 3},
        {"criterion": f"{prompt} B", "article_1_score": 4, "article_2_score": 3},
    ]
    return dict.fromkeys(DIMENSIONS, given)


CLEANED = "Bees dance in figures of eight, and the direction tells others where food is. " * 2
CLEAN = {"match": "<report>", "reply": CLEANED}
SCORE = {"schema": "RaceScores", "reply": scores}
DISTINCT = {"schema": "DistinctStatements", "reply": {"kept": [1]}}
RACE = [SCORE, CLEAN]


def article(url: str, number: int) -> str:
    said = "Bees dance [1]. They dance again [1]. Nobody knows [2]."
    return f"{said}\n\n[1] {url}/dance\n[2] {url}/{number}"


def fact_rules(url: str) -> list[dict[str, Any]]:
    cited = [
        {"fact": "Bees dance.", "ref_idx": 1, "url": f"{url}/dance"},
        {"fact": "They dance again.", "ref_idx": 1, "url": f"{url}/dance"},
        {"fact": "Nobody knows.", "ref_idx": "2", "url": f"{url}/gone"},
    ]
    verdicts = {"verdicts": [{"idx": 1, "result": "supported"}]}
    return [
        {"schema": "ExtractedCitations", "reply": {"citations": cited}},
        DISTINCT,
        {"schema": "StatementVerdicts", "reply": verdicts},
    ]


async def page(request: Request) -> Response:
    text = "Bees dance in figures of eight to tell other bees where they have found food. " * 20
    return HTMLResponse(f"<html><title>Dance</title><body><p>{text}</p></body></html>")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with the files of the benchmark, as its repository has them."""
    place = Place(tmp_path)
    tasks = [
        {"id": name, "topic": "Bees", "language": LANGUAGES[name], "prompt": prompt}
        for name, prompt in PROMPTS.items()
    ]
    rules = [{**task, **criteria(task["prompt"])} for task in tasks]
    references = [{"id": 1, "prompt": one, "article": REFERENCE} for one in PROMPTS.values()]
    write(place, "bench/data/prompt_data/query.jsonl", tasks)
    write(place, "bench/data/criteria_data/criteria.jsonl", rules)
    write(place, "bench/data/test_data/cleaned_data/reference.jsonl", references)
    write(place, "flat/queries.jsonl", tasks)
    return place


def write(place: Place, name: str, lines: list[dict[str, Any]]) -> None:
    file = place.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(place: Place, name: str) -> list[dict[str, Any]]:
    text = (place.folder / "deep_research_bench" / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def reports(place: Place, url: str) -> None:
    lines = [
        {"id": name, "prompt": prompt, "article": article(url, name)}
        for name, prompt in PROMPTS.items()
    ]
    write(place, "mine.jsonl", lines)


def key(server: Server) -> dict[str, str]:
    more = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url, "DOSSIER_RETRY_SECONDS": "0.01"}
    return {**more, "DOSSIER_ALLOW_PRIVATE_FETCH": "true"}


def evaluate(forks: Forks, place: Place, server: Server, *words: str) -> Done:
    given = ["bench", "--reports", "mine.jsonl", "--judge", JUDGE, "--json", *words]
    return forks.run(place, "eval", "drb", *given, **key(server))


def test_reports_are_scored_by_race_and_fact_in_the_benchmarks_formats(place: Place, forks: Forks):
    with Server(RACE) as server:
        server.add_routes(Route("/dance", page))
        web = server.url.removesuffix("/v1")
        server.replace([*fact_rules(web), *RACE])
        reports(place, web)
        done = evaluate(forks, place, server, "--yes")

    race, fact = done.told["race"], done.told["fact"]
    assert done.status == 0, done.err
    # 7 points by the weights of the criteria, against 3.
    assert race["overall_score"] == pytest.approx(0.7)
    assert race["insight"] == pytest.approx(0.7)
    assert (race["scored"], race["failed"], race["criteria"]) == (2, {}, "benchmark")
    # The second page is gone: its statement is unknown, and counts neither way.
    assert (fact["valid_rate"], fact["total_citations"]) == (1.0, 1.0)
    assert (fact["citation_accuracy"], fact["effective_citations"]) == (1.0, 1.0)
    assert fact["unknown"] == 2
    rows = read(place, "results/race/mine/raw_results.jsonl")
    assert list(rows[0]) == ["id", "prompt", *DIMENSIONS, "overall_score"]
    shown = (place.folder / "deep_research_bench/results/race/mine/race_result.txt").read_text()
    assert shown.splitlines() == [
        "Comprehensiveness: 0.7000",
        "Insight: 0.7000",
        "Instruction Following: 0.7000",
        "Readability: 0.7000",
        "Overall Score: 0.7000",
    ]
    record = read(place, "results/fact/mine/validated.jsonl")[0]
    dance = record["citations_deduped"][f"{web}/dance"]
    assert dance["facts"] == ["Bees dance."]
    assert dance["validate_res"] == [{"idx": 0, "result": "supported"}]
    assert dance["validate_error"] is None
    assert record["citations"][2]["fact"] == "Nobody knows."
    figures = (place.folder / "deep_research_bench/results/fact/mine/fact_result.txt").read_text()
    assert figures == "total_citations: 1.0\ntotal_valid_citations: 1.0\nvalid_rate: 1.0\n"
    assert read(place, "cleaned_data/mine.jsonl")[0]["article"] == CLEANED.strip()


def test_the_price_is_told_before_anything_is_asked(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    with Server(RACE) as server:
        dry = evaluate(forks, place, server, "--dry-run")
        asked = evaluate(forks, place, server)
        made = len(server.log)

    stages = {one["stage"]: one for one in dry.told["stages"]}
    assert set(stages) == {"clean", "score", "extract", "deduplicate", "support"}
    assert (stages["score"]["calls"], stages["support"]["calls"]) == (2, 4)
    assert stages["score"]["dollars"] > 0
    assert (asked.status, asked.told["error"]["code"]) == (3, "eval_unconfirmed")
    assert "In all: 14 calls, about $" in asked.err
    assert made == 0
    assert not (place.folder / "deep_research_bench").exists()


def test_a_price_that_is_unknown_is_told(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    with Server(RACE) as server:
        words = ["--judge", "openai:gpt-secret", "--dry-run"]
        dry = evaluate(forks, place, server, *words)

    assert {one["dollars"] for one in dry.told["stages"]} == {None}


def test_what_was_judged_is_not_paid_for_again(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    with Server(RACE) as server:
        first = evaluate(forks, place, server, "--only", "race", "--yes")
        made = len(server.log)
        # Nobody has to agree where nothing is to be paid.
        again = evaluate(forks, place, server, "--only", "race")

    assert made == 4
    assert len(server.log) == made
    assert again.told["race"] == first.told["race"]
    assert "nothing is to be paid" in again.err
    assert again.told["spent"] == first.told["spent"]


def test_an_evaluation_that_was_killed_goes_on(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    words = ["eval", "drb", "bench", "--reports", "mine.jsonl", "--judge", JUDGE]
    words += ["--only", "race", "--skip-cleaning", "--parallel", "1", "--yes"]
    with Server([{**SCORE, "times": 1}, {"schema": "RaceScores", "hang": 60}]) as server:
        killed = place.start(*words, **key(server))
        wait_for(lambda: len(server.log) == 2)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        server.replace(RACE)
        done = forks.run(place, *words, "--json", **key(server))

    # One was judged before the kill.
    assert len(server.log) == 1
    assert (done.told["race"]["scored"], done.told["race"]["failed"]) == (2, {})
    # The call that the kill cut off is counted, as it may have been billed.
    assert done.told["spent"]["calls"] == 3


def wait_for(happened: Any) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_answer_without_a_criterion_is_asked_for_again(place: Place, forks: Forks):
    reports(place, "https://bees.example")

    def half(body: dict[str, Any]) -> dict[str, Any]:
        return {name: some[:1] for name, some in scores(body).items()}

    rules = [
        {"schema": "RaceScores", "match": "<report>", "reply": half},
        {**SCORE, "match": "dance? B"},
    ]
    with Server([*rules, CLEAN]) as server:
        words = ["--only", "race", "--language", "en", "--skip-cleaning", "--yes"]
        # The correction names what is missing; the scripted judge reads the prompt from it.
        done = evaluate(forks, place, server, *words)

    assert done.told["race"]["overall_score"] == pytest.approx(0.7)
    assert len(server.log) == 2
    assert "dance? B" in server.log[1].body["messages"][-1]["content"]


@pytest.mark.parametrize(
    "reply",
    [
        "I would rather not say.",
        {name: [] for name in DIMENSIONS},
        {**{name: [] for name in DIMENSIONS}, "insight": [{"criterion": "A"}]},
        {
            name: [{"criterion": "A", "article_1_score": 11, "article_2_score": 0}]
            for name in DIMENSIONS
        },
    ],
)
def test_an_answer_that_cannot_be_used_is_a_failure_and_no_score(
    place: Place, forks: Forks, reply: Any
):
    reports(place, "https://bees.example")
    words = ["--only", "race", "--language", "en", "--skip-cleaning"]
    with Server([{"schema": "RaceScores", "reply": reply}]) as server:
        failed = evaluate(forks, place, server, *words, "--yes")
        made = len(server.log)
        # A new start alone does not ask again; it is said how to.
        same = evaluate(forks, place, server, *words, "--yes")
        again = len(server.log)
        server.replace(RACE)
        mended = evaluate(forks, place, server, *words, "--retry-failed", "--yes")

    assert (failed.status, failed.told["race"]["failed"]) == (6, {"1": "answer_invalid"})
    assert failed.told["race"]["scored"] == 0
    assert "overall_score" not in failed.told["race"]
    assert (made, again) == (3, 3)
    assert same.told["race"]["failed"] == failed.told["race"]["failed"]
    assert mended.told["race"]["overall_score"] == pytest.approx(0.7)


def test_verdicts_that_are_incomplete_support_nothing(place: Place, forks: Forks):
    with Server() as server:
        server.add_routes(Route("/dance", page))
        web = server.url.removesuffix("/v1")
        verdicts = {"verdicts": [{"idx": 7, "result": "supported"}]}
        rules = [*fact_rules(web)[:2], {"schema": "StatementVerdicts", "reply": verdicts}]
        server.replace(rules)
        reports(place, web)
        done = evaluate(forks, place, server, "--only", "fact", "--language", "en", "--yes")

    fact = done.told["fact"]
    assert (done.status, fact["pages_failed"], fact["valid_rate"]) == (6, 1, 0.0)
    record = read(place, "results/fact/mine/validated.jsonl")[0]
    dance = record["citations_deduped"][f"{web}/dance"]
    assert (dance["validate_res"], dance["validate_error"]) == ([], "answer_invalid")


def test_citations_that_cannot_be_read_count_as_a_failure(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    with Server([{"schema": "ExtractedCitations", "reply": "none"}]) as server:
        done = evaluate(forks, place, server, "--only", "fact", "--language", "en", "--yes")

    assert (done.status, done.told["fact"]["failed"]) == (6, {"1": "answer_invalid"})
    assert done.told["fact"]["checked"] == 0
    assert read(place, "results/fact/mine/validated.jsonl")[0]["citations"] == "extraction failed"


def test_without_criteria_the_judge_can_write_them(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    prompt = PROMPTS[1]
    weights = dict(zip(DIMENSIONS, (0.1, 0.2, 0.3, 0.4), strict=True))
    rules = criteria(prompt)["criterions"]["insight"]
    written = [
        {"schema": "DimensionWeights", "reply": weights},
        {"schema": "WrittenCriteria", "reply": {"criteria": rules}},
    ]
    write(place, "flat/reference.jsonl", [{"prompt": prompt, "article": REFERENCE}])
    with Server([*written, *RACE]) as server:
        words = ["eval", "drb", "flat", "--reports", "mine.jsonl", "--judge", JUDGE, "--json"]
        words += ["--only", "race", "--language", "en", "--yes"]
        without = forks.run(place, *words, **key(server))
        done = forks.run(place, *words, "--make-criteria", **key(server))

    assert (without.status, without.told["error"]["code"]) == (4, "file_not_found")
    assert done.told["race"]["criteria"] == "written by the judge"
    assert done.told["race"]["overall_score"] == pytest.approx(0.7)
    kept = read(place, "criteria_data/criteria.jsonl")[0]
    assert kept["dimension_weight"] == pytest.approx(weights)
    # Three trials for the weights, one answer for each dimension.
    asked = [call.body["response_format"]["json_schema"]["name"] for call in server.log[:7]]
    assert sorted(asked) == ["DimensionWeights"] * 3 + ["WrittenCriteria"] * 4


def test_without_reference_reports_citations_are_checked_and_the_rest_is_named(
    place: Place, forks: Forks
):
    reports(place, "https://bees.example")
    empty = {"schema": "ExtractedCitations", "reply": {"citations": []}}
    with Server([empty]) as server:
        words = ["eval", "drb", "flat", "--reports", "mine.jsonl", "--judge", JUDGE, "--json"]
        done = forks.run(place, *words, "--yes", **key(server))

    assert done.status == 0, done.err
    assert "race" not in done.told
    assert done.told["fact"]["checked"] == 2
    assert any("reference.jsonl" in line for line in done.told["missing"])


def test_a_wrong_key_ends_the_evaluation_at_once(place: Place, forks: Forks):
    reports(place, "https://bees.example")
    with Server([{"error": 401}]) as server:
        done = evaluate(forks, place, server, "--yes")

    assert (done.status, done.told["error"]["code"]) == (7, "model_auth")


def test_dossier_writes_the_reports_itself_and_only_once(place: Place, forks: Forks):
    empty = {"schema": "ExtractedCitations", "reply": {"citations": []}}
    words = ["eval", "drb", "bench", "--judge", JUDGE, "--only", "fact", "--limit", "1", "--json"]
    # The built-in model researches, and finds nothing on a web that does not answer.
    chosen = ["--set", 'models={"coordinator": "extractive:", "default": "extractive:"}']
    with Server([empty]) as server:
        web = {"SEARXNG_URL": server.url.removesuffix("/v1")}
        done = forks.run(place, *words, *chosen, "--yes", **key(server), **web)
        made = len(server.log)
        again = forks.run(place, *words, *chosen, "--yes", **key(server), **web)

    assert done.status == 0, done.err
    report = read(place, "raw_data/dossier.jsonl")[0]
    assert (report["id"], report["prompt"]) == (1, PROMPTS[1])
    assert report["article"].startswith("# ")
    assert "1 run of Dossier before that, at most $" in done.err
    assert len(server.log) == made
    assert "run of Dossier" not in again.err
    assert again.told["fact"] == done.told["fact"]


def test_a_run_that_was_killed_goes_on_before_its_report_is_judged(place: Place, forks: Forks):
    empty = {"schema": "ExtractedCitations", "reply": {"citations": []}}
    words = ["eval", "drb", "bench", "--judge", JUDGE, "--only", "fact", "--limit", "1", "--yes"]
    with Server([{"hang": 60}]) as server:
        web = {**key(server), "SEARXNG_URL": server.url.removesuffix("/v1")}
        killed = place.start(*words, **web)
        wait_for(lambda: server.log)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        server.replace([empty])
        chosen = ["--set", 'models={"default": "extractive:"}', "--json"]
        done = forks.run(place, *words, *chosen, **web)

    assert done.status == 0, done.err
    assert len(server.log) == 1
    assert read(place, "raw_data/dossier.jsonl")[0]["prompt"] == PROMPTS[1]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["nowhere", "--reports", "mine.jsonl"], 4, "file_not_found"),
        (["bench", "--reports", "nowhere.jsonl"], 4, "file_not_found"),
        (["bench", "--reports", "torn.jsonl"], 2, "torn.jsonl:1"),
        (["bench", "--reports", "other.jsonl"], 2, "corpus_empty"),
        (["bench", "--reports", "mine.jsonl", "--judge", "openai:gpt-9"], 2, "unknown_model"),
        (["bench", "--reports", "mine.jsonl", "--judge", "nobody:x"], 2, "unknown_model"),
        (["bench", "--reports", "mine.jsonl", "--judge", "xai:grok"], 7, "model_key_missing"),
        (["bench", "--reports", "mine.jsonl", "--judge", "extractive:"], 7, "cannot judge"),
        (["bench", "--reports", "mine.jsonl", "--only", "both"], 2, "--only"),
        (["bench", "--reports", "mine.jsonl", "--language", "fr"], 2, "--language"),
        (["bench"], 4, "nothing_to_search"),
        (["odd", "--reports", "mine.jsonl"], 2, "query.jsonl:1"),
        (["unruly", "--reports", "mine.jsonl"], 2, "criteria.jsonl:1"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    place: Place, forks: Forks, words: list[str], status: int, told: str
):
    reports(place, "https://bees.example")
    write(place, "torn.jsonl", [{"id": 1}])
    write(place, "other.jsonl", [{"prompt": "Why?", "article": "So."}])
    write(place, "odd/query.jsonl", [{"id": 1, "prompt": "Why?", "language": "fr"}])
    tasks = [{"id": 1, "prompt": PROMPTS[1], "language": "en"}]
    write(place, "unruly/query.jsonl", tasks)
    write(place, "unruly/criteria.jsonl", [{**tasks[0], "criterions": {}}])
    with Server() as server:
        chosen = [] if "--judge" in words else ["--judge", JUDGE]
        done = forks.run(place, "eval", "drb", *words, *chosen, "--yes", **key(server))

    assert (done.status, told in done.problem) == (status, True), done.err
    assert not server.log
