import pytest

from report.finding_parts import MAX_ITEMS, split_finding

WRITTEN = """\
Bees dance [S1]. They cluster in winter [S2].

## Disagreements
- [S1] says 14 °C, [S2] says 12 °C.

## Not found
- The sources do not say who saw it first.
- No source names
  the colony.

## Next questions
1. Who was Karl von Frisch?

## Outcome
answered
"""


def test_a_finding_is_split_at_its_headings():
    parts = split_finding(WRITTEN)

    assert parts.answer == "Bees dance [S1]. They cluster in winter [S2]."
    assert parts.disagreements == ["[S1] says 14 °C, [S2] says 12 °C."]
    assert parts.not_found == [
        "The sources do not say who saw it first.",
        "No source names the colony.",
    ]
    assert parts.questions == ["Who was Karl von Frisch?"]
    assert parts.outcome == "answered"


def test_chinese_headings_are_read():
    parts = split_finding(
        "蜜蜂跳舞 [S1]。\n\n## 没有找到\n- 资料没有说明是谁发现的。\n\n## 结果\n已查尽"
    )

    assert (parts.answer, parts.outcome) == ("蜜蜂跳舞 [S1]。", "exhausted")
    assert parts.not_found == ["资料没有说明是谁发现的。"]


def test_other_headings_belong_to_the_answer():
    text = "## Dances\n\nThey dance [S1].\n\n## Not found\nNone.\n\n## Winter\n\nThey cluster [S2]."
    parts = split_finding(text)

    assert parts.answer == "## Dances\n\nThey dance [S1].\n\n## Winter\n\nThey cluster [S2]."
    assert parts.not_found == []
    assert parts.outcome is None


@pytest.mark.parametrize("text", ["", "They dance [S1].", "- one\n- two"])
def test_a_text_without_headings_is_the_answer(text: str):
    assert split_finding(text) == (text, [], [], [], None)


def test_few_items_are_kept():
    many = "\n".join(f"- Question {number}?" for number in range(50))

    assert (
        len(split_finding(f"They dance [S1].\n\n## Next questions\n{many}").questions) == MAX_ITEMS
    )
