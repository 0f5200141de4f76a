"""Parameters that routes have in common: the caller, the owner, and names."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import AfterValidator, StringConstraints
from starlette.requests import Request

from app.auth.request_identity import find_user
from app.auth.user import User
from runs.call_site import join_owner
from text.normalization import drop_unstorable

MAX_NAME_CHARS = 80
"""The longest name of a run, a project or the like."""


def _check_storable(text: str) -> str:
    """Return a text if a database can store it.

    Raises:
        ValueError: If it has a character that no database can store, such as NUL.
    """
    if text != drop_unstorable(text):
        what = "it holds a character that cannot be stored"
        raise ValueError(what)
    return text


Storable = AfterValidator(_check_storable)
"""Refuses what no database can store: NUL, and half of a surrogate pair."""

Words = Annotated[str, StringConstraints(max_length=20_000), Storable]
"""A text that a person wrote."""

Name = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARS), Storable]

ProjectName = Annotated[
    Name, Query(description="The project whose things these are; none if it is empty.")
]

RunName = Annotated[
    Name, Path(description="The name of a run, or a thread, which stands for its newest run.")
]


async def _find_caller(request: Request) -> User:
    return find_user(request)


Caller = Annotated[User, Depends(_find_caller)]
"""Who sends the request."""


async def _find_owner(caller: Caller, project: ProjectName = "") -> str:
    return join_owner(caller.name, project)


Owner = Annotated[str, Depends(_find_owner)]
"""The owner whose data a request is about: its sender, in the project that it names."""
