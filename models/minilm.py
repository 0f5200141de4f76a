"""Embed texts with all-MiniLM-L6-v2 from files on this disk, without torch.

By onnxruntime, or by a BERT encoder in numpy (Devlin et al., NAACL 2019).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.hashing_vectors import FloatMatrix, TokenIds, normalize_rows
from text.single_core import limit_threads_to_one_core

if TYPE_CHECKING:
    from tokenizers import Encoding


HEAD = 32
"""The width of one attention head, in every MiniLM."""

ROWS = 32
"""How many rows GELU works on at once, so that all it needs stays in the processor's cache."""

# Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: erf to 1.5e-7.
_P = np.float32(0.3275911)
_A = np.array([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], np.float32)


class _DenseLayer(NamedTuple):
    """A linear map: `x @ weight + bias`."""

    weight: FloatMatrix
    bias: FloatMatrix

    def __call__(self, x: FloatMatrix) -> FloatMatrix:
        """Map rows; the result is a new array that may be changed."""
        mapped: FloatMatrix = x @ self.weight
        mapped += self.bias
        return mapped


class _LayerNorm(NamedTuple):
    """A layer normalisation (Ba, Kiros and Hinton, 2016)."""

    weight: FloatMatrix
    bias: FloatMatrix

    def __call__(self, x: FloatMatrix) -> FloatMatrix:
        """Normalise each row, in place."""
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(variance + np.float32(1e-12)))[:, None]
        x *= self.weight
        x += self.bias
        return x


class _EncoderLayer(NamedTuple):
    """One layer; queries, keys and values are one matrix side by side."""

    attention: _DenseLayer
    mixed: _DenseLayer
    attended: _LayerNorm
    wide: _DenseLayer
    narrow: _DenseLayer
    done: _LayerNorm

    def __call__(self, x: FloatMatrix, away: FloatMatrix) -> FloatMatrix:
        """Map the rows of a batch; `away` is what each token's scores are lowered by."""
        x = self.attended(self.mixed(_attend(self.attention(x), away)) + x)
        return self.done(self.narrow(_gelu(self.wide(x))) + x)


class _BertEncoder:
    """An encoder that is held in memory."""

    def __init__(self, file: Path) -> None:
        """Read the weights of a `model.safetensors`."""
        weights = read_safetensors(file)
        embedding = "embeddings.{}_embeddings.weight".format
        self.words = weights[embedding("word")]
        self.positions = weights[embedding("position")] + weights[embedding("token_type")][0]
        self.start = _norm(weights, "embeddings.LayerNorm")
        count = sum(name.endswith(".intermediate.dense.weight") for name in weights)
        self.layers = [_layer(weights, f"encoder.layer.{number}.") for number in range(count)]

    def __call__(self, ids: TokenIds, mask: TokenIds) -> FloatMatrix:
        """Return the last hidden state `[texts, tokens, width]`.

        Args:
            ids: Token numbers `[texts, tokens]`.
            mask: 1 where there is a token, 0 behind the end of a text.
        """
        texts, tokens = ids.shape
        x = self.words[ids] + self.positions[:tokens]
        x = self.start(x.reshape(texts * tokens, -1))
        away = ((1 - mask) * -1e9).astype(np.float32)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, away)
        return x.reshape(texts, tokens, -1)


