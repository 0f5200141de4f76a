"""What the operator of an installation sets, from `DOSSIER_*` variables and `.env`."""

from __future__ import annotations

import os
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator

from config import environment
from config.errors import Problem
from config.validation import first_error

PREFIX = "DOSSIER_"
"""What the variables begin with; the name of the setting follows."""


class Settings(BaseModel):
    """Settings of this installation; a run's own choices are in `graph.context.Context`."""

    home: Path = Field(default_factory=lambda: Path.home() / ".dossier")
    """Where everything that is kept lies."""
    database_url: str = ""
    """The one database; an SQLite file in the home folder when empty."""
    models: Path | None = None
    """A `models.toml` that is read instead of the one that ships."""
    embeddings: str = ""
    """What makes vectors of pages (`models.embeddings.embedder`); the usual when empty."""
    chroma_url: str = ""
    """A Chroma server that holds large vector indexes; a folder of the home when empty."""
    user: str = "local"
    """Who asks, where no server says who it is."""
    memory_edits: Literal["ask", "allow"] = "ask"
    """Whether what an agent writes into a memory file waits for a person, or is done at once."""
    second_reader: bool = True
    """Whether a model compares reports with their sources; where it is off, no run has it."""
    allow_private_fetch: bool = False
    """Let pages be fetched from private addresses; for tests and closed networks."""
    fetch_hours: float = Field(default=24, ge=0)
    """How long a web page that was read serves other threads before it is fetched again."""
    connect_seconds: float = Field(default=10, gt=0)
    """How long a model server may take to accept a connection."""
    idle_seconds: float = Field(default=60, gt=0)
    """How long a model may be silent before its first word and between two words."""
    call_seconds: float = Field(default=300, gt=0)
    """How long one model call may take in all."""
    retry_seconds: float = Field(default=1, ge=0)
    """The first wait before a failed model call is made again; it doubles from there."""
    fact_similarity: float = Field(default=0.6, ge=0, le=1, allow_inf_nan=False)
    """How much it counts that a fact is like what is talked about."""
    fact_confidence: float = Field(default=0.4, ge=0, le=1, allow_inf_nan=False)
    """How much it counts how sure a fact is."""
    learn_seconds: float = Field(default=30, ge=0)
    """How long a thread must be quiet before what was said in it is read by another run."""
    context_tokens: int = Field(default=32_000, ge=4_000)
    """How many tokens a model can read of which LangChain does not know it."""
    keep_messages: int = Field(default=100, ge=2)
    """How many messages of a thread the model sees."""

    @field_validator("fact_confidence")
    @classmethod
    def _weigh(cls, confidence: float, others: ValidationInfo) -> float:
        if confidence == 0 == others.data.get("fact_similarity"):
            msg = "it and DOSSIER_FACT_SIMILARITY are both 0"
            raise ValueError(msg)
        return confidence

    @field_validator("home")
    @classmethod
    def _expand(cls, home: Path) -> Path:
        return home.expanduser()

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
    def locks(self) -> Path:
        """Return the folder with one lock file per running thread."""
        return self.home / "locks"


ENV_HINT = "write NAME=value on each line, as .env.example does, or remove it"


@cache
def settings() -> Settings:
    """Read the settings once.

    Raises:
        Problem: `config_value`, naming the variable that cannot be used, or `config_syntax`.
    """
    try:
        # Keys and the names of models are read from the environment by those that use them.
        environment.take_over()
        return Settings.model_validate(_given())
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise Problem("config_syntax", what, where=".env", hint=ENV_HINT) from error
    except ValidationError as error:
        place, what = first_error(error)
        name = f"{PREFIX}{place.replace('.', '_').upper()}"
        raise Problem("config_value", what, where=name, hint="see .env.example") from error
    except ValueError as error:  # It is not UTF-8, or has a zero in it.
        what = "the file is not plain text in UTF-8"
        raise Problem("config_syntax", what, where=".env", hint=ENV_HINT) from error


def _given() -> dict[str, str]:
    """Return the settings that the environment names, in capitals or not; an empty one is none."""
    names = {name.upper(): value for name, value in os.environ.items() if value}
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in names.items()
        if name.startswith(PREFIX)
    }
