"""The API fails over no request, and tells nobody what is another's, whatever it is sent."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.api.application import make_api
from app.cli.dispatch import Invocation
from app.problems import EXCEPTION_HANDLERS
from benchmarks.api_fuzz import (
    SECRET,
    FuzzedRequest,
    RequestMaker,
    find_api_fault,
    fuzz_routes,
    list_operations,
    prepare_things,
    send_request,
)
from config.settings import settings
from graph.context import Context
from runs.lifecycle import create_run

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_no_request_makes_the_server_fail_or_tell_what_is_anothers(seed: int):
    app = make_api()
    known = await prepare_things(app)
    run = await create_run(Invocation().owner, "t1", 1, "How do bees dance?", Context())
    maker = RequestMaker(list_operations(app.openapi()), {**known, "run": [run, "t1"]}, seed)

    statuses, faults = await fuzz_routes(app, maker, 150, (SECRET, str(settings().home)))

    assert not [(fault, request.describe()) for fault, request, _ in faults]
    assert {200, 404, 422} <= statuses.keys()


async def test_no_request_holds_up_the_event_loop():
    # The development server makes an error of what waits for a disk in the event loop.
    queue = pytest.importorskip("langgraph_runtime_inmem.queue")
    app = make_api()
    known = await prepare_things(app)
    maker = RequestMaker(list_operations(app.openapi()), known, 4)
    guard = queue._enable_blockbuster()
    try:
        _, faults = await fuzz_routes(app, maker, 200, ())
    finally:
        guard.deactivate()

    assert not [(fault, request.describe()) for fault, request, _ in faults]


async def test_a_route_that_fails_or_tells_too_much_is_noticed():
    app = FastAPI(exception_handlers=EXCEPTION_HANDLERS)

    @app.get("/things/{thing}")
    async def get_thing(thing: str) -> str:
        return {"a": SECRET}.get(thing) or str(int(thing))

    for thing, fault in (("x", "status 500"), ("a", "it tells what it may not"), ("7", "")):
        request = FuzzedRequest("GET", f"/things/{thing}", "", [], b"")
        assert find_api_fault(request, await send_request(app, request), [SECRET]) == fault
    unknown = FuzzedRequest("GET", "/nothing", "", [], b"")
    assert find_api_fault(unknown, await send_request(app, unknown), []) == ""
