"""The table of searches that a person or an operator edits: providers by topic, sites, hosts."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.errors import ErrorCode, Problem, first_validation_error
from config.resources import process_cached
from config.settings import settings
from config.user_files import read_user_file

SEARCH_FILE_NAME = "search.toml"

Topic = Literal["general", "academic", "encyclopedia", "news", "code", "data"]
"""What a query is about, as far as that says who is asked."""

TOPICS: tuple[Topic, ...] = get_args(Topic)

Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
"""How much something counts; 1 is usual."""

Seconds = Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]


class SiteTable(BaseModel):
    """Which sites may be read and what their pages are worth, by domain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    block: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    weights: dict[str, Weight] = {}


class HostTable(BaseModel):
    """How often one host is asked for pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_once: Annotated[int, Field(ge=1, le=1_000)] = 4
    per_second: Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)] = 3.0
    together: Annotated[int, Field(ge=1, le=10_000)] = 6
    crawl_delay: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)] = 3.0


class SearchTable(BaseModel):
    """What `search.toml` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    most_providers: Annotated[int, Field(ge=1, le=20)]
    most_of_topic: Annotated[int, Field(ge=0, le=20)]
    most_general: Annotated[int, Field(ge=0, le=20)]
    seconds: Seconds
    grace: Seconds
    general: tuple[str, ...]
    keyless: tuple[str, ...]
    topics: dict[Topic, tuple[str, ...]]
    weights: dict[str, Weight]
    rates: dict[str, Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)]]
    sites: SiteTable
    hosts: HostTable


def load_search_table() -> SearchTable:
    """Return the table of searches: what the home says, and the shipped one where it says nothing.

    Raises:
        Problem: `config_syntax` or `config_value`, with the place.
    """
    return _read_search_table(settings().home / SEARCH_FILE_NAME)


@process_cached
def _read_search_table(file: Path) -> SearchTable:
    shipped = tomllib.loads((resources.files("config") / SEARCH_FILE_NAME).read_text("utf-8"))
    try:
        own = tomllib.loads(read_user_file(file, "utf-8")) if file.exists() else {}
        return SearchTable.model_validate(_merge(shipped, own))
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem(ErrorCode.CONFIG_SYNTAX, what, where=str(file)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = "see config/search.toml of the program for the format"
        raise Problem(ErrorCode.CONFIG_SYNTAX, str(error), where=str(file), hint=hint) from error
    except ValidationError as error:
        place, what = first_validation_error(error)
        hint = "see config/search.toml of the program for every field"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where=f"{file}: {place}", hint=hint) from error


def _merge(shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the values of another in place of its own, table by table."""
    merged = dict(shipped)
    for name, value in own.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _merge(before, value)
        merged[name] = value
    return merged
