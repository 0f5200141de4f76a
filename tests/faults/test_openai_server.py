"""The test server, seen through the real client: what it says, and how it fails."""

import asyncio
import json
import sys
import time
from json import JSONDecodeError

import httpx
import openai
import pytest
from langchain_core.exceptions import ModelConnectionError, ModelRateLimitError, ModelTimeoutError
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from evals.openai_server import Server

SEARCH = {"name": "search", "description": "Search.", "parameters": {"type": "object"}}
CALLS = [{"name": "search", "args": {"query": word}} for word in ("bees", "dances and flowers")]
DRAFT = {"type": "json_schema", "json_schema": {"name": "Draft", "schema": {"type": "object"}}}

# With `stream=True` `ainvoke` streams and joins, as it does in a graph with stream mode `messages`.
either_way = pytest.mark.parametrize("how", [{}, {"stream": True}], ids=["plain", "streamed"])


def client(server, **settings):
    settings = {"max_retries": 0, "stream_usage": True} | settings
    return ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="x", **settings)


def telling(server, **rule):
    """Make `rule` the only one, and return a client of the server."""
    server.replace([rule])
    return client(server)


@either_way
async def test_without_a_rule_the_last_message_comes_back(openai_server, how):
    answer = await client(openai_server).ainvoke("Why do bees dance?", **how)

    assert answer.content == "echo: Why do bees dance?"
    assert answer.response_metadata["finish_reason"] == "stop"
    assert answer.usage_metadata["output_tokens"] > 0


async def test_a_stream_comes_word_by_word(openai_server):
    model = telling(openai_server, reply="They dance to  tell.")

    words = [chunk.content async for chunk in model.astream("Why?")]

    assert [word for word in words if word] == ["They ", "dance ", "to  ", "tell."]


@either_way
async def test_parallel_tool_calls_arrive_whole(openai_server, how):
    openai_server.replace([{"after_tool": False, "tool_calls": CALLS}])
    model = client(openai_server).bind_tools([SEARCH])

    asked = await model.ainvoke("Why?", **how)
    results = [ToolMessage("found", tool_call_id=call["id"]) for call in asked.tool_calls]
    answer = await model.ainvoke([HumanMessage("Why?"), asked, *results], **how)

    assert [{"name": call["name"], "args": call["args"]} for call in asked.tool_calls] == CALLS
    assert len({call["id"] for call in asked.tool_calls}) == 2
    assert answer.content == "echo: found"


@either_way
async def test_a_dict_is_sent_as_json_to_whoever_asks_for_its_schema(openai_server, how):
    model = telling(openai_server, schema="Draft", reply={"title": "Bees"})

    typed = await model.bind(response_format=DRAFT).ainvoke("Plan!", **how)
    free = await model.ainvoke("Plan!", **how)

    assert json.loads(typed.content) == {"title": "Bees"}
    assert free.content == "echo: Plan!"


async def test_a_rule_fits_a_role_by_the_words_of_its_system_message(openai_server):
    model = telling(openai_server, system="You plan", match="bees", reply="A plan.")
    planner, reporter = SystemMessage("You plan research."), SystemMessage("You write.")
    parts = [{"type": "text", "text": "Why do "}, {"type": "text", "text": "bees dance?"}]

    assert (await model.ainvoke([planner, HumanMessage(parts)])).content == "A plan."
    assert (await model.ainvoke([planner, HumanMessage("Ants?")])).content == "echo: Ants?"
    assert (await model.ainvoke([reporter, HumanMessage("bees")])).content == "echo: bees"


async def test_a_limit_is_over_after_so_many_times(openai_server):
    model = telling(openai_server, error=429, headers={"retry-after": "7"}, times=1)

    with pytest.raises(ModelRateLimitError) as failure:
        await model.ainvoke("Why?")

    assert failure.value.response.headers["retry-after"] == "7"
    assert (await model.ainvoke("Why?")).content == "echo: Why?"


@either_way
async def test_an_error_keeps_its_status_and_its_code(openai_server, how):
    with pytest.raises(openai.InternalServerError) as server_error:
        await telling(openai_server, error=500).ainvoke("Why?", **how)
    with pytest.raises(openai.BadRequestError) as overflow:
        await telling(openai_server, error=400, code="context_length_exceeded").ainvoke("?", **how)

    assert server_error.value.status_code == 500
    assert overflow.value.code == "context_length_exceeded"


@either_way
@pytest.mark.parametrize("pieces", [0, 3])
async def test_a_dropped_connection_is_an_error(openai_server, how, pieces):
    model = telling(openai_server, reply="one two three four", cut=pieces)

    with pytest.raises(ModelConnectionError) as failure:
        await model.ainvoke("Count!", **how)

    assert ("sending a response" in str(failure.value.__cause__.__cause__)) == (pieces == 0)


async def test_an_answer_that_ends_early_but_tidily_is_an_error_only_when_plain(openai_server):
    model = telling(openai_server, reply="one two three four", cut=3, clean=True)

    with pytest.raises(JSONDecodeError):
        await model.ainvoke("Count!")
    streamed = await model.ainvoke("Count!", stream=True)

    assert streamed.content == "one two "
    assert "finish_reason" not in streamed.response_metadata


