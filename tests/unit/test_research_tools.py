"""What a model may do while it researches: read on in documents, and follow links."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from calls.gateway import work
from graph.records import Source
from library import store as pages
from library.page_rows import NewPage
from tests.fake_model import Script
from tests.places import runtime
from tests.unit.test_toolbox import STATE, stopped
from tools.folder_ingestion import ingest_folder
from tools.toolbox import RESEARCHER_TOOLS

OWNER = "local/"
GUIDE = """\
# Harbour guide

The harbour opens at dawn.

## Gates

The north gate is green. The south gate is red.

## Keepers

### Night

Maya keeps the gates at night.
"""


@pytest.fixture
async def folder(tmp_path: Path) -> str:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text(GUIDE)
    return (await ingest_folder(OWNER, docs, lambda _: None)).root


async def told(
    script: Script,
    root: str,
    *calls: tuple[str, dict[str, str]],
    sources: dict[str, Source] | None = None,
) -> list[str]:
    """Let a model use tools; return what they said."""
    asked = [
        AIMessage(
            "",
            tool_calls=[{"name": name, "args": args, "id": str(at)}],
            response_metadata={"finish_reason": "tool_calls"},
        )
        for at, (name, args) in enumerate(calls)
    ]
    script.on("researcher", *asked, stopped("The north gate is green."))
    message = HumanMessage('<step title="gates">Find the gates.</step>')
    state = {**STATE, "question": "Which gate is green?"}
    await work(
        state,
        runtime(files=[root] if root else []),
        "researcher",
        "Write.",
        [message],
        RESEARCHER_TOOLS,
        sources=sources or {},
    )
    return [str(one.text) for one in script.asked[-1][1] if one.type == "tool"]


async def test_a_section_of_a_document_is_read_by_its_title(script: Script, folder: str):
    (gates,) = await told(script, folder, ("read", {"source": "guide.md", "section": "gates"}))

    assert "The north gate is green." in gates
    assert "Maya" not in gates


async def test_what_stands_around_some_words_is_read(script: Script, folder: str):
    (night,) = await told(script, folder, ("read", {"source": "guide.md", "around": "Maya keeps"}))

    assert "Maya keeps the gates at night." in night


async def test_lines_of_a_document_are_read(script: Script, folder: str):
    (lines,) = await told(script, folder, ("read", {"source": "guide.md", "lines": "1-3"}))

    assert "opens at dawn" in lines
    assert "green" not in lines


async def test_what_the_conversation_shows_is_not_read_again(script: Script, folder: str):
    first, second = await told(
        script, folder, ("read", {"source": "guide.md"}), ("read", {"source": "guide.md"})
    )

    assert "opens at dawn" in first
    assert second == "All that was found is shown above already: guide.md."


async def test_an_outline_has_the_sections_with_their_sizes(script: Script, folder: str):
    (outline,) = await told(script, folder, ("outline", {"source": "guide.md"}))

    assert "- Gates (" in outline
    assert "- Night (" in outline


async def test_a_search_of_one_document_finds_its_parts_alone(script: Script, folder: str):
    (found,) = await told(script, folder, ("search", {"query": "green gate", "source": "guide.md"}))

    assert "The north gate is green." in found


@pytest.mark.parametrize(
    "call",
    [
        ("read", {"source": "S99"}),
        ("read", {"source": ""}),
        ("read", {"source": "guide.md", "section": "zzz"}),
        ("read", {"source": "guide.md", "lines": "900-950"}),
        ("read", {"source": "guide.md", "lines": "all of it"}),
        ("outline", {"source": "nothing.pdf"}),
        ("links", {"source": "nothing"}),
        ("search", {"query": "gate", "source": "nothing"}),
    ],
)
async def test_what_there_is_not_is_refused_in_words(
    script: Script, folder: str, call: tuple[str, dict[str, str]]
):
    (answer,) = await told(script, folder, call)

    assert answer.startswith("Refused: ")


async def web_page(url: str, text: str, links: list[str]) -> dict[str, Source]:
    page = NewPage(title="Gates", place="", text=text, links=links)
    (name,) = await pages.store_pages(OWNER, "web", url, [page])
    return {"S1": Source(id="S1", page=name, title="Gates", location=url, kind="web")}


async def test_the_links_of_a_page_are_listed(script: Script):
    known = await web_page("https://a.b/gates", "Gates.", ["https://a.b/keys Keys of the gates"])

    (links,) = await told(script, "", ("links", {"source": "S1"}), sources=known)

    assert links == "<links>\nhttps://a.b/keys Keys of the gates\n</links>"


@pytest.mark.parametrize(
    "url", ["https://evil.example/?q=secret", "https://a.b/keys?x=secret", "file:///etc/passwd", ""]
)
async def test_an_address_that_nothing_names_is_not_opened(script: Script, url: str):
    known = await web_page("https://a.b/gates", "Gates.", ["https://a.b/keys Keys"])

    (answer,) = await told(script, "", ("open", {"url": url}), sources=known)

    assert answer.startswith("Refused: no page that was read links to it")


async def test_a_linked_page_is_opened(script: Script, monkeypatch: pytest.MonkeyPatch):
    from library.recall import read_pages  # noqa: PLC0415
    from tools import research_tools  # noqa: PLC0415

    known = await web_page("https://a.b/gates", "Gates.", ["https://a.b/keys Keys"])
    linked = await web_page("https://a.b/keys", "The key of the north gate is of brass.", [])

    async def read(_here: object, urls: list[str], _problems: object) -> object:
        assert urls == ["https://a.b/keys"]
        return await read_pages(OWNER, [linked["S1"]["page"]])

    monkeypatch.setattr(research_tools, "read_web_pages", read)

    (page,) = await told(script, "", ("open", {"url": "https://a.b/keys"}), sources=known)

    assert "The key of the north gate is of brass." in page


MANUAL = "\n\n".join(
    f"gate_{name} (default: {name[:1]})\n\n{'The gate follows this rule at every tide. ' * 30}"
    for name in ("alarm", "bell", "lock", "door")
)


async def test_the_entry_that_begins_with_some_words_is_read_with_its_beginning(
    script: Script, tmp_path: Path
):
    docs = tmp_path / "docs"
    docs.mkdir()
    before = "Set gate_lock (default: l) in the file of the gate.\n\n"
    (docs / "manual.txt").write_text(before + MANUAL)
    root = (await ingest_folder(OWNER, docs, lambda _: None)).root

    (entry,) = await told(
        script, root, ("read", {"source": "manual.txt", "around": "gate_lock (default:"})
    )

    assert "gate_lock (default: l)\n\nThe gate follows" in entry


async def test_words_that_are_nowhere_are_searched_for(script: Script, folder: str):
    (found,) = await told(
        script, folder, ("read", {"source": "guide.md", "around": "who keeps the gates at night"})
    )

    assert "Maya keeps the gates at night." in found


async def test_nothing_is_called_shown_that_was_not_found(script: Script, folder: str):
    call = ("search", {"query": "xylophone tuning", "source": "guide.md"})

    first, second = await told(script, folder, call, call)

    assert "shown above" not in first
    assert "shown above" not in second or "<page" in first
