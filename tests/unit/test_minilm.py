from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from math import erf, exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from models import embeddings, minilm
from models.embeddings import find_minilm_folder, has_minilm_files
from models.minilm import MiniLM, read_safetensors

Arrays = dict[str, Any]

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bees", "dance", "in", "the", "sun", "honey"]
WORDS += ["winter", "is", "cold", "a", "queen", "##s", "lay"]
TEXTS = ["Bees dance in the sun", "honey", "", "the queens lay in the cold winter", "a bee is cold"]
WIDTH, WIDE, LAYERS = 64, 96, 2

TINY_ONNX = zlib.decompress(
    base64.b85decode(
        "c-n>0F-!t66b9h-JfyrBax{`a6g9-bkeE0)xd`WA!sOz@avoe0F5rRQyC6<%IyySu=*Z~E=;-Lk=;-L^A6bkV"
        "ZTfZTYxDY7se>DvDwJWr-8YmAqhZ2c7{pqRs>{bdcg-bjQ=SJs6L~xyn#Cqp?IS<tT8=Cplw>L`Dw1Tf{3|V!"
        "YVI_OFA`&}4Q-GdkxX=<k9w~g1_3UL*=JK-Y6O9{IgG}&sZ^wFN4kqfnyD0@V{(Y4jtLV;VFq&$4Iv!Zf<36i"
        "37o+YCU6UPa1SXwz!V-~22bz|FEEE!c!PHkt`IgTSOEuCp#<x0O)KeST|Bs{tVOe;wevN>H7cvDE>c!!+CF!>"
        "L|VlLu|yry+NHeDY$6T^k$3LLy?@KUeZgPl?S1+gx89_RlDhos39^*!+9aI92iPuob^"
    )
)
"""A network whose hidden state of token number n is 4n, 4n + 1, 4n + 2, 4n + 3."""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a model of two small layers and random weights, in the published layout."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    write_tokenizer(folder)
    write_weights(folder / "model.safetensors", random_weights())
    return folder


def write_tokenizer(folder: Path) -> None:
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(folder / "tokenizer.json"))


