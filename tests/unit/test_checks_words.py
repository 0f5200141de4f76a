"""Classes of remarks are let be, and what a cited sentence refers to is doubted and not removed."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from report.checks.caveats import is_absence_remark, is_own_inference

PAGE = "The ferry leaves the harbour at noon. Its captain lives in the old lighthouse of the town."


@pytest.mark.parametrize(
    "said",
    [
        "A job is made up for once a day, as far as I can tell from this.",
        "Only the ferry offers it, as far as these manuals show.",
        "So far as one can see, nobody uses the old gate.",
        "Going by these pages, the second pier is for goods.",
        "I would keep the spare key with the harbour master.",
        "We'd rather take the morning boat.",
        "就这些资料来看，只有渡轮提供这项服务。",
        "据我所知，码头只有一个入口。",
        "我会把备用钥匙交给港务长。",
    ],
)
def test_a_hedge_and_a_recommendation_are_the_writers_own(said: str):
    assert is_own_inference(said)


@pytest.mark.parametrize(
    "said",
    [
        "There is no directive among these pages that caps the number of passengers.",
        "There are no prices anywhere in the manuals.",
        "Whether the exit status is reported could not be found.",
        "How long the crossing takes is not told.",
        "Which of the piers is deeper cannot be seen.",
        "是否有夜班船未能查到。",
        "航程多久没有说明。",
    ],
)
def test_what_was_not_found_is_told_from_a_claim(said: str):
    assert is_absence_remark(said)


@pytest.mark.parametrize(
    "said",
    [
        "There is no bridge among the islands.",
        "The captain would sell the ferry.",
        "How the ferry was built is known to everybody.",
        "船长会在中午离开港口。",
    ],
)
def test_a_claim_is_not_taken_for_a_remark(said: str):
    assert (is_own_inference(said), is_absence_remark(said)) == (False, False)


GONE = "A mayor of that place once bought the vessel with borrowed silver."


@pytest.mark.parametrize("after", ["This means", "This holds since", "That is why", "From this"])
def test_what_the_next_sentence_means_as_a_whole_is_doubted_and_not_taken_out(after: str):
    last = f"{after} the ferry leaves the harbour at noon [S1]."
    found = enforce_citations(f"The captain lives in the town [S1]. {GONE} {last}", {"S1": PAGE})

    assert found.removed == []
    assert [one["reason"] for one in found.doubted if one["text"] == GONE] == ["no_source"]


def test_what_nothing_refers_to_is_taken_out():
    gone = "A mayor of that place once bought the vessel with borrowed silver."
    said = f"The ferry leaves the harbour at noon [S1]. {gone} The captain lives in the town [S1]."

    assert [one["text"] for one in enforce_citations(said, {"S1": PAGE}).removed] == [gone]


OPTIONS = (
    "--free-is-write=no|yes [default: no]\n\nWhen enabled, Helgrind treats freeing of heap memory "
    "as if the memory was written immediately before the free.\n\n"
    "--ignore-thread-creation=<yes|no> [default: no]\n\nControls whether all activities during "
    "thread creation should be ignored. By default enabled only on Solaris."
)


@pytest.mark.parametrize(
    "row",
    [
        r"| --free-is-write=no\|yes | no [S1] | freeing of heap memory is written [S1] |",
        "| --ignore-thread-creation | no (on Solaris: enabled) [S1] | all activities [S1] |",
        "| --ignore-thread-creation=no | no [S1] | all activities during thread creation [S1] |",
        r"| --free-is-write=no\|yes | no[S1] | 把释放当作写[S1] |",
        "| --ignore-thread-creation | no（Solaris 上为 yes）[S1] | 忽略线程创建期间的活动[S1] |",
    ],
)
def test_the_no_of_an_option_is_a_value_and_denies_nothing(row: str):
    table = f"| Option | Default | Effect |\n|---|---|---|\n{row}"
    assert enforce_citations(table, {"S1": OPTIONS}).doubted == []


def test_a_denial_in_a_cell_or_beside_an_option_is_marked():
    texts = {"S1": "The pump is cooled by water. With --dry=no the pump runs dry for 20 minutes."}
    table = "| Thing | Says |\n|---|---|\n| Pump | {} [S1] |"
    for cell in ("the pump is not cooled by water", "--dry=no: the pump is not cooled by water"):
        checked = enforce_citations(table.format(cell), texts)
        assert [one["reason"] for one in checked.doubted] == ["negation"]
