"""Load the settings in the home's `.env`, and list those in a folder's `.env`.

Only the file in the home is trusted. A folder may be anybody's, and settings in its `.env` could
send prompts and keys to a stranger.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from config.errors import ErrorCode, Problem

ENV_FILE_NAME = ".env"

HOME_VARIABLE = "DOSSIER_HOME"
"""The variable that names the home; read from the environment only."""

ENV_FILE_HINT = "write NAME=value on each line, as .env.example does, or remove it"

LARGEST = 65_536
"""The largest size of a settings file, in bytes."""

TRACING_VARIABLES = (
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING_V2",
    "LANGSMITH_TRACING",
    "LANGCHAIN_TRACING",
)
"""The variables that switch LangSmith's tracing on or off, in LangSmith's order."""

TRACE_EXPORTER = "OTEL_TRACES_EXPORTER"
"""The variable that names exporters of OpenTelemetry, or `none`."""

SPAN_VARIABLES = (
    TRACE_EXPORTER,
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)
"""The variables each of which has spans of OpenTelemetry sent; a later one says better where."""

METRIC_VARIABLES = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_METRICS_EXPORTER")
"""The variables each of which has metrics of OpenTelemetry sent where spans are."""

HARMLESS_VARIABLES = frozenset(
    {
        "DOSSIER_CALL_SECONDS",
        "DOSSIER_CONNECT_SECONDS",
        "DOSSIER_CONTEXT_TOKENS",
        "DOSSIER_FETCH_HOURS",
        "DOSSIER_IDLE_SECONDS",
        "DOSSIER_KEEP_MESSAGES",
        "DOSSIER_RETRY_SECONDS",
    }
)
"""What a trusted folder's `.env` may set: limits of one run.

None of them is an address for data or a permission, or changes what is learned about the person or
which facts a model gets.
"""

PATH_VARIABLES = frozenset(
    {HOME_VARIABLE, "DOSSIER_MODELS", "TIKTOKEN_CACHE_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)
"""The variables that name a file or a folder."""

MINILM = "minilm:"
"""The prefix of the name of an embedder in a folder."""

_USED = (
    r"(?:DOSSIER|LANGSMITH|LANGCHAIN|OTEL)_\w{1,60}|SEARXNG_URL|(?:TIKTOKEN|DATA_GYM)_CACHE_DIR"
    r"|(?:SERPER|EXA|OPENALEX|S2|NCBI)_API_KEY|GITHUB_TOKEN|STACKEXCHANGE_KEY"
    r"|(?:OPENAI|ANTHROPIC|GOOGLE|GEMINI|DEEPSEEK|MISTRAL|GROQ|XAI|TAVILY|BRAVE)"
    r"_(?:API_KEY|API_BASE|BASE_URL|API_URL|ORG_ID|PROXY)"
    r"|(?:HTTPS?|ALL)_PROXY|SSL_CERT_(?:FILE|DIR)"
)


def home_folder() -> Path:
    """Return the folder with all data and the person's settings.

    Raises:
        Problem: `config_value` when it is below a home folder that is unknown.
    """
    return expand_path(_upper(os.environ).get(HOME_VARIABLE) or "~/.dossier")


def expand_path(path: str) -> Path:
    """Return a path with `~` or `~name` replaced by a person's home folder.

    Raises:
        Problem: `config_value` when that folder is unknown.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        hint = f"give the whole path, or set {HOME_VARIABLE} to a folder that you may write to"
        what = "the home folder of this user is unknown"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where=path, hint=hint) from error


def home_env_file() -> Path:
    """Return the file with the person's own settings."""
    return home_folder() / ENV_FILE_NAME


def load_home_env() -> None:
    """Add the settings of the person's own file to the environment, without replacing any.

    Its tracing variables count only if the environment has none.

    Raises:
        Problem: `config_syntax` when the file cannot be read, `config_value` when it sets a home.
    """
    there = {name.upper() for name in os.environ}
    if any(os.environ.get(name) for name in TRACING_VARIABLES):
        there.update(TRACING_VARIABLES)
    values = _read_home_env()
    home = values.pop(HOME_VARIABLE, None)
    if home is not None and expand_path(home) != home_folder():
        hint = f"set it in the environment (export {HOME_VARIABLE}={home}), and remove the line"
        what, where = "the settings file in the home cannot name another home", str(home_env_file())
        raise Problem(ErrorCode.CONFIG_VALUE, what, where=where, hint=hint)
    for name, value in values.items():
        if name not in there:
            os.environ[name] = resolve_env_value(name, value, home_folder())