def random_weights() -> Arrays:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (300, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    names = ["embeddings.LayerNorm"]
    for number in range(LAYERS):
        at = f"encoder.layer.{number}."
        for name in ("query", "key", "value"):
            shapes[f"{at}attention.self.{name}.weight"] = (WIDTH, WIDTH)
            shapes[f"{at}attention.self.{name}.bias"] = (WIDTH,)
        shapes[f"{at}attention.output.dense.weight"] = (WIDTH, WIDTH)
        shapes[f"{at}intermediate.dense.weight"] = (WIDE, WIDTH)
        shapes[f"{at}intermediate.dense.bias"] = (WIDE,)
        shapes[f"{at}output.dense.weight"] = (WIDTH, WIDE)
        names += [f"{at}attention.output.LayerNorm", f"{at}output.LayerNorm"]
        names += [f"{at}attention.output.dense", f"{at}output.dense"]
    for name in names:
        shapes[f"{name}.bias"] = (WIDTH,)
        shapes.setdefault(f"{name}.weight", (WIDTH,))
    random = np.random.default_rng(7)
    return {name: random.normal(0, 0.4, shape).astype("<f4") for name, shape in shapes.items()}


def write_weights(file: Path, weights: Arrays, prefix: str = "") -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in weights.items():
        ends = [len(data), len(data) + tensor.nbytes]
        header[prefix + name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": ends}
        data += tensor.tobytes()
    ids = np.arange(10)
    ends = [len(data), len(data) + ids.nbytes]
    header["embeddings.position_ids"] = {"dtype": "I64", "shape": [1, 10], "data_offsets": ends}
    head = json.dumps(header).encode()
    file.write_bytes(len(head).to_bytes(8, "little") + head + data + ids.tobytes())


def slow_vector(ids: list[int], weights: Arrays) -> Any:
    """One text, one token and one head at a time, in double precision, as the paper puts it."""
    w = {name: tensor.astype(float) for name, tensor in weights.items()}

    def norm(x: Any, name: str) -> Any:
        return (x - x.mean()) / sqrt(x.var() + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x: Any, name: str) -> Any:
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    start = "embeddings.{}_embeddings.weight".format
    place = w[start("position")]
    x = [w[start("word")][t] + place[i] + w[start("token_type")][0] for i, t in enumerate(ids)]
    x = [norm(each, "embeddings.LayerNorm") for each in x]
    for number in range(sum("intermediate.dense.weight" in name for name in w)):
        at = f"encoder.layer.{number}."
        q, k, v = (
            [dense(each, f"{at}attention.self.{name}") for each in x]
            for name in ("query", "key", "value")
        )
        mixed = [np.zeros_like(each) for each in x]
        for head in (slice(first, first + 32) for first in range(0, len(x[0]), 32)):
            for one, query in enumerate(q):
                worth = [exp(query[head] @ key[head] / sqrt(32)) for key in k]
                mixed[one][head] = sum(
                    share / sum(worth) * value[head] for share, value in zip(worth, v, strict=True)
                )
        after = f"{at}attention.output."
        x = [
            norm(each + dense(mix, after + "dense"), after + "LayerNorm")
            for each, mix in zip(x, mixed, strict=True)
        ]
        for one, each in enumerate(x):
            wide = dense(each, f"{at}intermediate.dense")
            wide = np.array([u * (1 + erf(u / sqrt(2))) / 2 for u in wide])
            x[one] = norm(each + dense(wide, f"{at}output.dense"), f"{at}output.LayerNorm")
    mean = sum(x) / len(x)
    return mean / sqrt(mean @ mean)


def slow_vectors(model: MiniLM, texts: list[str], weights: Arrays) -> Any:
    return np.array([slow_vector(model.tokenizer.encode(text).ids, weights) for text in texts])


def test_vectors_are_those_of_a_slow_and_plain_calculation(tiny: Path) -> None:
    model = MiniLM(tiny)

    vectors = model.embed(TEXTS)

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(
        vectors, slow_vectors(model, TEXTS, random_weights()), rtol=0, atol=1e-5
    )


def test_weights_may_be_named_as_those_of_a_whole_bert(tiny: Path) -> None:
    plain = MiniLM(tiny).embed(TEXTS)
    write_weights(tiny / "model.safetensors", random_weights(), prefix="bert.")

    assert np.array_equal(MiniLM(tiny).embed(TEXTS), plain)


def test_a_text_has_the_same_vector_alone_and_among_longer_ones(tiny: Path) -> None:
    model = MiniLM(tiny)

    together = model.embed(["honey " * 90, *TEXTS, "the sun " * 40])

    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together[1:-1], alone, rtol=0, atol=1e-6)


def test_vectors_keep_the_order_of_the_texts_over_many_batches(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = MiniLM(tiny)
    texts = ["bees " * (number % 7) + WORDS[4 + number % 10] for number in range(50)]
    in_one_batch = model.embed(texts)

    monkeypatch.setattr(minilm, "TOKENS", 16)

    np.testing.assert_allclose(model.embed(texts), in_one_batch, rtol=0, atol=1e-6)


def test_only_the_beginning_of_a_long_text_is_read(tiny: Path) -> None:
    model = MiniLM(tiny)

    long, longer = model.embed(["cold " * 254, "cold " * 254 + "winter"])

    # A row of a batch may differ in its last bit from another one of the same words.
    assert np.allclose(long, longer, atol=1e-6)


def test_no_texts_have_no_vectors(tiny: Path) -> None:
    assert MiniLM(tiny).embed([]).shape == (0, 384)


def test_an_onnx_file_is_run_where_there_is_one(tiny: Path) -> None:
    (tiny / "model.onnx").write_bytes(TINY_ONNX)

    cls_bees_sep, cls_sep = MiniLM(tiny).embed(["bees", ""])

    both = np.array([[(8 + 16 + 12) / 3 + part for part in range(4)], [10, 11, 12, 13]])
    expected = both / np.linalg.norm(both, axis=1, keepdims=True)
    np.testing.assert_allclose([cls_bees_sep, cls_sep], expected, rtol=0, atol=1e-6)


def test_an_onnx_file_is_run_without_telling_anybody(tiny: Path, tmp_path: Path):
    """The library would make a device id and a database of events at its import."""
    (tiny / "model.onnx").write_bytes(TINY_ONNX)
    home = tmp_path / "person"
    home.mkdir()
    code = (
        "import sys; from pathlib import Path; from models.minilm import MiniLM; "
        f"MiniLM(Path({str(tiny)!r})).embed(['bees']); print('onnxruntime' in sys.modules)"
    )
    # Where it believes that it is tested, it is silent by itself.
    quiet = ("ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "CI", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in quiet}

    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=Path(__file__).parents[2],
        env=environment | {"HOME": str(home)},
        capture_output=True,
        encoding="utf-8",
    )

    assert done.stdout == "True\n"
    assert not list(home.rglob("*onnxruntime*"))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a folder that holds no real model look like one, below a home without any."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(embeddings, "MINILM_PACKAGE", "no_such_package")

    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "tokenizer.json").write_text("{}")
        (folder / "model.onnx").write_text("")
        return folder

    return make


def test_the_file_that_chroma_has_downloaded_is_found(install: Callable[[str], Path]) -> None:
    assert find_minilm_folder() is None

    folder = install(".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx")

    assert find_minilm_folder() == folder


def test_an_installed_package_is_found_without_importing_it(
    install: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = install("site/carries_minilm/model")
    (folder.parent / "__init__.py").write_text("import torch")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(embeddings, "MINILM_PACKAGE", "carries_minilm")

    assert find_minilm_folder() == folder
    assert "carries_minilm" not in sys.modules


def test_a_folder_without_weights_or_without_a_tokenizer_holds_no_model(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    assert not has_minilm_files(tmp_path)

    (tmp_path / "model.safetensors").write_text("")
    assert has_minilm_files(tmp_path)

    (tmp_path / "tokenizer.json").unlink()
    assert not has_minilm_files(tmp_path)


REAL = Path(os.environ["DOSSIER_TEST_MINILM"]) if "DOSSIER_TEST_MINILM" in os.environ else None


@pytest.fixture(scope="module")
def real() -> Path:
    folder = REAL or find_minilm_folder()
    if folder is None:
        pytest.skip("no MiniLM here: set DOSSIER_TEST_MINILM to a folder that holds it")
    return folder


def test_the_real_model_gives_the_vectors_of_the_slow_calculation(real: Path) -> None:
    if not (real / "model.safetensors").is_file():
        pytest.skip(f"no model.safetensors in {real}")
    model = MiniLM(real)

    vectors = model.embed(["Honey is what bees eat.", "蜜蜂 dance"])

    expected = slow_vectors(
        model,
        ["Honey is what bees eat.", "蜜蜂 dance"],
        read_safetensors(real / "model.safetensors"),
    )
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=2e-6)


def test_the_real_model_knows_what_is_alike(real: Path) -> None:
    question, near, far = MiniLM(real).embed(
        ["What do bees eat?", "Honey is the food of the hive.", "The train is late again."]
    )

    assert question @ near > 0.4 > 0.15 > question @ far


def test_the_real_model_needs_no_torch(real: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from models.minilm import MiniLM; "
        f"MiniLM(Path({str(real)!r})).embed(['bees']); assert 'torch' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_a_long_page_is_read_in_parts_and_its_vector_is_their_mean(tiny: Path):
    model = MiniLM(tiny)
    full, rest = "bees " * 254, "honey " * 54
    first, second = model.embed([full, rest])

    (page,) = model.embed_pages([full + rest])

    mean = 256 * first + 56 * second
    np.testing.assert_allclose(page, mean / np.linalg.norm(mean), atol=1e-5)
    assert not np.allclose(page, model.embed([full + rest])[0], atol=1e-3)


def test_the_vector_of_a_short_page_is_that_of_its_text(tiny: Path):
    model = MiniLM(tiny)

    np.testing.assert_allclose(model.embed_pages(TEXTS), model.embed(TEXTS), atol=1e-6)
    assert len(model.embed_pages([])) == 0
