"""Every sentence of a report has a source, or is not in it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from models.extractive.model import ExtractiveChatModel
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from report.checks.attribution import enforce_citations
from tests.unit.test_verification_mutations import WORDS, Sample, put
from text.sentences import split_sentences
from text.words import search_words

BEES = (
    "Honey bees dance in the dark of the hive. The waggle dance tells other bees the direction of "
    "food, as von Frisch found in 1967. A colony has about 30,000 bees. Its queen lays the eggs."
)
COLD = "Bees form a cluster when it is colder than 14 °C. They shiver to keep the brood warm."
DANCE = "蜜蜂在黑暗的蜂巢里跳舞。八字舞告诉同伴食物的方向，弗里施在1967年写道。"
NEW = {
    "en": "poets admire distant music seldom because nobody believes mirrors quietly forgotten",
    "zh": "诗人 赞美 遥远 音乐 镜子 梦想 无人 相信 悄悄 忘记",
}
TEXTS = {"S1": BEES, "S2": COLD, "S3": DANCE}


def body(text: str) -> str:
    return enforce_citations(text, TEXTS).body


def doubts(text: str) -> list[str]:
    return [one["text"] for one in enforce_citations(text, TEXTS).doubted]


def gone(text: str) -> list[str]:
    return [
        one["text"]
        for one in enforce_citations(text, TEXTS).removed
        if one["reason"] == "no_source"
    ]


def test_a_sentence_that_its_paragraphs_source_bears_out_gets_that_source():
    said = "Bees dance in the dark hive. The waggle dance tells the direction of food [S1]."

    assert body(said) == (
        "Bees dance in the dark hive [S1]. The waggle dance tells the direction of food [S1]."
    )
    assert gone(said) == []


def test_a_sentence_that_no_source_bears_out_is_taken_out():
    said = "Bees dance in the hive [S1]. Many poets have admired their music. They shiver [S2]."

    assert body(said) == "Bees dance in the hive [S1]. They shiver [S2]."
    assert gone(said) == ["Many poets have admired their music."]
    assert gone("Bees dance in the hive [S1]. It matters.") == ["It matters."]


def test_a_sentence_may_be_borne_out_by_a_source_that_another_paragraph_cites():
    said = "Bees dance [S1].\n\n## Winter\n\nThey shiver to keep their brood warm."

    assert body(said).endswith("They shiver to keep their brood warm [S2].")


def test_a_report_that_cites_nothing_is_traced_all_the_same():
    checked = enforce_citations("The queen lays the eggs.", TEXTS)

    assert checked.body == "The queen lays the eggs [S1]."
    assert checked.cited == ["S1"]


def test_the_answer_itself_is_no_exception():
    said = "Bees are the poets of the meadow.\n\n## Dance\n\nBees dance in the hive [S1]."

    assert body(said) == "## Dance\n\nBees dance in the hive [S1]."


def test_a_number_must_stand_in_the_source_that_is_given():
    assert body("A colony has some 30,000 bees.") == "A colony has some 30,000 bees [S1]."
    assert [*gone(wrong := "The queen lays the eggs of 40,000 bees in a colony."), *doubts(wrong)]


def test_words_from_far_apart_bear_nothing_out():
    said = "The queen lays eggs in the dark of the dance."
    checked = enforce_citations(said, TEXTS)

    assert checked.body == said
    assert [one["reason"] for one in checked.doubted] == ["no_source"]


def test_chinese_sentences_are_traced_too():
    assert body("蜜蜂在蜂巢里跳舞。八字舞告诉同伴方向[S3]。") == (
        "蜜蜂在蜂巢里跳舞[S3]。八字舞告诉同伴方向[S3]。"
    )
    assert gone("诗人们一直赞美它们的音乐。八字舞告诉同伴方向[S3]。") == [
        "诗人们一直赞美它们的音乐。"
    ]


@pytest.mark.parametrize(
    "said",
    [
        "## What the dance tells other people",
        "**What the dance tells other people**",
        "The two accounts disagree about singing:",
        "他们的说法各不相同：",
        "Why would a poet sing about them?",
        "Yes.",
        "是的。",
        "None of the sources says who first heard them sing.",
        "The findings do not name a price.",
        "资料中没有提到价格。",
        "No evidence was found for this question.",
    ],
)
def test_what_makes_no_claim_about_the_world_is_let_be(said: str):
    text = f"{said}\n\nBees dance in the hive [S1]."

    assert body(text) == text


@pytest.mark.parametrize(
    "said",
    [
        "Renewable sources do not emit carbon.",
        "This material does not conduct heat.",
        "The evidence does not support a link with poetry.",
        "这种材料不导电。",
        "**Poets have always admired them.**",
    ],
)
def test_what_only_sounds_like_that_needs_a_source(said: str):
    assert gone(f"{said}\n\nBees dance in the hive [S1].") == [said]


def test_a_bullet_and_a_row_are_sentences_of_their_own():
    head = "| What | How |\n|---|---|"
    said = (
        "Bees do this [S1]:\n\n- They dance in the dark hive\n- They sing of distant meadows\n\n"
        f"{head}\n| dance in the dark | hive |\n| song | distant meadows |"
    )

    assert body(said) == (
        "Bees do this [S1]:\n\n- They dance in the dark hive [S1]\n\n"
        f"{head}\n| dance in the dark | hive [S1] |"
    )


def test_the_mark_goes_before_what_ends_the_sentence():
    assert body("**The queen lays the eggs.**") == ("**The queen lays the eggs [S1].**")


def test_to_prove_twice_changes_nothing():
    said = "Bees dance in the dark hive. Poets admire them. They shiver to keep the brood warm."
    once = enforce_citations(said, TEXTS)

    assert enforce_citations(once.body, TEXTS) == (once.body, once.cited, [], [], [])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_is_taken_out_of_or_doubted_in_twenty_clean_reports(language: str):
    for seed in range(20):
        sample = Sample(language, seed)

        checked = enforce_citations(sample.body, sample.texts)

        assert (checked.body, checked.removed, checked.doubted) == (sample.body, [], [])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_citation_that_was_dropped_comes_back(language: str):
    dropped = 0
    for seed in range(20):
        sample = Sample(language, seed)
        wrong, found = re.subn(r"(?<=”) \[S\d+\]", "", sample.body, count=1)
        if not found:
            continue
        dropped += 1

        checked = enforce_citations(wrong, sample.texts)

        assert checked.removed == []
        assert checked.body.replace(" [", "[") == sample.body.replace(" [", "[")

    assert dropped > 8


@pytest.mark.parametrize("language", ["en", "zh"])
def test_forty_invented_sentences_are_taken_out_or_doubted(language: str):
    missed = []
    for seed in range(40):
        sample = Sample(language, seed)
        known, new = WORDS[language].split(), NEW[language].split()
        # Half of an invented sentence is about what the sources are about.
        said = sample.chance.sample(known, 4) + sample.chance.sample(new, 4)
        invented = sample.joint.join(said).capitalize() + sample.stop.strip()
        line = sample.any(r"(?m)^- .+$")
        wrong = put(sample, line, f"{line[0]}{sample.joint}{invented}")
        checked = enforce_citations(wrong, sample.texts)
        doubted = any(invented in one["text"] for one in checked.doubted)
        if checked.body != sample.body and not doubted:
            missed.append(invented)

    assert not missed


def test_the_extractive_models_reports_stay_as_they_are():
    passages = [{"source": name, "text": text} for name, text in list(TEXTS.items())[:2]]
    sources = {name: {"id": name, "title": "Bees", "location": "bees.md"} for name in TEXTS}
    asked = join_prompt_blocks(
        render_block("question", "What does the dance tell?"), render_pages_block(passages, sources)
    )
    written = str(ExtractiveChatModel().invoke(asked).text)

    assert "<q" in written
    assert enforce_citations(written, TEXTS).removed == []


CORPUS = Path(__file__).parents[3] / "shared" / "data" / "hotpotqa" / "corpus.jsonl"


@pytest.mark.skipif(not CORPUS.exists(), reason="the paragraphs of HotpotQA are not here")
def test_most_sentences_that_were_put_in_other_words_are_traced_and_few_others():
    chance = random.Random(7)
    pages = [json.loads(line)["text"] for line in CORPUS.read_text("utf-8").splitlines()[:1000]]
    bags = [set(search_words(page)) for page in pages]
    anywhere = " ".join(pages).split()
    own = other = 0
    for at in chance.sample(range(len(pages)), 100):
        told = max((one.text for one in split_sentences(pages[at])), key=len)
        said = [chance.choice(anywhere) if chance.random() < 0.15 else one for one in told.split()]
        said = [one for one in said if chance.random() > 0.2]
        own += not enforce_citations(" ".join(said), {"S1": pages[at]}).removed
        alike = [len(bags[at] & bag) for bag in bags]
        alike[at] = 0
        nearest = pages[alike.index(max(alike))]
        foreign = enforce_citations(told, {"S1": nearest})
        other += not (foreign.removed or foreign.doubted)

    assert own >= 75
    assert other <= 8


NUMBERS = {
    "S1": "The hive weighed 34 kilograms in May.",
    "S2": "Decay reached 77 per cent in 1885.",
}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The hive weighed 34 kilograms [S1].", "The hive weighed 34 kilograms [S1]."),
        ("Decay reached 77 % in 1885 [S1].", "Decay reached 77 % in 1885 [S2]."),
    ],
)
def test_a_sentence_cites_the_source_that_has_its_number_and_its_words(said, left):
    checked = enforce_citations(said, NUMBERS)

    assert checked.body == left
    assert checked.doubted == []


def test_a_sentence_with_a_number_that_no_source_has_is_doubted_and_stays():
    said = "Decay reached 97.3 % in 2031 [S2]. It weighed 34 kilograms [S1]."
    checked = enforce_citations(said, NUMBERS)

    assert checked.body == said
    assert checked.doubted == [{"text": "Decay reached 97.3 % in 2031 [S2].", "reason": "number"}]
