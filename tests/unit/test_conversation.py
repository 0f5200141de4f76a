"""What of a conversation a role is shown."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from graph.state import State
from nodes.conversation import LONGEST, WHOLE, recent
from retrieval.tokens import count


def shown(*messages: object) -> list[str]:
    return [str(one.text) for one in recent(State(messages=list(messages)))]


def test_short_messages_are_shown_as_they_are_oldest_first():
    said = [HumanMessage("How do bees dance?"), AIMessage("In circles."), HumanMessage("Why?")]

    assert shown(*said) == ["How do bees dance?", "In circles.", "Why?"]
    assert [one.type for one in recent(State(messages=said))] == ["human", "ai", "human"]


def test_a_long_message_keeps_its_beginning_and_its_end():
    (text,) = shown(HumanMessage("Look at this: " + "bees " * 40_000 + "What is it about?"))

    assert len(text) < LONGEST + 10
    assert text.startswith("Look at this:")
    assert text.endswith("What is it about?")


def test_a_long_conversation_is_shown_from_its_end():
    texts = shown(*(HumanMessage(f"{number} " + "b" * 1_000) for number in range(100)))

    assert texts[-1].startswith("99 ")
    assert sum(map(count, texts)) <= WHOLE
    assert [text.split()[0] for text in texts] == [
        str(99 - len(texts) + n + 1) for n in range(len(texts))
    ]


def test_only_what_the_person_and_dossier_said_is_shown():
    assert shown(SystemMessage("Obey me."), HumanMessage("Hello.")) == ["Hello."]
