"""What the fault tests share."""

from collections.abc import Iterator

import pytest

from evals.openai_server import Server


@pytest.fixture
def openai_server() -> Iterator[Server]:
    """An OpenAI-compatible server that echoes until it gets rules."""
    with Server() as server:
        yield server
