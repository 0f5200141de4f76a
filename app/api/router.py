"""Make the routers of the API, each with a limit on request bodies."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.api.problem_answers import tell_problems

MAX_BODY_BYTES = 1_000_000
"""The largest request body, unless a route says otherwise."""


def make_router(
    tag: str,
    prefix: str = "",
    route_class: type[APIRoute] = APIRoute,
    *,
    most_bytes: int | None = MAX_BODY_BYTES,
) -> APIRouter:
    """Return a router for the routes of a noun.

    Args:
        tag: The heading in the documentation.
        prefix: The prefix of all paths.
        route_class: The class of the routes.
        most_bytes: The largest request body; `None` where routes stream bodies.
    """
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=route_class,
        responses=tell_problems("token_missing"),
        max_body_size=most_bytes,
    )
