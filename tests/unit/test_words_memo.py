"""What was worked out for a short text is looked up, and common texts stay when room is short."""

from __future__ import annotations

from text.words import Memo


def counted(most: int) -> tuple[Memo[str], list[str]]:
    """Return a memo of upper case, and the texts that it has worked on."""
    asked: list[str] = []

    def work(text: str) -> str:
        asked.append(text)
        return text.upper()

    return Memo(work, most, longest=5), asked


def test_a_text_is_worked_on_once():
    memo, asked = counted(10)

    assert [memo["bee"], memo["bee"]] == ["BEE", "BEE"]
    assert asked == ["bee"]


def test_a_long_text_is_not_kept():
    memo, asked = counted(10)

    assert [memo["a swarm"], memo["a swarm"]] == ["A SWARM", "A SWARM"]
    assert asked == ["a swarm", "a swarm"]


def test_what_is_asked_for_again_stays_while_rare_texts_go():
    memo, asked = counted(10)

    for number in range(100):
        memo[f"{number}"], memo["bee"]

    assert asked.count("bee") == 1
    assert len(memo) <= 10
    assert memo["0"] == "0"
    assert asked.count("0") == 2
