"""Embed texts with all-MiniLM-L6-v2, from files on this disk (`minilm_files.py`), without torch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.bert import Bert, Floats, Numbers, unit
from retrieval.cores import one_each

if TYPE_CHECKING:
    from tokenizers import Encoding

DIMENSION = 384
LONGEST = 256
"""How many tokens are read at once, as sentence-transformers does for this model."""

PARTS = 6
"""How many times as much is read of a page; its vector is the mean."""

TOKENS = 1024
"""About how many tokens are worked on at once by each thread; more do not stay in its cache."""

Encoder = Callable[[Numbers, Numbers], Floats]
"""Makes token numbers and their mask the hidden state `[texts, tokens, width]`."""


class MiniLM:
    """The model, held in memory."""

    def __init__(self, folder: Path) -> None:
        """Load `tokenizer.json`, and `model.onnx` or `model.safetensors`, of a folder."""
        # A search of a store without vectors of this model never needs the tokenizer.
        from tokenizers import Tokenizer  # noqa: PLC0415

        one_each()
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()
        onnx = folder / "model.onnx"
        self.encoder = _onnx(onnx) if onnx.is_file() else Bert(folder / "model.safetensors")

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, one row of length 1 for each, as float32."""
        return self._in_batches([each.ids for each in self._encoded(texts)])

    def pages(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of long texts, each the mean of those of its parts."""
        if not texts:
            return self.embed(texts)
        parts = [[each, *each.overflowing][:PARTS] for each in self._encoded(texts)]
        ids = [part.ids for some in parts for part in some]
        weights = np.array([[len(each)] for each in ids], np.float32)
        firsts = np.cumsum([0, *map(len, parts)])[:-1]
        return unit(np.add.reduceat(weights * self._in_batches(ids), firsts))

    def _encoded(self, texts: Sequence[str]) -> list[Encoding]:
        return self.tokenizer.encode_batch_fast(list(texts))

    def _in_batches(self, ids: Sequence[Sequence[int]]) -> Floats:
        if not ids:
            return np.empty((0, DIMENSION), np.float32)
        batches = list(_batches([len(each) for each in ids]))
        parts = _side_by_side(lambda rows: self._vectors([ids[row] for row in rows]), batches)
        sorted_ = np.concatenate(parts)
        vectors = np.empty_like(sorted_)
        vectors[np.concatenate(batches)] = sorted_
        return vectors

    def _vectors(self, ids: Sequence[Sequence[int]]) -> Floats:
        """Return the mean of each text's hidden states, with a length of 1."""
        shape = len(ids), max(map(len, ids))
        tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, each in enumerate(ids):
            tokens[row, : len(each)] = each
            mask[row, : len(each)] = 1
        return unit(np.einsum("ijk,ij->ik", self.encoder(tokens, mask), mask.astype(np.float32)))


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group texts of like length, the longest first, with about `TOKENS` tokens in each group."""
    rows = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(rows):
        end = start + max(1, TOKENS // lengths[rows[start]])
        yield rows[start:end]
        start = end


def _side_by_side(work: Callable[[list[int]], Floats], batches: list[list[int]]) -> list[Floats]:
    """Work on batches on all cores."""
    if len(batches) == 1:
        return [work(batches[0])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, batches))


def _onnx(file: Path) -> Encoder:
    # Loading this library takes a while, and only this file needs it.
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])
    return partial(_run, session)


def _run(session: object, ids: Numbers, mask: Numbers) -> Floats:
    named = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden: Floats = session.run(None, named)[0]  # type: ignore[attr-defined]
    return hidden