def _read_home_env() -> dict[str, str]:
    """Return the settings in the person's own file.

    Raises:
        Problem: `config_syntax`.
    """
    file = home_env_file()
    try:
        return read_env_file(file, interpolate=True)
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        hint = f"give yourself read permission, or set {HOME_VARIABLE} to a folder of your own"
        raise Problem(ErrorCode.CONFIG_SYNTAX, what, where=str(file), hint=hint) from error
    except ValueError as error:
        what = "the file is not plain text in UTF-8"
        raise Problem(ErrorCode.CONFIG_SYNTAX, what, where=str(file), hint=ENV_FILE_HINT) from error


def append_home_env(values: Mapping[str, str]) -> None:
    """Add settings to the person's own file, which only they can read.

    Raises:
        OSError: When it cannot be written.
    """
    file = home_env_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [f"{name}={_quoted(value)}\n" for name, value in values.items()]
    with open(file, "a+b", opener=lambda path, flags: os.open(path, flags, 0o600)) as opened:
        os.fchmod(opened.fileno(), 0o600)
        torn = opened.tell() > 0 and opened.seek(-1, os.SEEK_END) and opened.read(1) != b"\n"
        opened.write(("\n" * bool(torn) + "".join(lines)).encode())


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def normalize_tracing() -> None:
    """Turn tracing off unless every tracing variable that is set says `true`.

    LangChain reads four variables in its own order, and raises an error for some combinations.
    """
    if is_tracing_enabled():
        return
    os.environ.update(dict.fromkeys(("LANGSMITH_TRACING_V2", "LANGSMITH_TRACING"), "false"))
    for name in ("LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_HANDLER"):
        os.environ.pop(name, None)
    # LangSmith caches what it has read.
    if utils := sys.modules.get("langsmith.utils"):
        utils.get_env_var.cache_clear()


def is_tracing_enabled() -> bool:
    """Say whether the environment turns on tracing."""
    values = {os.environ.get(name, "").strip() for name in TRACING_VARIABLES} - {""}
    return values == {"true"}


def is_span_export_enabled() -> bool:
    """Say whether the environment names a collector of OpenTelemetry for spans."""
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    no_exporter = os.environ.get(TRACE_EXPORTER, "").strip() == "none"
    return not off and not no_exporter and is_any_set(SPAN_VARIABLES)


def is_any_set(names: Iterable[str]) -> bool:
    """Say whether the environment has a value for one of some variables."""
    return any(os.environ.get(name, "").strip() for name in names)


def read_folder_env() -> dict[str, str]:
    """Return the settings in the current folder's `.env` that Dossier uses and that would change.

    The person's own file, and one that cannot be read, count as empty.
    """
    file = Path(ENV_FILE_NAME)
    try:
        if file.resolve() == home_env_file().resolve():
            return {}
        found = read_env_file(file)
    except (OSError, ValueError, RuntimeError):
        return {}
    current = {**_upper(os.environ), HOME_VARIABLE: str(home_folder())}
    values = {name: resolve_env_value(name, value, file.parent) for name, value in found.items()}
    return {
        name: value
        for name, value in values.items()
        if is_known_variable(name) and current.get(name) != value
    }


def resolve_env_value(name: str, value: str, folder: Path) -> str:
    """Return the value of a variable, with a relative path in it resolved from a folder."""
    if name in PATH_VARIABLES:
        return str(folder.absolute() / expand_path(value))
    if name == "DOSSIER_EMBEDDINGS" and value.startswith(MINILM):
        return f"{MINILM}{folder.absolute() / expand_path(value.removeprefix(MINILM))}"
    begin, _, path = value.partition(":///")
    if name == "DOSSIER_DATABASE_URL" and begin == "sqlite" and path not in ("", ":memory:"):
        return f"{begin}:///{folder.absolute() / path}"
    return value


def is_known_variable(name: str) -> bool:
    """Say whether Dossier, or a library that it sends data with, reads a variable."""
    return re.fullmatch(_USED, name, re.ASCII) is not None


def read_env_file(file: Path, *, interpolate: bool = False) -> dict[str, str]:
    """Return the settings in a file, by names in capitals; none without a file.

    Args:
        file: The file.
        interpolate: Whether to replace `${NAME}` by the variable of that name.

    Raises:
        OSError: When the file cannot be read.
        ValueError: When it is too large, not plain text in UTF-8, or contains a NUL.
    """
    try:
        # Opening a named pipe would block.
        if not stat.S_ISREG(file.stat().st_mode):
            return {}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    with file.open("rb") as opened:
        data = opened.read(LARGEST + 1)
    text = data.decode()
    if len(data) > LARGEST or "\0" in text:
        raise ValueError(file)
    # Few homes have the file, and the library takes a while to load.
    from dotenv import dotenv_values  # noqa: PLC0415

    return _upper(dotenv_values(stream=io.StringIO(text), interpolate=interpolate))


def _upper(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name.upper(): value for name, value in values.items() if value}
