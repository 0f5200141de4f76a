"""What pages and files declare of themselves is stored with them and told with their sources."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import select

from library.page_metadata import (
    LONGEST_AUTHOR,
    PageMetadata,
    extract_site,
    identify_language,
    to_author_names,
    to_published_date,
)
from library.page_rows import NewPage
from library.store import store_pages
from library.tables import pages
from report.source_registry import CitablePage, register_sources
from storage.engine import read_rows
from tests.cases import each_case
from tools.web.page_text import judge_metadata

GERMAN = (
    "Die Mühle wurde 1775 gebaut und mahlt seit jener Zeit bei jeder Ebbe das Korn der Bauern. "
)
ENGLISH = (
    "The mill was built by the causeway and it has ground the corn of the farmers ever since. "
)


@each_case(
    [
        ("2024-05-31", "2024-05-31"),
        ("2024-05-31T10:00:00Z", "2024-05-31"),
        ("2024-05", "2024-05"),
        ("2024", "2024"),
        ("2024/05/31", "2024-05-31"),
        ("D:20240531120000+02'00'", "2024-05-31"),
        ("May 31, 2024", "2024-05-31"),
        ("2024年5月31日", "2024-05-31"),
        (datetime(2024, 5, 31, 10), "2024-05-31"),
        ("2024-13-01", ""),
        ("2024-02-31", ""),
        ("20240", ""),
        ("soon", ""),
        (None, ""),
    ]
)
def test_a_date_is_kept_as_far_as_it_is_known(stated, date):
    assert to_published_date(stated) == date


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        ("Ada Byron", "Ada Byron"),
        ("Ada  Byron;Bob Ross; Ada Byron", "Ada Byron; Bob Ross"),
        ("admin", ""),
        ("https://a.org/ada", ""),
        ("ada@a.org", ""),
        ("王小明", "王小明"),
        ("; ", ""),
        (None, ""),
    ],
)
def test_authors_are_names(stated, names):
    assert to_author_names(stated) == names


def test_many_authors_are_cut_after_a_name():
    told = to_author_names("; ".join(f"Author Number {n}" for n in range(20)))

    assert len(told) <= LONGEST_AUTHOR
    assert told.endswith("Author Number 5")


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("https://www.Example.org:8080/a", "example.org"),
        ("https://docs.example.org/", "docs.example.org"),
        ("/docs/bees.pdf", ""),
        ("http://[broken", ""),
    ],
)
def test_a_site_is_a_host_without_www(address, site):
    assert extract_site(address) == site


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (ENGLISH * 2, "", "en"),
        (ENGLISH * 2, "en-GB", "en"),
        (GERMAN * 2, "de_DE", "de"),
        (GERMAN * 2, "", ""),
        ("磨坊建于一七七五年，位于堤道旁边。", "en", "zh"),
        ("水車は潮の満ち引きで回ります。", "en", "ja"),
        ("물레방아는 조수로 돌아갑니다.", "", "ko"),
        (f"{ENGLISH * 2} 磨坊", "", "en"),
        (ENGLISH * 2, "zh", "en"),
        ("", "", ""),
    ],
)
def test_the_script_decides_of_the_language_before_a_declaration(text, declared, language):
    assert identify_language(text, declared) == language


def test_a_web_page_is_judged_with_what_it_declares():
    declared = PageMetadata("", "2024-05-31", "Ada Byron; admin", "en")

    assert judge_metadata(
        "https://www.reuters.com/mill", "Mill", ENGLISH, declared
    ) == PageMetadata("reuters.com", "2024-05-31", "Ada Byron", "en", "news")


@pytest.mark.usefixtures("either")
async def test_a_source_tells_what_is_stored_of_its_page():
    known = PageMetadata("a.org", "2024-05-31", "Ada", "en", "forum")
    page = NewPage(title="Mill", place="", text=ENGLISH, metadata=known)
    (id,) = await store_pages("me/", "web", "https://a.org/mill", [page])

    (source,) = await register_sources("t1", [CitablePage(id, "Mill", "https://a.org/mill", "web")])

    (row,) = await read_rows(select(*(pages.c[name] for name in PageMetadata._fields)))
    assert tuple(row) == known
    told = {name: source.get(name) for name in PageMetadata._fields}
    assert told == known._asdict()


@pytest.mark.usefixtures("either")
async def test_a_file_is_the_persons_own_and_its_site_is_its_folder():
    page = NewPage(title="Mill", place="page=1", text=ENGLISH)
    (id,) = await store_pages("me/", "file", "0" * 64, [page])

    cited = CitablePage(id, "Mill", "/docs/mills/eling.pdf#page=1", "file")
    (source,) = await register_sources("t1", [cited])

    assert (source["site"], source["genre"]) == ("mills", "file")
    assert "published" not in source


@pytest.mark.usefixtures("either")
async def test_what_is_remembered_or_computed_has_no_genre():
    for kind in ("chat", "computed"):
        (source,) = await register_sources("t1", [CitablePage(kind, "Mill", "", kind)])
        assert "genre" not in source
