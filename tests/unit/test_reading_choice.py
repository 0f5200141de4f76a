"""What a researcher reads: whole documents where they fit, else hits with their sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from graph.context import Context
from graph.records import ShownSpan
from library import store as pages
from library.page_rows import NewPage
from runs.call_site import CallSite
from tests.places import new_process
from text.keyword_ranking import ScoredPassage
from text.sentences import Span
from tools import reading_choice
from tools.evidence import Evidence, SearchRequest, gather_evidence
from tools.folder_ingestion import ingest_folder
from tools.reading_choice import list_spans, load_passages, reading_room

OWNER = "me/"
HERE = CallSite(OWNER, "t1", "t1-1", "s1", "0")
TIDES = "\n\n".join(f"Tide {n} is told of in the book of the harbour." for n in range(400))
BRIDGES = "\n\n".join(f"Bridge {n} is built of stone, rope and wood." for n in range(400))


@pytest.fixture(autouse=True)
def by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by words alone, and no web."""
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "none")
    new_process()


@pytest.fixture
async def folder(tmp_path: Path) -> str:
    """A folder with two short files and two long ones, read in."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "gate.md").write_text(
        "# Gate\n\nThe gate is green.\n\n## Owner\n\nMaya Lindqvist has it."
    )
    (docs / "mill.md").write_text(
        f"# Mill\n\n{TIDES}\n\n## Keeper\n\nMaya Lindqvist was born in Oslo."
    )
    (docs / "rope.md").write_text(f"# Rope\n\n{BRIDGES}")
    return (await ingest_folder(OWNER, docs, lambda _: None)).root


async def read(query: str, root: str, room: int, seen: Sequence[ShownSpan] = ()) -> Evidence:
    context = Context(files=[root])
    wanted = SearchRequest([query], about=query, web=False, max_tokens=room, widely=True, seen=seen)
    return await gather_evidence(HERE, context, wanted)


async def test_files_that_fit_are_read_whole_whatever_is_searched_and_begin_every_prompt(
    folder: str,
):
    gate, rope = [await read(query, folder, 40_000) for query in ("green gate", "rope bridge")]

    assert gate.passages == rope.passages
    assert all(passage["shared"] for passage in gate.passages)
    text = "\n\n".join(passage["text"] for passage in gate.passages)
    assert "Tide 399" in text
    assert "Bridge 399" in text
    assert text.index("Gate") < text.index("Tide 0") < text.index("Bridge 0")


async def test_of_files_that_do_not_fit_hits_are_read_with_their_sections(folder: str):
    evidence = await read("Who has the green gate?", folder, 1_000)

    text = "\n\n".join(passage["text"] for passage in evidence.passages)
    assert "The gate is green." in text
    assert "Bridge 200" not in text
    assert len(text) < 6_000


async def test_what_a_hit_names_is_followed(folder: str):
    evidence = await read("Where was the owner of the green gate born?", folder, 1_000)

    assert "born in Oslo" in "\n".join(passage["text"] for passage in evidence.passages)


async def test_a_short_document_is_read_whole_where_it_is_hit(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    parts = [f"## Part {n}\n\n" + f"Sentence of part {n}. " * 40 for n in range(8)]
    (docs / "notes.md").write_text(
        "\n\n".join(["# Notes", *parts, "## Pump\n\nThe hydraulic pump is red."])
    )
    others = "\n\n".join(f"Pump {n} has the colour that it was given." for n in range(800))
    (docs / "pumps.md").write_text(f"# Pumps\n\n{others}")
    root = (await ingest_folder(OWNER, docs, lambda _: None)).root

    evidence = await read("Which colour has the hydraulic pump?", root, 3_000)

    text = "\n\n".join(passage["text"] for passage in evidence.passages)
    assert [n for n in range(8) if f"Sentence of part {n}." in text] == [*range(8)]
    assert text.index("part 0.") < text.index("part 7.") < text.index("The hydraulic pump is red.")


async def test_a_name_is_followed_to_where_its_own_page_describes_it(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    quiet = "mill, harbour and market were quiet, and nobody wrote anything down. " * 8
    years = [f"In the year {n} {quiet}" for n in range(1800, 1860)]
    years.insert(0, "The green gate is owned by Maya Lindqvist. " + "It is a gate. " * 40)
    years.insert(6, "Lindqvist (Maya) came from Oslo. " + "She sold salt for years. " * 20)
    (docs / "annals.md").write_text("\n\n".join(["# Annals", *years]))
    root = (await ingest_folder(OWNER, docs, lambda _: None)).root

    evidence = await read("Whose is the green gate?", root, 900)

    assert "came from Oslo" in "\n".join(passage["text"] for passage in evidence.passages)


async def test_what_the_first_search_showed_is_read_alike_by_every_step(folder: str):
    found = (await read("tide 7", folder, 900)).sources.values()
    mill = next(source for source in found if "Mill" in source["title"])
    found_rope = (await read("bridge 7", folder, 900)).sources.values()
    seen = [ShownSpan(page=mill["page"], start=0, end=40)]

    rope = next(source for source in found_rope if "Rope" in source["title"])
    seen.append(ShownSpan(page=rope["page"], start=0, end=40))

    steps = [await read(query, folder, 1_500, seen) for query in ("tide 9", "bridge 300 of stone")]

    shared = [[one for one in step.passages if one.get("shared")] for step in steps]
    assert shared[0] == shared[1] != []


async def test_what_every_step_reads_is_not_read_again_with_the_hits_of_one(folder: str):
    seen = []
    for query in ("tide 7", "tide 200", "tide 390", "bridge 200"):
        found = await read(query, folder, 200)
        spans = list_spans(found.passages, found.sources)
        seen += [one | {"start": one["start"] + 60, "end": one["end"] - 30} for one in spans]

    evidence = await read("book of the harbour of tide 7 and bridge 200", folder, 3_000, seen)

    shared = [one["text"] for one in evidence.passages if one.get("shared")]
    own = [one["text"] for one in evidence.passages if not one.get("shared")]
    told = re.findall(r"(?:Tide|Bridge) \d+ is", "\n".join([*shared, *own]))
    assert shared
    assert own
    assert len(told) == len({*told})


async def test_a_page_of_the_web_that_fits_is_read_whole():
    text = f"The gate is green.\n\n{TIDES}"
    page = NewPage(title="Gates", place="", text=text)
    await pages.store_pages(OWNER, "web", "https://a.b/gate", [page])

    wanted = SearchRequest(["gate"], about="gate", web=False, max_tokens=40_000, widely=True)
    evidence = await gather_evidence(HERE, Context(), wanted)

    assert "Tide 399" in "\n".join(passage["text"] for passage in evidence.passages)


async def test_references_stand_for_the_passages_they_were_made_of(folder: str):
    evidence = await read("green gate", folder, 40_000)

    spans = list_spans(evidence.passages, evidence.sources)

    assert await load_passages(OWNER, spans, evidence.sources) == evidence.passages
    assert "text" not in str(spans)


async def test_the_built_in_model_is_shown_few_passages():
    assert (
        await reading_room("researcher", Context(models={"default": "extractive:"}), 2_000) == 2_000
    )


@pytest.mark.parametrize(
    ("choices", "room"),
    [({}, 9_999), ({"max_cost": 0.1}, 2_000), ({"max_cost": 4.0}, 40_000)],
)
async def test_what_is_read_follows_what_the_run_may_spend(
    monkeypatch: pytest.MonkeyPatch, choices: dict[str, float], room: int
):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    context = Context(models={"default": "openai:gpt-4o"}, **choices)  # type: ignore[arg-type]

    assert await reading_room("researcher", context, 2_000) == room


async def test_documents_that_were_found_and_not_read_are_named(folder: str):
    evidence = await read("tide 7 of the book", folder, 300)

    assert set(evidence.skipped) <= {"Gate", "Mill", "Rope"}
    assert "Mill" not in evidence.skipped
    assert (await read("green gate", folder, 40_000)).skipped == ()


async def test_a_long_page_of_the_web_is_read_whichever_part_of_it_was_and_named_without_a_part():
    names = ("Helgrind", "Massif — a profiler", "Callgrind", "Lackey")
    for name in names:
        rules = [" ".join(f"{name[:4]} rule {at}{n} is dull." for n in range(400)) for at in "abc"]
        new = [NewPage(title=name, place="", text=f"The {name} gate is green.\n\n{rules[0]}")]
        new += [
            NewPage(title=f"{name} ({at})", place=f"part={at}", text=f"{name}: {rules[at - 1]}")
            for at in (2, 3)
        ]
        await pages.store_pages(OWNER, "web", f"https://a.b/{name[:4]}", new)

    asked = [f"{name} rule" for name in names]
    wanted = SearchRequest(asked, about="rule", web=False, max_tokens=300, widely=True)
    evidence = await gather_evidence(HERE, Context(), wanted)

    read = {re.sub(r" \(\d\)$", "", one["title"]) for one in evidence.sources.values()}
    assert 0 < len(read) < len(names)
    assert {*evidence.skipped} == {*names} - read


async def test_a_step_reads_on_in_what_its_own_search_finds_and_not_in_what_the_first_one_did(
    tmp_path: Path,
):
    docs = tmp_path / "docs"
    docs.mkdir()
    words = "rope and stone of the old bridge"
    for name in ("first", "second", "third"):
        text = "\n\n".join(f"The {name} paragraph {n} is about {words}." for n in range(300))
        (docs / f"{name}.md").write_text(f"# The {name} book\n\n{text}")
    root = (await ingest_folder(OWNER, docs, lambda _: None)).root
    found = await read("third", root, 200)
    third = next(one for one in found.sources.values() if "third" in one["title"])
    seen = [ShownSpan(page=third["page"], start=0, end=60)]

    evidence = await read("second", root, 3_000, seen)

    own = [one["text"] for one in evidence.passages if not one.get("shared")]
    assert any("second paragraph" in one for one in own)
    assert not any("third paragraph" in one for one in own)
    assert any("The third book" in one["text"] for one in evidence.passages if one.get("shared"))


def test_the_best_hits_of_each_query_are_read_by_turns_with_those_of_all_together():
    texts = [f"boats, ropes and tides of pier {n}" for n in range(40)] + ["The siren has tallow."]
    cuts = [ScoredPassage(0, Span(n, n + 1, ""), text, 0.0) for n, text in enumerate(texts)]

    read = reading_choice.put_best_first(cuts, ["boats and ropes of pier 3", "siren tallow"])

    assert sorted(one.span.start for one in read) == [*range(41)]
    assert read[0] == cuts[0]
    assert read.index(cuts[40]) < 2 * (reading_choice.PER_QUERY + 1)
    assert read.index(cuts[3]) < 4