async def test_an_error_may_come_in_the_middle_of_a_stream(openai_server):
    event = 'data: {"error": {"message": "overloaded", "code": 502}}\n\n'
    model = telling(openai_server, reply="one two", cut=2, tail=event, clean=True)

    with pytest.raises(openai.APIError, match="overloaded"):
        await model.ainvoke("Count!", stream=True)


@either_way
@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_the_reason_to_finish_is_told(openai_server, how, reason):
    answer = await telling(openai_server, reply="half a", finish=reason).ainvoke("Tell!", **how)

    assert answer.content == "half a"
    assert answer.response_metadata["finish_reason"] == reason


@either_way
async def test_an_answer_of_html_is_no_answer(openai_server, how):
    with pytest.raises(ValueError, match=r"<html>|No generations"):
        await telling(openai_server, garbage=True).ainvoke("Why?", **how)


@either_way
@pytest.mark.parametrize("fault", ["hang", "delay", "stall"])
async def test_a_slow_answer_runs_into_the_read_timeout(openai_server, how, fault):
    openai_server.replace([{fault: 30}])
    model = client(openai_server, timeout=httpx.Timeout(10, read=0.2))

    with pytest.raises(ModelTimeoutError):
        await model.ainvoke("Why?", **how)


@either_way
async def test_usage_may_be_missing_or_absurd(openai_server, how):
    absurd = {"prompt_tokens": -5, "completion_tokens": 10**12, "total_tokens": 1}

    missing = await telling(openai_server, usage=None).ainvoke("Why?", **how)
    strange = await telling(openai_server, usage=absurd).ainvoke("Why?", **how)

    assert missing.usage_metadata is None
    assert strange.usage_metadata["input_tokens"] == -5
    assert strange.usage_metadata["output_tokens"] == 10**12


async def test_an_answer_may_refuse_or_lack_choices(openai_server):
    refusal = await telling(openai_server, refusal="I cannot help.").ainvoke("Why?")
    empty = telling(openai_server, body={"id": "x", "model": "m", "choices": []})

    assert (refusal.content, refusal.additional_kwargs["refusal"]) == ("", "I cannot help.")
    with pytest.raises(IndexError):
        await empty.ainvoke("Why?")
    assert (await empty.ainvoke("Why?", stream=True)).content == ""


async def test_equal_texts_have_equal_vectors_and_the_embedder_can_fail(openai_server):
    settings = {"api_key": "x", "check_embedding_ctx_length": False, "max_retries": 0}
    embedder = OpenAIEmbeddings(base_url=openai_server.url, **settings)

    bees, ants, again = await embedder.aembed_documents(["bees", "ants", "bees"])
    openai_server.rules.append({"path": "embeddings", "error": 503})

    assert len(bees) == 8
    assert bees == again != ants
    with pytest.raises(openai.InternalServerError):
        await embedder.aembed_query("bees")
    assert (await client(openai_server).ainvoke("Why?")).content == "echo: Why?"


async def test_fifty_calls_are_answered_at_the_same_time():
    told = {"reply": lambda body: f"{body['model']} heard {body['messages'][0]['content']}"}
    with Server([told], latency=0.6) as server:
        started = time.monotonic()
        answers = await asyncio.gather(*[client(server).ainvoke(str(n)) for n in range(50)])
        took = time.monotonic() - started
    arrivals = [call.at for call in server.log]

    assert [answer.content for answer in answers] == [f"gpt-4o heard {n}" for n in range(50)]
    assert 0.6 <= took < 25
    assert len(arrivals) == 50
    assert arrivals == sorted(arrivals)


async def test_leaving_the_block_frees_the_port_even_in_the_middle_of_an_answer():
    with Server([{"hang": 60}]) as server:
        waiting = asyncio.create_task(client(server).ainvoke("Why?"))
        while not server.log:  # noqa: ASYNC110 - the log belongs to another thread
            await asyncio.sleep(0.01)

    with pytest.raises(openai.APIError):
        await waiting
    with pytest.raises(ModelConnectionError):
        await client(server).ainvoke("Why?")


@pytest.mark.integration
async def test_as_a_process_it_takes_rules_and_shows_its_log(tmp_path, unused_tcp_port):
    rules = tmp_path / "rules.json"
    rules.write_text('[{"match": "bees", "reply": "They dance."}]')
    command = ["-m", "evals.openai_server", "--port", str(unused_tcp_port), "--rules", str(rules)]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, "--latency", "0.3")
    body = {"model": "m", "messages": [{"role": "user", "content": "bees"}]}

    place, transport = f"http://127.0.0.1:{unused_tcp_port}", httpx.AsyncHTTPTransport(retries=6)
    async with httpx.AsyncClient(base_url=place, transport=transport) as http:
        await http.get("/v1/models")
        started = time.monotonic()
        first = (await http.post("/v1/chat/completions", json=body)).text
        took = time.monotonic() - started
        await http.post("/_script", json=[{"reply": "They sing."}])
        second = (await http.post("/v1/chat/completions", json=body)).text
        log = (await http.get("/_log")).json()
    process.terminate()
    await process.wait()

    assert "They dance." in first
    assert "They sing." in second
    assert took >= 0.3
    assert [call["body"] for call in log] == [body]
