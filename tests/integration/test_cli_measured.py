"""The commands that measure: what they print, and what they say of files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.openai_server import Server
from tests.integration.command import Done, Forks, Place

pytestmark = pytest.mark.integration

CORPUS = [
    {"id": "d", "title": "The dance", "text": "Karl von Frisch described the waggle dance."},
    {"id": "w", "title": "Winter", "text": "Bees form a winter cluster below 14 degrees."},
    {"id": "q", "title": "The queen", "text": "The queen lays 2000 eggs a day."},
]
QUERIES = [
    {"id": "1", "text": "Who described the waggle dance?", "gold": ["d"], "type": "who"},
    {"id": "2", "text": "When do bees cluster?", "gold": ["w"], "gold_groups": [["w"]]},
    {"id": "3", "text": "What is not in it?", "gold": []},
]
TALK = [
    {
        "id": f"{group}/{n}",
        "group": group,
        "session": 1,
        "speaker": "Ann",
        "title": "",
        "text": text,
    }
    for group, texts in {"a": ["I live in Graz.", "Yes."], "b": ["I live in Rome.", "No."]}.items()
    for n, text in enumerate(texts)
]
LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I was in the museum yesterday."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "I painted a lake."},
            ],
        },
        "qa": [
            {"question": "When was Ann in the museum?", "answer": "7 May 2023", "category": 2},
            {"question": "What did Ann paint?", "adversarial_answer": "a lake", "category": 5},
        ],
    }
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A folder with corpora and questions, right ones and wrong ones."""
    place = Place(tmp_path_factory.mktemp("eval"))
    write(place, "corpus.jsonl", CORPUS)
    write(place, "queries.jsonl", QUERIES)
    write(place, "talk.jsonl", TALK)
    asked = {"id": "1", "text": "Where does Ann live?", "gold": ["b/0"]}
    write(place, "asked.jsonl", [{**asked, "group": "b"}])
    write(place, "lost.jsonl", [asked])
    write(place, "beir.jsonl", [{"_id": one["id"], "text": one["text"]} for one in CORPUS])
    write(place, "beir_queries.jsonl", [{"_id": one["id"], "text": one["text"]} for one in QUERIES])
    (place.folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\t1\n2\tw\t0\n")
    (place.folder / "torn.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\n")
    (place.folder / "torn.jsonl").write_text(json.dumps(CORPUS[0]) + '\n{"id": "w", \n')
    (place.folder / "latin.jsonl").write_bytes(b'{"id": "\xe9"}\n')
    (place.folder / "empty.jsonl").write_text("\n")
    write(place, "twins.jsonl", [CORPUS[0], CORPUS[0]])
    (place.folder / "locomo.json").write_text(json.dumps(LOCOMO))
    return place


def write(place: Place, name: str, lines: list[dict[str, Any]]) -> None:
    (place.folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def measure(place: Place, forks: Forks, corpus: str, queries: str, *words: str) -> Done:
    files = ["--corpus", corpus, "--queries", queries]
    return forks.run(place, "eval", "retrieval", *files, "--json", *words)


def test_every_method_has_its_row_and_every_share_is_between_0_and_1(place: Place, forks: Forks):
    told = measure(place, forks, "corpus.jsonl", "queries.jsonl", "--embeddings", "hashing").told

    assert list(told["methods"]) == ["bm25", "vector", "rrf", "dossier"]
    for row in told["methods"].values():
        assert set(row) >= {"R@1", "R@2", "R@5", "R@10", "all@5", "all@10", "MRR", "nDCG@10", "ms"}
        assert all(0 <= value <= 1 for name, value in row.items() if name != "ms")
    assert (told["pages"], told["queries"]) == (3, 2)
    assert told["methods"]["dossier"]["R@1"] == 1
    assert told["methods"]["dossier"]["group@5"] == 1
    assert told["categories"]["who"]["questions"] == 1


def test_without_embeddings_only_words_are_compared(place: Place, forks: Forks):
    told = measure(place, forks, "corpus.jsonl", "queries.jsonl", "--embeddings", "none").told

    assert list(told["methods"]) == ["bm25", "dossier"]


def test_a_question_is_asked_within_its_group(place: Place, forks: Forks):
    told = measure(place, forks, "talk.jsonl", "asked.jsonl", "--embeddings", "none").told

    assert told["methods"]["bm25"]["R@1"] == told["methods"]["dossier"]["R@1"] == 1


def test_the_format_of_beir_is_read(place: Place, forks: Forks):
    words = ["--qrels", "qrels.tsv", "--embeddings", "none"]
    told = measure(place, forks, "beir.jsonl", "beir_queries.jsonl", *words).told

    assert (told["queries"], told["methods"]["dossier"]["MRR"]) == (1, 1)


def test_the_store_of_the_person_is_left_alone(tmp_path: Path, forks: Forks, place: Place):
    home = tmp_path / "home"
    files = ["--corpus", "corpus.jsonl", "--queries", "queries.jsonl", "--embeddings", "none"]

    done = forks.run(place, "eval", "retrieval", *files, DOSSIER_HOME=str(home))

    assert done.status == 0
    assert "dossier" in done.out
    assert not home.exists()


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["nowhere.jsonl", "queries.jsonl"], 4, "error[file_not_found]"),
        (["corpus.jsonl", "nowhere.jsonl"], 4, "error[file_not_found]"),
        (["torn.jsonl", "queries.jsonl"], 2, "torn.jsonl:2"),
        (["corpus.jsonl", "torn.jsonl"], 2, "torn.jsonl:2"),
        (["latin.jsonl", "queries.jsonl"], 2, "it is not UTF-8"),
        (["twins.jsonl", "queries.jsonl"], 2, "twins.jsonl:2"),
        (["empty.jsonl", "queries.jsonl"], 2, "error[corpus_empty]"),
        (["corpus.jsonl", "empty.jsonl"], 2, "error[corpus_empty]"),
        (["corpus.jsonl", "beir_queries.jsonl"], 2, "--qrels"),
        (["corpus.jsonl", "asked.jsonl"], 2, "asked.jsonl:1"),
        (["talk.jsonl", "lost.jsonl"], 2, "lost.jsonl:1"),
        (["corpus.jsonl", "queries.jsonl", "--group-field", "team"], 2, "'team'"),
        (["beir.jsonl", "beir_queries.jsonl", "--qrels", "torn.tsv"], 2, "torn.tsv:2"),
        (["corpus.jsonl", "queries.jsonl", "--embeddings", "nobody:any"], 2, "embedder_unknown"),
        (
            ["corpus.jsonl", "queries.jsonl", "--embeddings", "minilm:nowhere"],
            7,
            "embedder_missing",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    place: Place, forks: Forks, words: list[str], status: int, told: str
):
    wrong = measure(place, forks, *words)

    assert (wrong.status, told in wrong.problem) == (status, True), wrong.err
    assert wrong.told["error"]["code"]


def test_locomo_is_answered_from_memory_and_scored(place: Place, forks: Forks):
    rules = [
        {"schema": "Lookup", "reply": {"keywords": ["museum"]}},
        {
            "schema": "Notes",
            "reply": {"facts": [{"text": "I was in the museum yesterday.", "pages": ["S1"]}]},
        },
        {"schema": "Complete", "reply": {"complete": True}},
        {"schema": "Short", "match": "8 May, 2023", "reply": {"answer": "The 7 May, 2023"}},
    ]
    with Server(rules) as server:
        key = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url}
        told = forks.run(place, "eval", "locomo", "locomo.json", "--json", **key).told

    assert told["categories"] == {"temporal": {"F1": 1, "BLEU-1": 1, "answered": 1, "questions": 1}}
    assert (told["F1"], told["questions"], told["pages"]) == (1, 1, 2)
    assert told["model"] == "openai:gpt-4o"


def test_locomo_needs_a_model(place: Place, forks: Forks):
    told = forks.run(place, "eval", "locomo", "locomo.json")

    assert (told.status, told.problem[:24]) == (7, "error[model_key_missing]")


@pytest.mark.parametrize(
    ("file", "status", "code"),
    [("nowhere.json", 4, "file_not_found"), ("corpus.jsonl", 2, "locomo_unreadable")],
)
def test_a_file_that_is_not_locomos_is_told(
    place: Place, forks: Forks, file: str, status: int, code: str
):
    told = forks.run(place, "eval", "locomo", file, "--json")

    assert (told.status, told.told["error"]["code"]) == (status, code)
