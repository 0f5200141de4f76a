"""What differs between two versions of a report is told sentence by sentence."""

from __future__ import annotations

from report.versions import compare_versions, is_unchanged, list_section_titles

OLD = """Heat pumps work down to −20 °C [S1]. They are loud [S2].

## Cost

- A heat pump costs 12,000 euros [S1].
- <q s="S2">Nobody regrets it.</q>

## Noise in winter [S2]

| model | noise |
|---|---|
| A | 40 dB [S1] |
| B | 50 dB [S1] |
"""


def test_citations_headings_and_order_make_no_difference():
    other = OLD.replace("[S1]", "[S7]").replace("## Cost", "## Price")
    first, rest = other.split("\n\n", 1)
    assert is_unchanged(compare_versions(OLD, f"{rest}\n\n{first}"))
    assert is_unchanged(compare_versions(OLD, OLD))


def test_what_is_added_removed_and_reworded():
    new = OLD.replace("12,000 euros", "14,000 euros on average").replace("They are loud [S2].", "")
    new = new.replace("| B | 50 dB [S1] |", "| B | 50 dB [S1] |\n| C | none known [S3] |")

    changes = compare_versions(OLD, new)

    assert changes["added"] == ["C · none known"]
    assert changes["removed"] == ["They are loud."]
    assert changes["changed"] == [
        ("A heat pump costs 12,000 euros.", "A heat pump costs 14,000 euros on average.")
    ]


def test_a_number_that_changed_is_a_change_and_not_the_same_sentence():
    changes = compare_versions("Sales were 5 million [S1].", "Sales were 6 million [S1].")
    assert changes["changed"] == [("Sales were 5 million.", "Sales were 6 million.")]


def test_each_sentence_is_paired_once_with_the_likest():
    old = "The queen lays 2000 eggs a day [S1]. The queen lays eggs [S1]."
    new = "The queen lays 1500 eggs a day [S1]."
    changes = compare_versions(old, new)
    assert changes["removed"] == ["The queen lays eggs."]
    assert len(changes["changed"]) == 1


def test_chinese_and_code():
    changes = compare_versions(
        "热泵很安静[S1]。\n\n```\na = 1\n```", "热泵很吵[S1]。\n\n```\na = 2\n```"
    )
    assert ("热泵很安静。", "热泵很吵。") in changes["changed"]
    assert not is_unchanged(changes)


def test_sections_are_the_headings_of_the_second_rank():
    body = "Answer.\n\n## Cost\n\na\n\n### Detail\n\nb\n\n## **Noise** in winter [S2]\n\nc"
    assert list_section_titles(body) == ["Cost", "Noise in winter"]
