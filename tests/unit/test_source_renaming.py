"""What is carried to another thread cites the same pages under the numbers they have there."""

from __future__ import annotations

from graph.records import Source
from report.source_registry import CitablePage, register_sources
from report.source_renaming import carry_sources, rename_sources


def test_ids_are_swapped_at_once_in_texts_and_lists_and_names_stay():
    finding = {
        "title": "S1 and S2",
        "text": 'Amazon S1 is cheap [S1]. <q s="S2">S1 it says</q> [S2][S9].',
        "sources": ["S1", "S2", "S9"],
        "doubted": "“cheap” [S2]",
        "status": "ok",
    }

    renamed = rename_sources(finding, {"S1": "S2", "S2": "S1"})

    assert renamed == {
        "title": "S1 and S2",
        "text": 'Amazon S1 is cheap [S2]. <q s="S1">S1 it says</q> [S1][S9].',
        "sources": ["S2", "S1", "S9"],
        "doubted": "“cheap” [S1]",
        "status": "ok",
    }


async def test_a_page_is_carried_under_the_number_it_has_in_the_thread(database: None):
    del database
    await register_sources("t2", [CitablePage("other", "Other", "o", "file")])
    source = Source(id="S1", page="p", title="P", location="p.md", kind="web")

    carried = await carry_sources("t2", [source])

    assert carried["S1"].items() >= {**source, "id": "S2"}.items()
    assert await carry_sources("t2", [source]) == carried
