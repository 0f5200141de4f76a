"""What earlier turns of a thread found out is handed on, as far as it fits."""

from __future__ import annotations

from typing import Any

import pytest

from graph.records import Finding, Source, TurnAnswer, turn_key
from graph.state import State
from report import findings
from report.findings import (
    MAX_EARLIER_TOKENS,
    MAX_FINDING_TOKENS,
    list_open_questions,
    render_earlier_block,
    select_earlier_findings,
)
from text.tokens import count_tokens, estimate_tokens

DANCE = 'The waggle dance tells the direction [S1]. <q s="S1">It was described in 1927.</q>'


def finding(text: str = DANCE, title: str = "dance", **more: Any) -> Finding:
    found = Finding(
        step="s1",
        title=title,
        status="ok",
        reason="",
        text=text,
        sources=["S1"],
        queries=[],
        attempts=1,
        review="passed",
    )
    return found | more


def state(turn: int = 2, answers: dict[str, TurnAnswer] | None = None, **found: Finding) -> State:
    """Return the state of a turn; findings are named `t1s1` for step 1 of turn 1."""
    named = {turn_key(int(name[1]), name[2:]): one for name, one in found.items()}
    source = Source(id="S1", page="p", title="Bees", location="bees.md", kind="file")
    known = {"S1": source, "S2": source | {"id": "S2"}}
    return State(turn=turn, findings=named, sources=known, answers=answers or {})


def answer(text: str = DANCE, *gaps: str) -> TurnAnswer:
    return TurnAnswer(question="How do bees dance?", text=text, sources=["S1"], open=list(gaps))


def test_findings_of_earlier_turns_that_passed_are_handed_on_oldest_first():
    known = state(3, t2s1=finding("Bees dance [S1]."), t1s1=finding(), t3s1=finding())

    assert [one["step"] for one in select_earlier_findings(known, "dance of bees")] == [
        "1/s1",
        "2/s1",
    ]


def test_findings_that_failed_or_that_nobody_judged_are_not():
    known = state(
        t1s1=finding(status="failed"),
        t1s2=finding(review="failed"),
        t1s3=finding(review="unverified"),
        t1s4=finding(status="partial"),
    )

    assert select_earlier_findings(known, "dance") == []


def test_what_is_about_something_else_is_not():
    assert select_earlier_findings(state(t1s1=finding()), "Why did stocks fall?") == []
    assert (
        select_earlier_findings(state(t1s1=finding("蜜蜂跳舞 [S1]。", "舞蹈")), "股票为什么下跌")
        == []
    )
    assert (
        select_earlier_findings(state(t1s1=finding("蜜蜂跳舞 [S1]。", "舞蹈")), "蜜蜂怎样跳舞")
        != []
    )


def test_a_turn_without_findings_hands_on_its_answer():
    (found,) = select_earlier_findings(state(answers={"1": answer()}), "dance")

    assert (found["step"], found["title"], found["text"]) == ("1", "How do bees dance?", DANCE)
    assert found["sources"] == ["S1"]


def test_an_answer_is_not_handed_on_beside_the_findings_it_is_made_of():
    known = state(answers={"1": answer()}, t1s1=finding())

    assert [one["step"] for one in select_earlier_findings(known, "dance")] == ["1/s1"]


def test_a_source_that_the_thread_does_not_know_any_more_takes_its_finding_along():
    assert select_earlier_findings(state(t1s1=finding(sources=["S1", "S9"])), "dance") == []


def test_a_long_finding_is_cut_behind_a_sentence_and_cites_only_what_is_left():
    long = " ".join(f"Bee {number} dances in a line [S1]." for number in range(300))
    (found,) = select_earlier_findings(
        state(t1s1=finding(f"{long} Wasps do not [S2].", sources=["S1", "S2"])), "bee"
    )

    assert MAX_FINDING_TOKENS / 2 < count_tokens(found["text"]) <= MAX_FINDING_TOKENS
    assert found["text"].endswith("[S1]. […]")
    assert found["sources"] == ["S1"]


def test_a_quotation_is_never_cut_in_two():
    quotes = "\n".join(f'<q s="S1">Bee {n} dances. Bee {n} sleeps.</q>' for n in range(300))
    (found,) = select_earlier_findings(state(t1s1=finding(quotes)), "bee")

    assert found["text"].rstrip().endswith("</q> […]")


def test_all_findings_together_keep_within_their_tokens_and_the_closest_stay():
    long = " ".join(f"Bee {number} dances in a line [S1]." for number in range(40))
    many = {f"t1s{number}": finding(long) for number in range(9)}
    close = finding("Karl von Frisch described the waggle dance in 1927 [S1].", "Karl von Frisch")
    found = select_earlier_findings(
        state(**many, t1s9=close), "Who was Karl von Frisch, who saw bees dance?"
    )

    assert sum(count_tokens(one["text"]) for one in found) <= MAX_EARLIER_TOKENS
    assert "1/s9" in [one["step"] for one in found]


def test_of_hundreds_of_findings_only_the_closest_are_cut_to_what_fits(
    monkeypatch: pytest.MonkeyPatch,
):
    counted: list[str] = []
    monkeypatch.setattr(
        findings, "estimate_tokens", lambda text: counted.append(text) or estimate_tokens(text)
    )
    long = " ".join(f"Bee {number} dances in a line [S1]." for number in range(90))

    def looked_at(turns: int) -> int:
        counted.clear()
        many = {turn_key(n, "s1"): finding(f"{long} {n}", f"bee {n}") for n in range(1, turns)}
        assert select_earlier_findings(state(turns) | {"findings": many}, "How do bees dance?")  # type: ignore[operator]
        return len(counted)

    assert looked_at(400) == looked_at(50) < 10 * findings.MAX_RANKED_FINDINGS


def test_what_was_left_open_is_told_until_a_later_turn_has_found_it():
    answers = {"1": answer("", "Mites: no_evidence", "Honey: page_timeout"), "2": answer()}

    assert list_open_questions(state(2, answers)) == ["Mites: no_evidence", "Honey: page_timeout"]
    assert list_open_questions(state(3, answers, t2s1=finding(title="Mites"))) == [
        "Honey: page_timeout"
    ]
    assert list_open_questions(state(1, answers)) == []


def test_the_block_is_escaped_and_there_is_none_for_nothing():
    marked = render_earlier_block([finding("</earlier> <b>")], ["</open>: x"])

    assert marked.count("</earlier>") == marked.count("</open>") == 1
    assert render_earlier_block([]) == ""


def test_findings_are_handed_on_without_the_vocabulary(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("text.tokens._load_encoding", None)

    known = state(t1s1=finding("The dance is a map [S1]. " * 200))

    assert select_earlier_findings(known, "dance")
