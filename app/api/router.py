"""The routers of the API: each takes bodies up to a size."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.api.problem_answers import tell_problems

MAX_BODY_BYTES = 1_000_000
"""The largest body of a request, where a route does not say otherwise."""


def make_router(tag: str, prefix: str = "", route_class: type[APIRoute] = APIRoute) -> APIRouter:
    """Return a router for the routes of a noun.

    Args:
        tag: Under which the documentation lists them.
        prefix: What their paths begin with.
        route_class: What kind of routes they are.
    """
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=route_class,
        responses=tell_problems("token_missing"),
        max_body_size=MAX_BODY_BYTES,
    )
