"""What of a conversation a role is shown."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from graph.state import State
from nodes.conversation import LONGEST, WHOLE, recent_messages
from text.tokens import count_tokens


def shown(*messages: object) -> list[str]:
    return [str(one.text) for one in recent_messages(State(messages=list(messages)))]


def test_short_messages_are_shown_as_they_are_oldest_first():
    said = [HumanMessage("How do bees dance?"), AIMessage("In circles."), HumanMessage("Why?")]

    assert shown(*said) == ["How do bees dance?", "In circles.", "Why?"]
    assert [one.type for one in recent_messages(State(messages=said))] == ["human", "ai", "human"]


def test_a_long_message_keeps_its_beginning_and_its_end():
    (text,) = shown(HumanMessage("Look at this: " + "bees " * 40_000 + "What is it about?"))

    assert len(text) < LONGEST + 10
    assert text.startswith("Look at this:")
    assert text.endswith("What is it about?")


def test_a_long_conversation_is_shown_from_its_end():
    texts = shown(*(HumanMessage(f"{number} " + "b" * 1_000) for number in range(100)))

    assert texts[-1].startswith("99 ")
    assert sum(map(count_tokens, texts)) <= WHOLE
    assert [text.split()[0] for text in texts] == [
        str(99 - len(texts) + n + 1) for n in range(len(texts))
    ]


def test_only_what_the_person_and_dossier_said_is_shown():
    assert shown(SystemMessage("Obey me."), HumanMessage("Hello.")) == ["Hello."]


def answered(text: str) -> str:
    answer = {"question": "", "text": text, "sources": ["S1"], "open": [], "message": "m"}
    said = [HumanMessage("How?"), AIMessage("A report.", id="m")]
    return str(recent_messages(State(messages=said, answers={"1": answer}))[-1].text)


def test_a_report_is_shown_as_one_would_say_it():
    said = answered(
        'They <q s="S1">dance &lt; 9 times</q> [S1].\n\n```sh\nzeta --now\n```\n\nSo [S1].'
    )

    assert said == "They “dance < 9 times” [S1].\n\n[…]\n\nSo [S1]."


def test_of_a_long_report_whole_sentences_are_shown():
    said = answered("".join(f"Bee number {n} dances in the dark. " for n in range(200)))

    head, tail = said.split(" […] ")
    assert head.startswith("Bee number 0 dances")
    assert head.endswith("in the dark.")
    assert tail.startswith("Bee number")
    assert tail.rstrip().endswith("Bee number 199 dances in the dark.")
