"""The table of models that an operator edits: which model plays which role, and what each costs."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.errors import ErrorCode, Problem, first_validation_error
from config.resources import process_cached
from config.settings import settings
from config.user_files import read_user_file

MODEL_ROLES = (
    "coordinator",
    "rewriter",
    "planner",
    "researcher",
    "coder",
    "reflector",
    "judge",
    "reporter",
    "checker",
    "recall",
    "memorizer",
)
"""Everyone who may ask a model something."""

API_KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google_genai": "GOOGLE_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "xai": "XAI_API_KEY",
}
"""The variable that holds the key of a provider, for the providers that need one."""

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars for a million tokens."""


class ModelTable(BaseModel):
    """What `models.toml` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: str
    fallback: str = ""
    roles: dict[str, str] = {}
    prices: dict[str, tuple[Price, Price]] = {}


def load_model_table() -> ModelTable:
    """Return the table of models: the operator's, or the one that ships.

    Raises:
        Problem: `config_not_found`, `config_syntax` or `config_value`, with the place.
    """
    return _read_model_table(settings().models)


def is_extractive(name: str) -> bool:
    """Say whether a model is the built-in one, which only quotes and costs nothing."""
    return name.startswith("extractive:")


def token_prices(name: str) -> tuple[float, float]:
    """Return the cost of a token read and of one written; 0 without a price."""
    read, written = load_model_table().prices.get(name, (0.0, 0.0))
    return read / 1_000_000, written / 1_000_000


def call_price(name: str, tokens_in: int, tokens_out: int) -> float:
    """Return what a call costs in US dollars; 0 for a model without a price."""
    read, written = token_prices(name)
    return tokens_in * read + tokens_out * written


@process_cached
def _read_model_table(file: Path | None) -> ModelTable:
    name = str(file or "config/models.toml")
    try:
        shipped = resources.files("config") / "models.toml"
        text = read_user_file(file, "utf-8") if file else shipped.read_text("utf-8")
        models = ModelTable.model_validate(tomllib.loads(text))
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        what = "there is no such file" if missing else f"it cannot be read: {error.strerror}"
        raise Problem(ErrorCode.CONFIG_NOT_FOUND, what, where=name) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(ErrorCode.CONFIG_SYNTAX, str(error), where=name) from error
    except ValidationError as error:
        place, what = first_validation_error(error)
        hint = "see config/models.toml of the program for every field"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where=f"{name}: {place}", hint=hint) from error
    check_model_roles(models.roles)
    return models


def check_model_roles(roles: dict[str, str]) -> None:
    """Refuse a role that nobody plays.

    Raises:
        Problem: `unknown_role` with the list of roles.
    """
    for role in roles:
        if role not in (*MODEL_ROLES, "default"):
            hint = f"one of {', '.join(MODEL_ROLES)}, default"
            raise Problem(ErrorCode.UNKNOWN_ROLE, f"there is no role {role!r}", hint=hint)
