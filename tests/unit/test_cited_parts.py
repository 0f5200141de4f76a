"""Which part of a sentence or a row a source is cited for."""

from __future__ import annotations

import pytest

from report.markdown.cited_parts import list_cited_parts


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        (
            "Keel draws 400 watts [S1]; Rigg costs 90 euros [S2][S3].",
            [("Keel draws 400 watts ", ("S1",)), ("; Rigg costs 90 euros [S2][S3].", ("S2", "S3"))],
        ),
        ("Keel [S1] draws 400 watts.", [("Keel [S1] draws 400 watts.", ("S1",))]),
        (
            "They differ in price [S1] and weight [S2].",
            [
                ("They differ in price ", ("S1",)),
                ("They differ in price [S1] and weight [S2].", ("S2",)),
            ],
        ),
        (
            "| Keel pump | 400 watts [S1] | 640 euros [S2], [S3] |",
            [(" 400 watts [S1] ", ("S1",)), (" 640 euros [S2], [S3] ", ("S2", "S3"))],
        ),
        ("Nobody says so [?].", [("Nobody says so [?].", ())]),
        ("Nobody says so.", [("Nobody says so.", ())]),
    ],
)
def test_a_part_ends_with_the_markers_of_its_sources(
    said: str, parts: list[tuple[str, tuple[str, ...]]]
):
    assert list(map(tuple, list_cited_parts(said))) == parts
