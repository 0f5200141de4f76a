"""How many tokens a model can read, as far as a refusal of its server tells."""

from __future__ import annotations

import pytest

from calls.context_window import input_window, learn_window
from config.errors import ErrorCode, Problem
from tests.fake_model import FakeModel, Script

VLLM = (
    "This model's maximum context length is 32768 tokens. However, you requested 41000 tokens "
    "in the messages."
)


def refused(hint: str, sent: int, code: ErrorCode = ErrorCode.MODEL_CONTEXT) -> int:
    """Return what a model can read after its server refused a request."""
    model = FakeModel(script=Script())
    learn_window(model, Problem(code, "the request is too long for the model", hint=hint), sent)
    return input_window(model)


@pytest.mark.parametrize(
    ("hint", "sent", "window"),
    [
        (VLLM, 41_000, 32_768),
        ("request (41,000 tokens) exceeds the available context size (16,384)", 41_000, 16_384),
        ("context_length_exceeded", 50_000, 35_000),
        ("maximum context length is 65536 tokens", 50_000, 35_000),
        ("context_length_exceeded", 3_000, 4_000),
    ],
)
def test_a_refusal_tells_the_window(hint: str, sent: int, window: int):
    assert refused(hint, sent) == max(window - 5_000, window // 2)


def test_of_several_refusals_the_smallest_counts():
    refused(VLLM, 41_000)

    assert refused("context_length_exceeded", 20_000) == 14_000 - 5_000
    assert refused(VLLM, 41_000) == 14_000 - 5_000


def test_other_refusals_tell_nothing():
    before = input_window(FakeModel(script=Script()))

    assert refused(VLLM, 41_000, ErrorCode.MODEL_REJECTED) == before
