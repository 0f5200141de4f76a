"""Settings of an installation: `DOSSIER_*` variables, and `.env` in the home."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from config import environment
from config.errors import TYPE_MESSAGES, VALIDATION_MESSAGES, ErrorCode, Problem
from config.resources import process_cached

ENV_PREFIX = "DOSSIER_"
"""What the variables begin with; the name of the setting follows."""

BOOLS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)
"""How a setting is switched on and off, in small letters or capitals."""


DAY = 86_400
"""The seconds of a day."""

Hosts = tuple[str, ...]
"""Host names, separated by commas."""

Origins = tuple[str, ...]
"""Origins of web pages, such as `https://chat.example.org`, separated by commas."""

OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
"""The characters of host names."""

USUAL_PORTS = {"http": 80, "https": 443}
"""The default ports, which an origin omits."""


def _bound(default: float, **bounds: float) -> Any:
    """Return the field of a number with limits, each by its name in `BOUNDS`."""
    return field(default=default, metadata={"finite": True, **bounds})


@dataclass(frozen=True)
class Settings:
    """Settings of this installation; a run's own choices are in `graph.context.Context`.

    They are read without pydantic, which would take a fifth of the time of a short command to load.
    """

    home: Path = field(default_factory=environment.home_folder)
    """Where everything that is kept lies."""
    database_url: str = ""
    """The one database; an SQLite file in the home folder when empty."""
    models: Path | None = None
    """A `models.toml` that is read instead of the one that ships."""
    embeddings: str = ""
    """What makes vectors of pages (`models.embeddings.load_embedder`); the usual when empty."""
    chroma_url: str = ""
    """A Chroma server that holds large vector indexes; a folder of the home when empty."""
    user: str = "local"
    """Who asks, where no server says who it is."""
    memory_edits: Literal["ask", "allow"] = field(
        default="ask", metadata={"expected": ("ask", "allow")}
    )
    """Whether what an agent writes into a memory file waits for a person, or is done at once."""
    second_reader: bool = True
    """Whether a model compares reports with their sources; where it is off, no run has it."""
    private_queries: bool = False
    """Whether web searches may contain words from files and memory, whatever a run chooses."""
    allow_private_fetch: bool = False
    """Let pages be fetched from private addresses; for tests and closed networks."""
    fetch_hours: float = _bound(24, ge=0, le=100_000)
    """How long a web page that was read serves other threads before it is fetched again."""
    connect_seconds: float = _bound(10, gt=0, le=DAY)
    """How long a model server may take to accept a connection."""
    idle_seconds: float = _bound(60, gt=0, le=DAY)
    """How long a model may be silent before its first word and between two words."""
    call_seconds: float = _bound(300, gt=0, le=DAY)
    """How long one model call may take in all."""
    retry_seconds: float = _bound(1, ge=0, le=DAY)
    """The first wait before a failed model call is made again; it doubles from there."""
    fact_similarity: float = _bound(0.6, ge=0, le=1)
    """How much it counts that a fact is like what is talked about."""
    fact_confidence: float = _bound(0.4, ge=0, le=1)
    """How much it counts how sure a fact is."""
    learn_seconds: float = _bound(30, ge=0, le=366 * DAY)
    """How long a thread must be quiet before what was said in it is read by another run."""
    memory_tokens: int = _bound(3_000, ge=500, le=1_000_000)
    """How many tokens of what is remembered a model call is told, and has left free for that."""
    context_tokens: int = _bound(32_000, ge=4_000, le=100_000_000)
    """How many tokens a model can read of which LangChain does not know it."""
    keep_messages: int = _bound(100, ge=2, le=1_000_000)
    """How many messages of a thread the model sees."""
    server_hosts: Hosts = ()
    """More names under which a server is reached; those of this machine are always accepted."""
    server_origins: Origins = ()
    """The origins of web pages that may use a server; LangGraph Studio when empty."""
    server_token_always: bool = False
    """Whether pages of those origins need the token on this machine too, as behind a proxy."""

    @cached_property
    def database(self) -> str:
        """Return the URL of the database."""
        return self.database_url or f"sqlite:///{self.home / 'dossier.db'}"

    @cached_property
    def checkpoints(self) -> Path:
        """Return the file that holds the checkpoints of all threads."""
        return self.home / "checkpoints.db"

    @cached_property
    def traces(self) -> Path:
        """Return the folder with one JSON Lines trace per run."""
        return self.home / "traces"

    @cached_property
    def vectors(self) -> Path:
        """Return the folder with one folder for each large set of vectors."""
        return self.home / "vectors"

    @cached_property
    def reports(self) -> Path:
        """Return the folder with the reports of runs that no command has begun."""
        return self.home / "reports"

    @cached_property
    def locks(self) -> Path:
        """Return the folder with one lock file per running thread."""
        return self.home / "locks"


@process_cached
def settings() -> Settings:
    """Read the settings once.

    Raises:
        Problem: `config_value`, naming the variable that cannot be used, or `config_syntax`.
    """
    # Keys and the names of models are read from the environment where they are used.
    environment.load_home_env()
    given = _given()
    read = Settings(
        **{one.name: _read(one, given) for one in fields(Settings) if one.name in given}
    )
    if read.fact_similarity == read.fact_confidence == 0:
        raise _unfit("fact_confidence", "it and DOSSIER_FACT_SIMILARITY are both 0")
    return read


def _given() -> dict[str, str]:
    """Return the settings that the environment names, in capitals or not; an empty one is none."""
    names = {name.upper(): value for name, value in os.environ.items() if value}
    return {
        name.removeprefix(ENV_PREFIX).lower(): value
        for name, value in names.items()
        if name.startswith(ENV_PREFIX)
    }


def _read(one: Field[Any], given: Mapping[str, str]) -> Any:
    """Return the value of a setting as it is used.

    Raises:
        Problem: `config_value`.
    """
    sort = str(one.type).partition(" ")[0].lower()
    try:
        value = READ.get(sort, str)(given[one.name])
    except (ValueError, KeyError) as error:
        raise _unfit(one.name, TYPE_MESSAGES[sort]) from error
    for kind, words, fits in BOUNDS:
        if kind in one.metadata and not fits(value, one.metadata[kind]):
            expected = " or ".join(map(repr, one.metadata.get("expected", ())))
            raise _unfit(
                one.name,
                VALIDATION_MESSAGES[words].format(**{**one.metadata, "expected": expected}),
            )
    return value


def _whole(text: str) -> int:
    whole, _, zeros = text.partition(".")
    if zeros.strip("0"):
        raise ValueError(text)
    return int(whole)


def _hosts(text: str) -> Hosts:
    names = tuple(one.strip().lower() for one in text.split(",") if one.strip())
    if any(set(name) - OF_HOSTS for name in names):
        raise ValueError(text)
    return names


def _origins(text: str) -> Origins:
    """Read origins as browsers send them: in lower case, without a default port and a path."""
    return tuple(_origin(one.strip().lower()) for one in text.split(",") if one.strip())


def _origin(text: str) -> str:
    parts = urlsplit(text)
    usual = USUAL_PORTS[parts.scheme]
    if not parts.hostname or text not in (bare := f"{parts.scheme}://{parts.netloc}", f"{bare}/"):
        raise ValueError(text)
    if parts.username is not None or "*" in text:
        raise ValueError(text)
    return bare.removesuffix(f":{usual}") if parts.port == usual else bare


def _text(text: str) -> str:
    text.encode()  # Python marks a byte that is no UTF-8 as half a character.
    return text


READ: Mapping[str, Callable[[str], Any]] = {
    "str": _text,
    "path": lambda text: environment.expand_path(_text(text)),
    "bool": lambda text: BOOLS[text.lower()],
    "float": float,
    "int": _whole,
    "hosts": _hosts,
    "origins": _origins,
}
"""How a setting is read, by the sort of its value; others are taken as they are."""

BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("finite", "finite_number", lambda value, _: math.isfinite(value)),
    ("expected", "literal_error", lambda value, expected: value in expected),
    ("gt", "greater_than", lambda value, least: value > least),
    ("ge", "greater_than_equal", lambda value, least: value >= least),
    ("le", "less_than_equal", lambda value, most: value <= most),
)
"""What may be asked of a value, by its name in a field; how that is told; and whether it is so."""


def _unfit(name: str, what: str) -> Problem:
    where = f"{ENV_PREFIX}{name.upper()}"
    return Problem(ErrorCode.CONFIG_VALUE, what, where=where, hint="see .env.example")
