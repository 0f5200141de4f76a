"""What its sources deny, and names in code that they do not have, are marked in a statement."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations

GUIDE = (
    "The sweeper does not need a licence key, so it can be started from any deck. The night watch "
    "never opens the outer gates by itself. Unlike the pump, spare tapes do not directly hold "
    "back the cleaning of the heads. The crew may open the inner gates. Set `reel_timeout_ms` or "
    "`--slow-start` to wait. The reel has 48 tracks. The captain does not sign the log unless the "
    "mate asks. It is not only the crew who clean the heads of the drive every week."
)
ZH = "升级前请先备份磁带。手册不建议用钢丝刷清洁录音磁头。船员可以打开内闸门。磁头不必每天清洁。"
TEXTS = {"S1": GUIDE, "S2": ZH}


def doubts(text: str) -> list[str]:
    return [one["reason"] for one in enforce_citations(text, TEXTS).doubted]


@pytest.mark.parametrize(
    "said",
    [
        "The sweeper needs a licence key and is therefore started from the bridge [S1].",
        "The night watch opens the outer gates by itself [S1].",
        "| Thing | What it does |\n|---|---|\n| Tapes | directly hold back the cleaning [S1] |",
        "手册建议用钢丝刷清洁录音磁头[S2]。",
    ],
)
def test_what_the_sources_deny_is_marked(said: str):
    assert doubts(said) == ["negation"]


@pytest.mark.parametrize(
    "said",
    [
        "The sweeper needs no licence key and can be started from any deck [S1].",
        "The crew opens the inner gates [S1].",
        "The captain signs the log where the mate asks for it [S1].",
        "The crew clean the heads of the drive every week [S1].",
        "手册不建议用钢丝刷清洁磁头[S2]。",
        "船员可以打开内闸门[S2]。",
    ],
)
def test_what_the_sources_say_is_not_marked(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "The reel has 48 tracks, as `reel_track_count` shows [S1].",
        "Set `--quick-start` to wait [S1].",
        "把 `reel_wait_ms` 设为较大的值[S1]。",
    ],
)
def test_a_name_in_code_that_no_source_has_is_marked(said: str):
    assert doubts(said) == ["name"]


@pytest.mark.parametrize(
    "said",
    [
        "Set `REEL_TIMEOUT_MS` to wait [S1].",
        "Set `tapectl --slow-start` to wait [S1].",
        "Set one of `reel_*` to wait [S1].",
        "Set `--<mode>-start` to wait [S1].",
    ],
)
def test_a_name_in_code_that_a_source_has_is_not_marked(said: str):
    assert doubts(said) == []


def test_a_name_in_code_may_stand_in_another_part_of_the_document():
    texts = {"S1": GUIDE, "S3": "Use `spool_depth` to set how many tapes wait in the reel."}
    names = {"S1": "Handbook — Gates", "S3": "Handbook — Settings"}
    said = "The reel has 48 tracks, and `spool_depth` tapes [S1]."

    assert enforce_citations(said, texts, "", names).doubted == []
    assert enforce_citations(said, texts, "", names | {"S3": "Novel"}).doubted != []
