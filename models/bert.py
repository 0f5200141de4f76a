"""Run a small BERT encoder in plain numpy, from the weights as they are published.

The network is that of Devlin et al., "BERT", NAACL 2019, with the normalisation after each part.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

HEAD = 32
"""The width of one attention head, in every MiniLM."""

ROWS = 32
"""How many rows GELU works on at once, so that all it needs stays in the processor's cache."""

# Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: erf to 1.5e-7.
_P = np.float32(0.3275911)
_A = np.array([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], np.float32)


class Dense(NamedTuple):
    """A linear map: `x @ weight + bias`."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Map rows; the result is a new array that may be changed."""
        mapped: Floats = x @ self.weight
        mapped += self.bias
        return mapped


class Norm(NamedTuple):
    """A layer normalisation (Ba, Kiros and Hinton, 2016)."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Normalise each row, in place."""
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(variance + np.float32(1e-12)))[:, None]
        x *= self.weight
        x += self.bias
        return x


class Layer(NamedTuple):
    """One layer; queries, keys and values are one matrix side by side."""

    attention: Dense
    mixed: Dense
    attended: Norm
    wide: Dense
    narrow: Dense
    done: Norm

    def __call__(self, x: Floats, away: Floats) -> Floats:
        """Map the rows of a batch; `away` is what each token's scores are lowered by."""
        x = self.attended(self.mixed(_attend(self.attention(x), away)) + x)
        return self.done(self.narrow(_gelu(self.wide(x))) + x)


class Bert:
    """An encoder that is held in memory."""

    def __init__(self, file: Path) -> None:
        """Read the weights of a `model.safetensors`."""
        weights = read(file)
        embedding = "embeddings.{}_embeddings.weight".format
        self.words = weights[embedding("word")]
        self.positions = weights[embedding("position")] + weights[embedding("token_type")][0]
        self.start = _norm(weights, "embeddings.LayerNorm")
        count = sum(name.endswith(".intermediate.dense.weight") for name in weights)
        self.layers = [_layer(weights, f"encoder.layer.{number}.") for number in range(count)]

    def __call__(self, ids: Numbers, mask: Numbers) -> Floats:
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


def unit(vectors: Floats) -> Floats:
    """Return vectors, one in each row, with a length of 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    divided: Floats = vectors / lengths
    return divided


def read(file: Path) -> dict[str, Floats]:
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


def _tensor(data: NDArray[np.uint8], entry: dict[str, list[int]]) -> Floats:
    first, last = entry["data_offsets"]
    return data[first:last].view("<f4").reshape(entry["shape"])


def _dense(weights: dict[str, Floats], *names: str) -> Dense:
    """Return linear maps side by side as one; they are stored `[out, in]`."""
    weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    bias = np.concatenate([weights[f"{name}.bias"] for name in names])
    return Dense(np.ascontiguousarray(weight.T), bias)


def _norm(weights: dict[str, Floats], name: str) -> Norm:
    return Norm(np.array(weights[f"{name}.weight"]), np.array(weights[f"{name}.bias"]))


def _layer(weights: dict[str, Floats], name: str) -> Layer:
    itself = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
    return Layer(
        attention=_dense(weights, *itself),
        mixed=_dense(weights, f"{name}attention.output.dense"),
        attended=_norm(weights, f"{name}attention.output.LayerNorm"),
        wide=_dense(weights, f"{name}intermediate.dense"),
        narrow=_dense(weights, f"{name}output.dense"),
        done=_norm(weights, f"{name}output.LayerNorm"),
    )


def _attend(x: Floats, away: Floats) -> Floats:
    """Mix the values of a batch's tokens by how well queries and keys agree."""
    texts, tokens = len(away), away.shape[-1]
    heads = x.shape[1] // 3 // HEAD
    split = x.reshape(texts, tokens, 3, heads, HEAD).transpose(2, 0, 3, 1, 4)
    query, key, value = np.ascontiguousarray(split)
    scores: Floats = query @ np.ascontiguousarray(key.swapaxes(2, 3))
    scores *= np.float32(HEAD**-0.5)
    scores += away
    scores -= scores.max(axis=3, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=3, keepdims=True)
    mixed: Floats = scores @ value
    return mixed.swapaxes(1, 2).reshape(texts * tokens, heads * HEAD)


def _gelu(x: Floats) -> Floats:
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


def _rest(z: Floats) -> Floats:
    """Return 1 - erf(z) for numbers from 0 up; `z` is spoilt."""
    t = z * _P
    t += 1
    np.reciprocal(t, out=t)
    rest: Floats = t * _A[0]
    for factor in _A[1:]:
        rest += factor
        rest *= t
    z *= z
    np.negative(z, out=z)
    rest *= np.exp(z, out=z)
    return rest
