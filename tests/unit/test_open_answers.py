"""When a report is told to leave a part of the question open."""

from __future__ import annotations

import pytest

from nodes.report_draft import ReportDraft
from nodes.reporter import NOTHING, _leaves_part_open
from report.checks.attribution import CheckedText

ASKED = "Who built the lighthouse, and how high is it?"
BODY = "The sources do not say how high it is. It was built by Lund [S1]."


@pytest.mark.parametrize(
    ("checked", "notices", "told"),
    [
        (CheckedText(BODY, ["S1"], [], [], []), ["extractive"], True),
        (CheckedText(BODY, ["S1"], [], [], []), ["extractive", "unsure"], False),
        (NOTHING._replace(body="The sources do not say how high it is."), [], False),
    ],
)
def test_a_part_is_open_only_where_the_rest_is_answered(
    checked: CheckedText, notices: list[str], told: bool
):
    assert _leaves_part_open(ReportDraft(notices=notices), ASKED, checked) is told
