"""What the tests of the command share: a quick way to run it, and a folder to run it in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from evals.openai_server import Server as ModelServer
from tests.collector import Collector, collecting
from tests.integration.command import WHO, Done, Forks, Place
from tests.integration.serving import Server, serving


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("place"))


@pytest.fixture
def wait(forks: Forks, place: Place) -> Callable[[str], Done]:
    """Ask in a thread of that name and stop at the plan."""
    way = ["--review", "--again", "new", "--json", "--set", "max_rounds=0", "--thread"]
    return lambda thread: forks.run(place, "ask", WHO, "--docs", "bees", *way, thread)


@pytest.fixture(scope="session")
def silent_model() -> Iterator[ModelServer]:
    """A model that never answers."""
    with ModelServer([{"hang": 600}]) as model:
        yield model


@pytest.fixture(scope="session")
def span_collector() -> Iterator[Collector]:
    """The collector of OpenTelemetry that the server tells of its runs."""
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, silent_model: ModelServer, span_collector: Collector
) -> Iterator[Server]:
    keys = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": silent_model.url}
    keys |= {"OTEL_EXPORTER_OTLP_ENDPOINT": span_collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    with serving(tmp_path_factory.mktemp("server"), **keys) as server:
        yield server


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Any]:
    sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")
    async with sdk.get_client(url=server.url, api_key=server.token) as client:
        yield client
