"""The routers of the API: each takes bodies up to a size."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.api.problem_answers import tell_problems

MAX_BODY_BYTES = 1_000_000
"""The largest body of a request, where a route does not say otherwise."""


def make_router(
    tag: str,
    prefix: str = "",
    route_class: type[APIRoute] = APIRoute,
    *,
    most_bytes: int | None = MAX_BODY_BYTES,
) -> APIRouter:
    """Return a router for the routes of a noun.

    Args:
        tag: Under which the documentation lists them.
        prefix: What their paths begin with.
        route_class: What kind of routes they are.
        most_bytes: The largest body; `None` where routes read bodies as they come in.
    """
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=route_class,
        responses=tell_problems("token_missing"),
        max_body_size=most_bytes,
    )
