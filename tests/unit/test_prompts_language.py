"""What a model is told in Chinese is Chinese throughout, and who says what is kept."""

from __future__ import annotations

import re

import pytest
from langchain_core.messages import SystemMessage

from calls.replies import describe_schema
from graph.records import Source
from memory.experience.credit_assignment import OutcomeSignals
from memory.experience.run_history import PastRun
from memory.learning.claim_extraction import Learnt
from memory.learning.question_text import join_sentences, strip_self_descriptions
from memory.middleware import _language
from memory.protocol import Note
from memory.token_budget import NoteGroup, render_notes
from nodes.past_runs import _outcome, _reason, _shown
from nodes.planner import Draft
from prompts.data_blocks import render_sources_block
from prompts.loader import render_prompt
from report.document import MAX_TITLE_CHARS, ReportDocument, shorten_title
from report.labels import render_check_results
from report.rendering.markdown_report import render_markdown, render_plain_text

ENGLISH = re.compile(r"[A-Za-z]+(?: [a-z]+){3,}")
DOCUMENT = ReportDocument(
    title="Bees",
    question="Why?",
    status="succeeded",
    notices=[],
    body="Bees dance [S1].",
    gaps=[],
    sources=[Source(id="S1", page="p", title="Bees", location="/bees.md", kind="file")],
    texts={},
    removed=[{"text": "Bees swim.", "reason": "no_source"}],
    doubted=[],
    unreviewed=0,
    language="en",
    created="",
)


@pytest.mark.parametrize("schema", [Draft, Learnt])
def test_the_form_of_an_answer_is_asked_for_in_chinese(schema: type[Draft] | type[Learnt]):
    assert not ENGLISH.search(describe_schema(schema, "zh"))
    assert "JSON" in describe_schema(schema, "zh")
    assert ENGLISH.search(describe_schema(schema))


def test_what_is_remembered_is_framed_in_the_language_of_the_role():
    part = NoteGroup("facts", 1.0, [Note("", "养蜂")])

    assert not ENGLISH.search(render_notes([part], "zh"))
    assert _language(SystemMessage(render_prompt("judge", language="zh", most=2))) == "zh"
    assert _language(SystemMessage(render_prompt("judge", most=2))) == "en"


def test_an_answer_that_cannot_be_used_is_asked_for_again_in_chinese():
    assert not ENGLISH.search(render_prompt("repair", language="zh", error=""))


@pytest.mark.parametrize(
    "asked",
    [
        "蜜蜂为什么跳舞？Apis 何时越冬？它们吃什么？",
        "Why do bees dance? And when?",
        "跳舞吗？\n为什么？",
    ],
)
def test_a_question_stays_as_it_was_asked(asked: str):
    assert strip_self_descriptions(asked) == asked


def test_sentences_that_are_left_are_joined_as_their_language_is_written():
    assert (
        strip_self_descriptions("我是护士。蜜蜂为什么跳舞？WAL 是什么？")
        == "蜜蜂为什么跳舞？WAL 是什么？"
    )
    assert join_sentences(["Why?", "When?"]) == "Why? When?"


def test_sources_are_listed_by_what_they_are():
    sources = {
        "S1": {"title": "Lin's notes", "location": "/docs/lin.md#L3"},
        "S2": {"title": "The manual", "location": "https://a.example/x"},
        "S3": {"title": "Unused", "location": ""},
    }

    shown = render_sources_block([{"sources": ["S2", "S1"]}, {"sources": ["S1"]}], sources)

    assert shown == "<sources>\n- S2: The manual\n- S1: Lin's notes, L3\n</sources>"


def test_a_planner_is_not_offered_what_is_refused():
    assert "compute" not in describe_schema(Draft)
    assert "compute" not in str(Draft.model_json_schema())


@pytest.mark.parametrize(
    "asked",
    [
        "How do here documents, here strings and process substitutions differ in the bash shell, "
        "and which is the fastest of them?",
        "回滚日志模式有哪五种锁状态，各允许什么？" * 6,
        "x" * 200,
    ],
)
def test_a_long_question_makes_a_short_title_of_whole_words(asked: str):
    title = shorten_title(asked)

    assert len(title) <= MAX_TITLE_CHARS
    assert title.endswith("…")
    assert asked.startswith(title[:-1])
    assert " " not in asked or asked[len(title) - 1] == " "


def test_a_short_question_is_its_own_title():
    assert shorten_title("Why do\nbees dance?") == "Why do bees dance?"


def test_words_for_a_notice_have_no_marks_of_markdown():
    body = 'The state is `UNLOCKED` and <q s="S1">ls &gt; dirlist 2&gt;&amp;1</q> [S1].'

    assert "\\" not in render_plain_text(body)
    assert "ls > dirlist 2>&1" in render_plain_text(body)


def test_a_chinese_notice_says_why_sentences_were_removed():
    one = {"text": "蜜蜂会飞。", "reason": "quote_not_found"}

    assert render_check_results([one], [], "zh") == "- 引文在来源中找不到：蜜蜂会飞。"


@pytest.mark.parametrize(("tongue", "said"), [("en", "They are listed by: "), ("zh", "查看")])
def test_a_person_at_a_terminal_is_told_what_lists_the_removed_sentences(tongue: str, said: str):
    told_of = ReportDocument(
        **{**DOCUMENT, "language": tongue},  # type: ignore[typeddict-item]
        command="dossier runs show bees-1 --removed",
    )

    assert "dossier runs show bees-1 --removed" in render_markdown(told_of)
    assert said in render_markdown(told_of)
    assert "dossier" not in render_markdown(DOCUMENT)


def test_lessons_are_told_how_the_steps_came_out_and_what_the_checks_said():
    finding = {"title": "Dance", "status": "ok", "reason": "", "review": "failed", "step": "s1"}
    one = {"text": "Bees swim.", "reason": "no_source"}
    report = {"removed": [one], "doubted": [{"text": "Bees run.", "reason": "name"}], "cited": []}
    state = {"turn": 1, "language": "en", "findings": {"1/s1": finding}, "report": report}

    outcome = _outcome(state)  # type: ignore[arg-type]

    for words in ("s1, Dance: ok, failed", "bears out: 1", "another name: 1", "missing: Dance"):
        assert words in outcome
    # A sentence of a report may be the words of any page.
    assert not any(words in outcome for words in ("Bees swim.", "Bees run."))
    assert _reason(state) == "removed: 1; doubted: 1"  # type: ignore[arg-type]


def test_a_run_with_warnings_is_not_simply_resolved():
    signs = OutcomeSignals(1.0, 1.0, 1.0, 1.0)
    run = PastRun("r", "Why?", "resolved", 1.0, signs, "doubted: 1", 0.0, 0)

    assert 'ended="resolved, with warnings"' in _shown("new", run, [])
    assert 'ended="resolved"' in _shown("new", run._replace(reason=""), [])
