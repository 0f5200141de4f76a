"""Every tool call of a conversation has its result right behind it."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call

from calls.compaction import repair_tool_calls

ASKED = HumanMessage("How do bees dance?")


def calling(*ids: str) -> AIMessage:
    calls = [{"name": "search", "args": {"query": one}, "id": one} for one in ids]
    return AIMessage("", tool_calls=calls)


def result(one: str, said: str = "") -> ToolMessage:
    return ToolMessage(said or f"result of {one}", tool_call_id=one, name="search")


def shown(messages: list[AnyMessage]) -> list[str]:
    """Return the types of messages, results with the id of their call; `!` marks a made one."""
    return [
        f"{'!' if message.status == 'error' else ''}{message.tool_call_id}"
        if isinstance(message, ToolMessage)
        else message.type
        for message in messages
    ]


def test_a_whole_conversation_stays_as_it_is():
    said = [ASKED, calling("a", "b"), result("a"), result("b"), AIMessage("In circles.")]

    assert repair_tool_calls(said) == said


def test_a_call_that_was_cut_off_gets_a_result_that_says_so():
    whole = repair_tool_calls([ASKED, calling("a")])

    assert shown(whole) == ["human", "ai", "!a"]
    assert "cut off" in str(whole[2].text)
    assert "search" in str(whole[2].text)


def test_of_several_calls_only_those_without_a_result_get_one():
    said = [ASKED, calling("a", "b", "c"), result("b"), HumanMessage("Go on.")]

    assert shown(repair_tool_calls(said)) == ["human", "ai", "!a", "b", "!c", "human"]


def test_results_in_any_order_and_far_behind_are_put_behind_their_calls():
    said = [calling("a", "b"), HumanMessage("Well?"), result("b"), AIMessage("Yes."), result("a")]

    assert shown(repair_tool_calls(said)) == ["ai", "a", "b", "human", "ai"]


def test_calls_of_several_turns_are_mended_each():
    said = [ASKED, calling("a"), HumanMessage("Again."), calling("b"), result("b"), calling("c")]

    assert shown(repair_tool_calls(said)) == ["human", "ai", "!a", "human", "ai", "b", "ai", "!c"]


def test_an_id_that_is_used_again_belongs_to_both_calls_in_turn():
    said = [calling("a"), result("a", "first"), calling("a"), result("a", "second"), calling("a")]

    assert [str(one.text)[:7] for one in repair_tool_calls(said) if one.type == "tool"] == [
        "first",
        "second",
        "The cal",
    ]


def test_a_call_whose_arguments_nobody_could_read_needs_a_result_too():
    call = invalid_tool_call(name="search", args="{", id="a", error="no JSON")

    assert shown(repair_tool_calls([ASKED, AIMessage("", invalid_tool_calls=[call])])) == [
        "human",
        "ai",
        "!a",
    ]


def test_a_result_that_no_call_asked_for_is_left_out():
    assert shown(repair_tool_calls([ASKED, result("a"), AIMessage("Yes.")])) == ["human", "ai"]


def test_mending_twice_changes_nothing_more():
    said = [ASKED, calling("a", "b"), result("b")]

    assert shown(repair_tool_calls(repair_tool_calls(said))) == shown(repair_tool_calls(said))
