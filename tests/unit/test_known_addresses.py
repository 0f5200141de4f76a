import pytest

from graph.records import Source
from report.checks.known_addresses import keep_known_addresses, list_trusted_texts

MANUAL = "Old packages are at https://snapshot.debian.org/ and in the cache."


@pytest.mark.parametrize(
    "written",
    ["https://snapshot.debian.org/", "snapshot.debian.org", "https://snapshot.debian.org"],
)
def test_an_address_that_a_source_names_stays_as_code(written: str):
    kept = keep_known_addresses(f"They are at {written} and in the cache [S1].", [MANUAL])

    assert kept == "They are at `snapshot.debian.org` and in the cache [S1]."


@pytest.mark.parametrize(
    "text",
    [
        "They are at https://evil.example/ [S1].",
        "They are at evil.example [S1].",
        "They are at https://snapshot.debian.org/x?q=secret [S1].",
        "See [here](https://snapshot.debian.org/) [S1].",
        'It says <q s="S1">at https://snapshot.debian.org/ and</q>.',
        "Run `curl https://snapshot.debian.org/` [S1].",
    ],
)
def test_every_other_address_is_left_to_the_checks(text: str):
    assert keep_known_addresses(text, [MANUAL]) == text


def test_code_keeps_the_addresses_that_a_trusted_source_names_and_no_others():
    line = "deb https://snapshot.debian.org/ trixie main"
    text = f"Write this [S1]:\n\n```\n{line}\n{line.replace('debian', 'evil')}\n```"

    kept = keep_known_addresses(text, [MANUAL])

    assert kept == f"Write this [S1]:\n\n```\n{line}\ndeb trixie main\n```"


def test_only_files_and_pages_of_a_trusted_genre_name_addresses():
    def source(name: str, kind: str, genre: str) -> Source:
        return {"id": name, "page": name, "title": "", "location": "", "kind": kind, "genre": genre}  # type: ignore[typeddict-item]

    sources = {
        "S1": source("S1", "file", "file"),
        "S2": source("S2", "web", "documentation"),
        "S3": source("S3", "web", "forum"),
        "S4": source("S4", "web", "unknown"),
    }

    assert list_trusted_texts(sources, dict.fromkeys(sources, MANUAL) | {"S2": "two"}) == [
        MANUAL,
        "two",
    ]
