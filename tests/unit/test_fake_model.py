import pytest
from langchain_core.messages import HumanMessage

from models.chat_models import chat_model_providers
from nodes.coordinator import Triage
from tests.fake_model import Script, UnscriptedCall, scripted
from tests.model_calls import a_bee


async def test_a_call_that_is_not_scripted_fails_with_the_name_of_its_schema(
    monkeypatch: pytest.MonkeyPatch,
):
    caught = []
    try:
        with scripted(monkeypatch) as script:
            script.on("Triage", {"research": True})
            await a_bee()
    except UnscriptedCall as error:
        caught.append(str(error))

    assert caught
    assert caught[0].startswith("no rule answers Bee:")


def test_it_fails_the_test_even_where_a_node_survives_the_error(monkeypatch: pytest.MonkeyPatch):
    script = scripted(monkeypatch)
    script.__enter__()
    with pytest.raises(UnscriptedCall):
        chat_model_providers["fake"]("").invoke([HumanMessage("Write.")])

    with pytest.raises(UnscriptedCall, match="no rule answers reporter:"):
        script.__exit__(None, None, None)


async def test_what_is_left_to_the_extractive_model_is_answered_by_it(
    monkeypatch: pytest.MonkeyPatch,
):
    with scripted(monkeypatch, "Triage") as script:
        model = chat_model_providers["fake"]("").bind(
            response_format={
                "json_schema": {"name": "Triage", "schema": Triage.model_json_schema()}
            }
        )
        reply = Triage.model_validate_json(model.invoke([HumanMessage("Hello!")]).text)

    assert not reply.research
    assert script.names() == ["Triage"]


@pytest.mark.extractive("Bee")
async def test_a_marker_names_what_a_test_leaves_to_it(script: Script):
    assert (await a_bee()).queries == []
    assert script.names() == ["Bee"]
