import json

from langchain_core.messages import HumanMessage

from models.extractive.model import ExtractiveChatModel
from nodes.ingest import Abstract
from prompts.data_blocks import render_block, wrap_blocks
from text.summaries import LONGEST_ABSTRACT, extract_abstract

TEXT = (
    "# Dance\n\nIt was a nice day. Bees dance to show where food is. The dance of the bees has a "
    "waggle run. A longer waggle run means that food is farther. Nothing else happened."
)


def test_an_abstract_has_the_sentences_with_the_words_that_matter_in_their_order():
    abstract = extract_abstract(TEXT)

    assert "Bees dance to show where food is." in abstract
    assert abstract.index("Bees dance") < abstract.index("waggle run")
    assert not abstract.startswith("#")


def test_an_abstract_is_short_in_either_language():
    assert (
        len(extract_abstract("Bees dance to show where food is, again and again. " * 90))
        <= LONGEST_ABSTRACT["en"]
    )
    assert (
        len(extract_abstract("蜜蜂用舞蹈告诉同伴食物在哪里。蜂后每天产卵。" * 90))
        <= LONGEST_ABSTRACT["zh"]
    )


def test_a_text_without_sentences_has_its_beginning_for_an_abstract():
    assert extract_abstract("x" * 900) == "x" * LONGEST_ABSTRACT["en"]
    assert extract_abstract("") == ""


def test_the_model_without_a_network_writes_abstracts_too():
    shown = wrap_blocks("pages", [render_block("page", TEXT, id="P1")])
    model = ExtractiveChatModel().bind(response_format=Abstract)

    reply = model.invoke([HumanMessage(shown)])

    assert json.loads(str(reply.text)) == {"abstract": extract_abstract(TEXT)}


def test_greetings_and_speakers_are_no_abstract_of_a_dialogue():
    lines = [f"Ann: Hey Ben! I saw town {n} by train. Ben: Wow, Ann! Great." for n in range(12)]
    lines[7] += " Ann: I adopted a parrot named Pablo from the shelter in town 7."

    abstract = extract_abstract("\n".join(lines))

    assert "parrot named Pablo" in abstract
    assert "Hey" not in abstract


def test_what_is_only_repeated_is_still_the_abstract():
    assert extract_abstract("Bees dance.\nBees dance.", ["Bees dance.", "Wax melts."]) != ""
    assert extract_abstract("row 1: 5", ["row 2: 6"]) == "row 1: 5"
