import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from models.extractive.model import ExtractiveChatModel
from nodes.coordinator import Triage
from nodes.planner import Draft
from nodes.reflection import Verdict
from nodes.rewrite import Rewrite
from nodes.team import Enough
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks

QUESTION = render_block("question", "Why do bees dance?")
STEP = render_block("step", "Why do bees dance?", title="Why do bees dance?")
PAGES = wrap_blocks(
    "pages", [render_block("page", "Bees dance to tell where flowers are.", id="S1", title="Bees")]
)
FOUND = '- <q s="S1">Bees dance to tell where flowers are.</q>'
FINDING = render_block("finding", FOUND, id="s1", title="Why do bees dance?", status="ok")


class Unknown(BaseModel):
    number: int
    names: list[str]


@tool
def search(query: str) -> str:
    """Search."""
    return PAGES


def ask(*parts, model=None):
    return (model or ExtractiveChatModel()).invoke(
        [SystemMessage("Be kind."), HumanMessage(join_prompt_blocks(*parts))]
    )


def form(schema):
    named = {"name": schema.__name__, "schema": schema.model_json_schema(), "strict": False}
    return {"type": "json_schema", "json_schema": named}


@pytest.mark.parametrize(
    ("schema", "parts"),
    [
        (Rewrite, (QUESTION, render_block("count", "3"))),
        (Draft, (QUESTION, PAGES, render_block("limit", "4"))),
        (Verdict, (QUESTION, STEP, wrap_blocks("findings", [FINDING]), PAGES)),
        (Enough, (QUESTION, wrap_blocks("findings", [FINDING]))),
        (Unknown, (QUESTION,)),
    ],
)
def test_a_bound_schema_is_answered_in_its_form(schema, parts):
    reply = ask(*parts, model=ExtractiveChatModel().bind(response_format=form(schema), seed=1))

    assert schema.model_validate_json(reply.text)
    assert (
        reply.text
        == ask(*parts, model=ExtractiveChatModel().bind(response_format=form(schema))).text
    )


def test_small_talk_is_told_from_a_question():
    model = ExtractiveChatModel().bind(response_format=form(Triage))

    assert json.loads(model.invoke("Hello!").text)["research"] is False
    assert json.loads(model.invoke("What is HNSW?").text)["research"] is True


def test_a_follow_up_is_judged_in_its_conversation():
    model = ExtractiveChatModel().bind(response_format=form(Triage))
    said = [HumanMessage("Why do bees dance?"), AIMessage("To talk."), HumanMessage("why?")]

    assert json.loads(model.invoke(said).text)["research"] is True


def test_structured_output_gives_an_object():
    model = ExtractiveChatModel()

    assert model.with_structured_output(Triage).invoke("Hello!").research is False
    assert model.with_structured_output(Unknown).invoke("Hello!") == Unknown(number=0, names=[])
    assert model.with_structured_output(Triage.model_json_schema()).invoke("Hello!")["reply"]


def test_without_a_schema_a_step_gets_a_finding_and_a_question_a_report():
    assert ask(QUESTION, STEP, PAGES).text == FOUND
    assert ask(QUESTION, wrap_blocks("findings", [FINDING])).text.startswith(
        "The sources put it this way: <q"
    )
    assert ExtractiveChatModel().invoke("Hello!").text.startswith("Hello!")
    assert (
        ExtractiveChatModel().invoke("What is HNSW?").text
        == "No evidence was found for this question."
    )


def test_an_answer_says_how_it_ended_and_about_how_many_tokens_it_took():
    reply = ask(QUESTION, STEP, PAGES)

    ended = {"finish_reason": "stop", "model_name": "extractive"}
    assert reply.response_metadata == {**ended, "unsure": ""}
    assert ask(STEP, QUESTION).response_metadata == ended
    usage = reply.usage_metadata
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["input_tokens"] > usage["output_tokens"] > 0


async def test_it_can_be_asked_without_blocking():
    assert (
        await ExtractiveChatModel().ainvoke(join_prompt_blocks(QUESTION, STEP, PAGES))
    ).text == FOUND


async def test_an_answer_streams_in_words_and_ends_with_what_is_said_about_it():
    chunks = [
        chunk
        async for chunk in ExtractiveChatModel().astream(join_prompt_blocks(QUESTION, STEP, PAGES))
    ]

    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert len(chunks) > 8
    assert (
        whole.text
        == FOUND
        == "".join(
            c.text for c in ExtractiveChatModel().stream(join_prompt_blocks(QUESTION, STEP, PAGES))
        )
    )
    whole_reply = ExtractiveChatModel().invoke(join_prompt_blocks(QUESTION, STEP, PAGES))
    assert whole.usage_metadata == whole_reply.usage_metadata
    assert whole.response_metadata["finish_reason"] == "stop"


def test_without_pages_it_searches_once():
    model = ExtractiveChatModel().bind_tools([search], parallel_tool_calls=False)
    asked = [HumanMessage(join_prompt_blocks(QUESTION, STEP))]

    called = model.invoke(asked)
    told = model.invoke([*asked, called, ToolMessage(PAGES, tool_call_id="call_1")])

    [call] = called.tool_calls
    assert (call["name"], call["args"]) == ("search", {"query": "bees dance"})
    assert called.text == ""
    assert (told.tool_calls, told.text) == ([], FOUND)


def test_the_reason_of_a_row_is_searched_for_by_what_the_row_is_about():
    asked = "Which hive lost the most weight, and why?"
    rows = "Hive: H1; Weight lost (kg): 6.2.\nHive: H2; Weight lost (kg): 16.9."
    shown = wrap_blocks("pages", [render_block("page", rows, id="S1", title="Hives")])
    step = render_block("step", asked, title=asked)

    model = ExtractiveChatModel().bind_tools([search])
    [call] = ask(render_block("question", asked), step, shown, model=model).tool_calls

    assert call["args"] == {"query": "H2 hive lost weight"}


def test_a_streamed_search_is_the_same_call():
    model = ExtractiveChatModel().bind_tools([search])

    chunks = list(model.stream(join_prompt_blocks(QUESTION, STEP)))

    assert [call["args"] for chunk in chunks for call in chunk.tool_calls] == [
        {"query": "bees dance"}
    ]


def test_with_pages_no_tool_is_called():
    assert (
        ask(QUESTION, STEP, PAGES, model=ExtractiveChatModel().bind_tools([search])).tool_calls
        == []
    )


def test_a_search_that_found_nothing_is_not_repeated():
    model = ExtractiveChatModel().bind_tools([search])
    asked = [HumanMessage(join_prompt_blocks(QUESTION, STEP))]

    told = model.invoke(
        [*asked, model.invoke(asked), ToolMessage("Nothing.", tool_call_id="call_1")]
    )

    assert (told.tool_calls, told.text) == ([], "No passage answers this.")
