"""Settings of an installation: `DOSSIER_*` variables, and `.env` in the home."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from annotated_types import Interval

from config import environment
from config.errors import ErrorCode, Problem, first_validation_error, read_messages
from config.resources import process_cached

if TYPE_CHECKING:
    from pydantic import TypeAdapter

ENV_PREFIX = "DOSSIER_"
"""What the variables begin with; the name of the setting follows."""

DAY = 86_400
"""The seconds of a day."""

Hosts = tuple[str, ...]
"""Host names, separated by commas."""

Names = tuple[str, ...]
"""Names of variables of the environment, separated by commas."""

Words = tuple[str, ...]
"""Texts of any kind, separated by commas."""

Origins = tuple[str, ...]
"""Origins of web pages, such as `https://chat.example.org`, separated by commas."""

OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
"""The characters of host names."""

LOGIN_MODES = ("person", "users", "jwt")
"""The ways to log in at a server that come with Dossier; any other is a class of the operator."""

USUAL_PORTS = {"http": 80, "https": 443}
"""The default ports, which an origin omits."""


def _in_home(name: str) -> cached_property[Path]:
    return cached_property(lambda settings: settings.home / name)


@dataclass(frozen=True)
class Settings:
    """Settings of this installation; a run's own choices are in `graph.context.Context`.

    Pydantic checks those with bounds, if any is set: a short command takes a fifth longer with it.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"allow_inf_nan": False}

    home: Path = field(default_factory=environment.home_folder)
    """Where everything that is kept lies."""
    database_url: str = ""
    """The one database; an SQLite file in the home folder when empty."""
    database_connections: Annotated[int, Interval(ge=2, le=10_000)] = 10
    """How many connections to PostgreSQL a process opens at most."""
    lease_seconds: Annotated[float, Interval(ge=1, le=3_600)] = 30
    """How long a process that is gone keeps its threads from others, on PostgreSQL."""
    files_url: str = ""
    """Where reports, uploads and copies of tables are kept, if not in the home folder."""
    models: Path | None = None
    """A `models.toml` that is read instead of the one that ships."""
    knowledge: Path | None = None
    """A file of knowledge bases for everybody; `knowledge.toml` in the home folder when empty."""
    embeddings: str = ""
    """What makes vectors of pages (`models.embeddings.load_embedder`); the usual when empty."""
    chroma_url: str = ""
    """A Chroma server that holds large vector indexes; a folder of the home when empty."""
    user: str = "local"
    """Who asks, where no server says who it is."""
    memory_edits: Literal["ask", "allow"] = "ask"
    """Whether what an agent writes into a memory file waits for a person, or is done at once."""
    second_reader: bool = True
    """Whether a model compares reports with their sources; where it is off, no run has it."""
    private_queries: bool = False
    """Whether web searches may contain words from files and memory, whatever a run chooses."""
    sandbox: Literal["auto", "docker", "bubblewrap", "off"] = "auto"
    """What runs code that a model has written; the best one that works when it is `auto`."""
    sandbox_image: str = "dossier-sandbox"
    """The image that Docker runs such code in."""
    sandbox_seconds: Annotated[float, Interval(gt=0, le=DAY)] = 30
    """How long such code may run."""
    sandbox_memory: Annotated[int, Interval(ge=64, le=1_000_000)] = 1_024
    """How many MiB such code may use, with all its processes and files."""
    allow_private_fetch: bool = False
    """Let pages be fetched from private addresses; for tests and closed networks."""
    robots: bool = True
    """Whether pages that robots.txt closes to programs are left unread."""
    keyless_search: bool = True
    """Whether the web may be searched with providers that need neither a key nor a server."""
    reader_browser: str = ""
    """A Chromium that renders pages made by scripts: its path, or `chromium` to look for one."""
    reader_url: str = ""
    """A service that renders such pages; `{url}` in it, or its end, stands for the page."""
    fetch_hours: Annotated[float, Interval(ge=0, le=100_000)] = 24
    """How long a web page that was read serves other threads before it is fetched again."""
    connect_seconds: Annotated[float, Interval(gt=0, le=DAY)] = 10
    """How long a model server may take to accept a connection."""
    idle_seconds: Annotated[float, Interval(gt=0, le=DAY)] = 60
    """How long a model may be silent before its first word and between two words."""
    call_seconds: Annotated[float, Interval(gt=0, le=DAY)] = 300
    """How long one model call may take in all."""
    retry_seconds: Annotated[float, Interval(ge=0, le=DAY)] = 1
    """The first wait before a failed model call is made again; it doubles from there."""
    fact_similarity: Annotated[float, Interval(ge=0, le=1)] = 0.6
    """How much it counts that a fact is like what is talked about."""
    fact_confidence: Annotated[float, Interval(ge=0, le=1)] = 0.4
    """How much it counts how sure a fact is."""
    learn_seconds: Annotated[float, Interval(ge=0, le=366 * DAY)] = 30
    """How long a thread must be quiet before what was said in it is read by another run."""
    memory_tokens: Annotated[int, Interval(ge=500, le=1_000_000)] = 3_000
    """How many tokens of what is remembered a model call is told, and has left free for that."""
    context_tokens: Annotated[int, Interval(ge=4_000, le=100_000_000)] = 128_000
    """How many tokens a model can read of which neither LangChain nor its server says it."""
    reading_tokens: Annotated[int, Interval(ge=2_000, le=10_000_000)] = 40_000
    """How many tokens of sources a researcher is shown at once, as far as its model reads them."""
    keep_messages: Annotated[int, Interval(ge=2, le=1_000_000)] = 100
    """How many messages of a thread the model sees."""
    mcp_env: Names = ()
    """The variables that an `mcp.json` may use as `${NAME}`, separated by commas."""
    server_hosts: Hosts = ()
    """More names under which a server is reached; those of this machine are always accepted."""
    server_origins: Origins = ()
    """The origins of web pages that may use a server; LangGraph Studio when empty."""
    upload_bytes: Annotated[int, Interval(ge=1, le=100_000_000_000)] = 30_000_000
    """The most bytes of a file that is uploaded; larger ones are not read either."""
    upload_quota: Annotated[int, Interval(ge=1, le=100_000_000_000_000)] = 2_000_000_000
    """The most bytes that the uploaded files of a user may have together."""
    metrics_token: str = ""
    """A token with which figures of everybody's runs can be read; only operators when empty."""
    smtp_url: str = ""
    """The mail server of notices: `smtp://USER:PASSWORD@HOST` (STARTTLS), or `smtps://`."""
    smtp_from: str = ""
    """Who notices by mail are from, such as `dossier@example.org`."""
    webhook_secret: str = ""
    """What signs notices to webhooks, as Standard Webhooks does; unsigned when empty."""
    private_webhooks: bool = False
    """Whether webhooks of watches may be at private addresses."""
    server_token_always: bool = False
    """Whether pages of those origins need the token on this machine too, as behind a proxy."""
    auth: str = "person"
    """Who uses a server: `person`, `users`, `jwt` or a class, as `module:Class`."""
    jwt_issuer: str = ""
    """Who issues the tokens that `jwt` accepts: their `iss`."""
    jwt_audience: Words = ()
    """For whom they are issued: their `aud` is one of these."""
    jwt_keys_url: str = ""
    """The address of the issuer's public keys (JWKS); `https:`, or `http:` on this machine."""
    jwt_algorithms: Words = ("RS256", "ES256")
    """The algorithms by which they may be signed; none with a shared secret."""
    jwt_name_claim: str = "sub"
    """The claim that names the user; it must never change, nor pass on to someone else."""
    jwt_role_claim: str = "roles"
    """The claim with the roles of the user; full stops lead into it, as in `realm_access.roles`."""
    jwt_operator_role: str = ""
    """The role in it that makes an operator; nobody is one when empty."""
    jwt_leeway_seconds: Annotated[float, Interval(ge=0, le=3_600)] = 30
    """How far the clocks of this machine and the issuer may differ."""
    caller_models: Words = ()
    """The models that users may choose, as `provider:name` or `provider:*`, besides your own."""
    caller_search: Words = ()
    """The search providers that users may choose besides those that runs ask anyway."""
    caller_mcp: Words = ()
    """The MCP servers of your `mcp.json` that runs of users are offered; none when empty."""
    caller_folders: Words = ()
    """The folders of this machine in which users may choose files; none when empty."""
    caller_webhooks: Hosts = ()
    """The hosts that users may have told when a run ends; none when empty."""
    retention_days: Annotated[float, Interval(gt=0, le=100_000)] | None = None
    """After how many days without a run a server prunes a conversation; never when empty."""
    retention_keep_last: Annotated[int, Interval(ge=0, le=1_000_000)] = 0
    """How many conversations of each user it keeps however old they are, the newest ones."""
    caller_mail: Hosts = ()
    """The domains whose addresses watches of users may send mail to; none when empty."""
    caller_watches: Annotated[int, Interval(ge=0, le=10_000)] = 20
    """How many watches a user may have; none may be due more often than once an hour."""
    caller_max_cost: Annotated[float, Interval(gt=0, le=1_000)] | None = None
    """The most US dollars that a user may choose for a run; what `deep` allows when empty."""
    caller_max_cost_month: Annotated[float, Interval(ge=0, le=1_000_000)] | None = None
    """The most US dollars that the runs of a user may cost in a month; no bound when empty."""
    caller_max_tokens: Annotated[int, Interval(ge=1_000, le=50_000_000)] | None = None
    """The most tokens that a user may choose for a run; what `deep` allows when empty."""
    caller_max_calls: Annotated[int, Interval(ge=1, le=10_000)] | None = None
    """The most calls that a user may choose for a run; what `deep` allows when empty."""
    caller_max_minutes: Annotated[float, Interval(gt=0, le=1_440)] | None = None
    """The most minutes that a user may choose for a run; what `deep` allows when empty."""

    @property
    def has_users(self) -> bool:
        """Whether a server has users who log in, and not one person alone."""
        return self.auth != "person"

    @cached_property
    def database(self) -> str:
        """Return the URL of the database."""
        return self.database_url or f"sqlite:///{self.home / 'dossier.db'}"

    @property
    def checkpoint_connections(self) -> int:
        """Return how many of the connections are for checkpoints."""
        return max(1, self.database_connections * 2 // 5)

    checkpoints = _in_home("checkpoints.db")
    """The file that holds the checkpoints of all threads."""
    traces = _in_home("traces")
    """The folder with one JSON Lines trace per run."""
    vectors = _in_home("vectors")
    """The folder with one folder for each large set of vectors."""
    locks = _in_home("locks")
    """The folder with one lock file per running thread."""


@process_cached
def settings() -> Settings:
    """Read the settings once.

    Raises:
        Problem: `config_value`, naming the variable that cannot be used, or `config_syntax`.
    """
    # Keys and the names of models are read from the environment where they are used.
    environment.load_home_env()
    given = _given()
    read: dict[str, Any] = {name: _read(name, given.pop(name)) for name in READERS if name in given}
    checked = _checked(read | given) if given else Settings(**read)
    if checked.fact_similarity == checked.fact_confidence == 0:
        raise _unfit("fact_confidence", "it and DOSSIER_FACT_SIMILARITY are both 0")
    return checked


def _given() -> dict[str, str]:
    """Return the settings that the environment names, in capitals or not; an empty one is none."""
    named = {name.upper(): value for name, value in os.environ.items() if value}
    variables = {one.name: f"{ENV_PREFIX}{one.name.upper()}" for one in fields(Settings)}
    return {name: named[variable] for name, variable in variables.items() if variable in named}


def _read(name: str, text: str) -> Any:
    kind, read = READERS[name]
    try:
        return read(text)
    except (ValueError, KeyError) as error:
        raise _unfit(name, read_messages("types")[kind]) from error


def _checked(given: Mapping[str, Any]) -> Settings:
    """Return settings of which each has its type and is within its bounds.

    Raises:
        Problem: `config_value`.
    """
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        return _adapter().validate_python(given)
    except ValidationError as error:
        raise _unfit(*first_validation_error(error)) from error


@cache
def _adapter() -> TypeAdapter[Settings]:
    """Make what checks settings; that takes longer than reading them."""
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(Settings)


def _hosts(text: str) -> Hosts:
    names = tuple(one.strip().lower() for one in text.split(",") if one.strip())
    if any(set(name) - OF_HOSTS for name in names):
        raise ValueError(text)
    return names


def _words(text: str) -> Words:
    return tuple(one.strip() for one in _text(text).split(",") if one.strip())


def _names(text: str) -> Names:
    names = tuple(one.strip() for one in text.split(",") if one.strip())
    if any(not (name.isidentifier() and name.isascii()) for name in names):
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


def _auth(text: str) -> str:
    """Read how users log in: a known way, or a class by its module."""
    module, colon, name = text.strip().partition(":")
    is_class = all(part.isidentifier() for part in [*module.split("."), name])
    if text.strip() not in LOGIN_MODES and not (colon and is_class):
        raise ValueError(text)
    return text.strip()


def _text(text: str) -> str:
    text.encode()  # Python marks a byte that is no UTF-8 as half a character.
    return text


def _path(text: str) -> Path:
    return environment.expand_path(_text(text))


READERS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "home": ("path", _path),
    "models": ("path", _path),
    "knowledge": ("path", _path),
    **dict.fromkeys(
        (
            *("database_url", "files_url", "embeddings", "chroma_url", "user", "sandbox_image"),
            *("reader_browser", "reader_url", "jwt_issuer", "jwt_keys_url"),
            *("jwt_name_claim", "jwt_role_claim", "jwt_operator_role", "metrics_token"),
            *("smtp_url", "smtp_from", "webhook_secret"),
        ),
        ("str", _text),
    ),
    "auth": ("auth", _auth),
    **dict.fromkeys(
        ("jwt_audience", "jwt_algorithms", "caller_models", "caller_search"), ("words", _words)
    ),
    **dict.fromkeys(("caller_mcp", "caller_folders"), ("words", _words)),
    **dict.fromkeys(("caller_webhooks", "caller_mail"), ("hosts", _hosts)),
    "mcp_env": ("names", _names),
    "server_hosts": ("hosts", _hosts),
    "server_origins": ("origins", _origins),
}
"""The settings that are read here, each by its kind in `messages.toml` and a function."""


def _unfit(name: str, what: str) -> Problem:
    where = f"{ENV_PREFIX}{name.upper()}"
    return Problem(ErrorCode.CONFIG_VALUE, what, where=where, hint="see .env.example")