def read_safetensors(file: Path) -> dict[str, FloatMatrix]:
    """Return the float32 tensors of a safetensors file by name; they stay on the disk until used.

    The format: eight bytes with the length of a JSON header, the header, the raw numbers.
    """
    raw = np.memmap(file, mode="r")
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    header = json.loads(raw[8:start].tobytes())
    return {
        name.removeprefix("bert."): _tensor(raw[start:], entry)
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def _tensor(data: NDArray[np.uint8], entry: dict[str, list[int]]) -> FloatMatrix:
    first, last = entry["data_offsets"]
    return data[first:last].view("<f4").reshape(entry["shape"])


def _dense(weights: dict[str, FloatMatrix], *names: str) -> _DenseLayer:
    """Return linear maps side by side as one; they are stored `[out, in]`."""
    weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    bias = np.concatenate([weights[f"{name}.bias"] for name in names])
    return _DenseLayer(np.ascontiguousarray(weight.T), bias)


def _norm(weights: dict[str, FloatMatrix], name: str) -> _LayerNorm:
    return _LayerNorm(np.array(weights[f"{name}.weight"]), np.array(weights[f"{name}.bias"]))


def _layer(weights: dict[str, FloatMatrix], name: str) -> _EncoderLayer:
    itself = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
    return _EncoderLayer(
        attention=_dense(weights, *itself),
        mixed=_dense(weights, f"{name}attention.output.dense"),
        attended=_norm(weights, f"{name}attention.output.LayerNorm"),
        wide=_dense(weights, f"{name}intermediate.dense"),
        narrow=_dense(weights, f"{name}output.dense"),
        done=_norm(weights, f"{name}output.LayerNorm"),
    )


def _attend(x: FloatMatrix, away: FloatMatrix) -> FloatMatrix:
    """Mix the values of a batch's tokens by how well queries and keys agree."""
    texts, tokens = len(away), away.shape[-1]
    heads = x.shape[1] // 3 // HEAD
    split = x.reshape(texts, tokens, 3, heads, HEAD).transpose(2, 0, 3, 1, 4)
    query, key, value = np.ascontiguousarray(split)
    scores: FloatMatrix = query @ np.ascontiguousarray(key.swapaxes(2, 3))
    scores *= np.float32(HEAD**-0.5)
    scores += away
    scores -= scores.max(axis=3, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=3, keepdims=True)
    mixed: FloatMatrix = scores @ value
    return mixed.swapaxes(1, 2).reshape(texts * tokens, heads * HEAD)


def _gelu(x: FloatMatrix) -> FloatMatrix:
    """Apply `x (1 + erf(x / sqrt 2)) / 2` in place (Hendrycks and Gimpel, 2016)."""
    for start in range(0, len(x), ROWS):
        part = x[start : start + ROWS]
        size = np.abs(part)
        # x (1 + erf(x / sqrt 2)) / 2 = max(x, 0) - |x| (1 - erf(|x| / sqrt 2)) / 2
        size *= _rest(size * np.float32(0.5**0.5))
        size *= np.float32(0.5)
        np.maximum(part, 0, out=part)
        part -= size
    return x


def _rest(z: FloatMatrix) -> FloatMatrix:
    """Return 1 - erf(z) for numbers from 0 up; `z` is spoilt."""
    t = z * _P
    t += 1
    np.reciprocal(t, out=t)
    rest: FloatMatrix = t * _A[0]
    for factor in _A[1:]:
        rest += factor
        rest *= t
    z *= z
    np.negative(z, out=z)
    rest *= np.exp(z, out=z)
    return rest


DIMENSION = 384
LONGEST = 256
"""How many tokens are read at once, as sentence-transformers does for this model."""

PARTS = 6
"""How many times as much is read of a page; its vector is the mean."""

TOKENS = 1024
"""About how many tokens are worked on at once by each thread; more do not stay in its cache."""

TokenEncoder = Callable[[TokenIds, TokenIds], FloatMatrix]
"""Makes token numbers and their mask the hidden state `[texts, tokens, width]`."""


class MiniLM:
    """The model, held in memory."""

    def __init__(self, folder: Path) -> None:
        """Load `tokenizer.json`, and `model.onnx` or `model.safetensors`, of a folder."""
        # A search of a store without vectors of this model never needs the tokenizer.
        from tokenizers import Tokenizer  # noqa: PLC0415

        limit_threads_to_one_core()
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()
        onnx = folder / "model.onnx"
        self.encoder = _onnx(onnx) if onnx.is_file() else _BertEncoder(folder / "model.safetensors")

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """Return the vectors of texts, one row of length 1 for each, as float32."""
        return self._in_batches([each.ids for each in self._encoded(texts)])

    def embed_pages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return the vectors of long texts, each the mean of those of its parts."""
        if not texts:
            return self.embed(texts)
        parts = [[each, *each.overflowing][:PARTS] for each in self._encoded(texts)]
        ids = [part.ids for some in parts for part in some]
        weights = np.array([[len(each)] for each in ids], np.float32)
        firsts = np.cumsum([0, *map(len, parts)])[:-1]
        return normalize_rows(np.add.reduceat(weights * self._in_batches(ids), firsts))

    def _encoded(self, texts: Sequence[str]) -> list[Encoding]:
        return self.tokenizer.encode_batch_fast(list(texts))

    def _in_batches(self, ids: Sequence[Sequence[int]]) -> FloatMatrix:
        if not ids:
            return np.empty((0, DIMENSION), np.float32)
        batches = list(_batches([len(each) for each in ids]))
        parts = _map_batches(lambda rows: self._vectors([ids[row] for row in rows]), batches)
        sorted_ = np.concatenate(parts)
        vectors = np.empty_like(sorted_)
        vectors[np.concatenate(batches)] = sorted_
        return vectors

    def _vectors(self, ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Return the mean of each text's hidden states, with a length of 1."""
        shape = len(ids), max(map(len, ids))
        tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, each in enumerate(ids):
            tokens[row, : len(each)] = each
            mask[row, : len(each)] = 1
        return normalize_rows(
            np.einsum("ijk,ij->ik", self.encoder(tokens, mask), mask.astype(np.float32))
        )


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group texts of like length, the longest first, with about `TOKENS` tokens in each group."""
    rows = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(rows):
        end = start + max(1, TOKENS // lengths[rows[start]])
        yield rows[start:end]
        start = end


def _map_batches(
    work: Callable[[list[int]], FloatMatrix], batches: list[list[int]]
) -> list[FloatMatrix]:
    """Work on batches on all cores."""
    if len(batches) == 1:
        return [work(batches[0])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, batches))


def _onnx(file: Path) -> TokenEncoder:
    # From version 1.29 on it sends events to Microsoft, unless this is set before it is imported.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    # Loading this library takes a while, and only this file needs it.
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])

    def encode(ids: TokenIds, mask: TokenIds) -> FloatMatrix:
        named = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: FloatMatrix = session.run(None, named)[0]
        return hidden

    return encode
