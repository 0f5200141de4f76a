"""What a search of the tools shows, over a reference page with directives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from library import store as pages
from library.page_retrieval import FoundPage
from library.page_rows import NewPage
from library.page_sizing import size_pages
from text.reading_windows import section_around
from text.sentences import Span
from tools import search_answer
from tools.agent_tools import make_research_tools
from tools.passage_choice import PassageRequest, rank_passages

OWNER = "local/"
LONG = "https://mills.example.org/all"
URL = "https://docs.gate.example/mod_gate.html"
NAMES = [
    f"Gate{word}"
    for word in ("Alarm", "Bell", "Colour", "Door", "Entry", "Fence", "Guard", "Hinge", "Key")
]


def directive(name: str, says: str) -> str:
    return (
        f"## {name} Directive\n\nSyntax:; {name} value.\n\nContext:; server config.\n\n{says}\n\n"
        f"### Example\n\n{name} on\n\n"
    )


def reference() -> list[NewPage]:
    listed = "\n\n".join(f"- {name}" for name in [*NAMES, "GateLockPolicy", "GateLock"])
    filler = "The gate settings of the harbour are read when the server starts and lock the gate. "
    parts = [
        f"# Module mod_gate\n\nThis module guards gates.\n\n### Directives\n\n{listed}\n\n",
        "".join(directive(name, filler * 6) for name in NAMES[:5]),
        "".join(directive(name, f"{filler * 5} See GateLock settings.") for name in NAMES[5:])
        + "## GateLock Directive\n\nSyntax:; GateLock value.\n\nIt locks the gate.\n\n",
        "The values are as follows, and each has its use.\n\nThe strict value shuts every gate at "
        "dusk.\n\n### Example\n\nGateLock strict\n\n"
        + directive("GateLockPolicy", "The lenient policy lets boats wait. " * 9),
    ]
    return [
        NewPage(
            title=f"Module mod_gate ({at})" if at > 1 else "Module mod_gate",
            place=f"part={at}" if at > 1 else "",
            text=text.strip(),
        )
        for at, text in enumerate(parts, start=1)
    ]


MUD = "Mud is wet. " * 200

Use = Callable[..., Awaitable[str]]


@pytest.fixture
async def use() -> Use:
    await pages.store_pages(OWNER, "web", URL, reference(), group="docs.gate.example")
    other = NewPage(title="Forum", place="", text="I set GateLock to strict, and it shut.")
    await pages.store_pages(OWNER, "web", "https://forum.example/1", [other], group="forum.example")
    tools = {tool.name: tool for tool in make_research_tools(OWNER, web=False)}

    async def call(name: str, **arguments: Any) -> str:
        return str(await tools[name].ainvoke(arguments))

    return call


@pytest.mark.parametrize("query", ["GateLock", "GateLock recommended settings of the gate server"])
async def test_the_section_that_a_name_heads_comes_whole_across_pages(use: Use, query: str):
    found = await use("search", query=query, source=URL)

    assert "## GateLock Directive" in found
    assert "The strict value shuts every gate at dusk." in found
    assert "- GateBell\n" not in found
    assert "## GateAlarm Directive" not in found


async def test_terms_that_no_passage_contains_are_named_first(use: Use):
    found = await use("search", query="HSTS gate settings", source=URL)
    chinese = await use("search", query="HSTS 的 GateLock 设置", source=URL)

    assert found.split("\n")[0] == "No passage contains: HSTS."
    assert chinese.split("\n")[0] == "没有段落包含：HSTS。"


async def test_what_a_passage_contains_is_not_named(use: Use):
    assert (await use("search", query="GateLock", source=URL)).startswith("<pages>")


async def test_one_site_is_searched_alone(use: Use):
    for site in ("docs.gate.example", "https://docs.gate.example/", "www.docs.gate.example"):
        found = await use("search", query="GateLock strict", source=site)
        assert "shuts every gate" in found or "shown above already" in found
        assert "I set GateLock" not in found


async def test_a_site_is_no_document_to_read(use: Use):
    answer = await use("read", source="docs.gate.example")

    assert answer.startswith("Refused: no document is named 'docs.gate.example'")
    assert URL in answer


async def test_any_part_stands_for_the_whole_document(use: Use):
    await use("search", query="GateLockPolicy", source=URL)
    await use("search", query="GateAlarm", source=URL)

    outlines = {await use("outline", source=one) for one in ("S1", "S2", URL, f"{URL}#part=3")}
    by_part = await use("search", query="GateHinge", source="S1")
    read = await use("read", source="S1", section="GateColour Directive")

    assert len(outlines) == 1
    assert "## GateHinge Directive" in by_part
    assert "## GateColour Directive" in read


@pytest.mark.parametrize("words", ["prices of tickets in summer", "an example of ticket prices"])
async def test_a_section_that_there_is_not_is_refused_with_those_that_are(use: Use, words: str):
    answer = await use("read", source=URL, section=words)

    assert answer.startswith("Refused: 'Module mod_gate' has no section")
    assert "GateLockPolicy Directive" in answer


async def test_a_page_of_which_a_part_was_shown_is_read_whole(use: Use):
    await use("search", query="GateLockPolicy", source=URL)

    read = await use("read", source=URL)

    assert "The strict value shuts every gate at dusk." in read
    assert "The lenient policy" not in read


def ranked(query: str, *texts: str, literally: bool = False) -> list[str]:
    found = [FoundPage(str(at), "web", "Page", "", text, 0.0) for at, text in enumerate(texts)]
    wanted = PassageRequest([query], 1_000, literally=literally)
    return [cut.span.text for cut in rank_passages(found, wanted)]


def test_a_list_of_names_comes_behind_a_sentence():
    names = "\n\n".join(f"- Lock {name}" for name in NAMES)
    sentence = "Among the many things that a keeper of the harbour does at dusk is to lock it."

    assert ranked("lock of the gate", names, sentence, *["Boats wait."] * 9)[0] == sentence


def test_a_passage_with_a_rare_term_comes_before_those_without():
    weak = "In a long text on boats, tides, keepers and bells, HSTS is named only once, at the end."
    strong = "Gate settings: the gate settings are settings of the gate."
    others = ["Gate settings are read.", "Settings of a gate.", *["Boats wait."] * 9]

    assert ranked("HSTS gate settings", strong, weak, *others, literally=True)[0] == weak
    assert ranked("HSTS gate settings", strong, weak, *others)[0] == strong


async def test_an_answer_is_short(use: Use):
    assert len(await use("search", query="how the gate is locked", source=URL)) < 7_000


def test_a_term_that_the_chosen_hits_lack_is_shown_where_it_stands():
    text = f"The valve_alpha list has a weight.\n\n{MUD}\n\nMind valve_omega: it rests."
    page = FoundPage("p1", "web", "Valves", "https://v.example/1", text, 1.0)
    chosen = [(page, Span(0, 34, text[:34]))]

    found = search_answer._find_missing("valve_alpha valve_omega valve_none", [page], chosen)

    assert len(found) == 1
    assert "Mind valve_omega" in found[0][1].text


async def test_of_a_long_document_only_hits_that_may_be_shown_are_widened(
    use: Use, monkeypatch: pytest.MonkeyPatch
):
    text = "\n\n".join(f"Mill {n} of the river has a green wheel of oak." for n in range(9_000))
    await pages.store_pages(
        OWNER, "web", LONG, size_pages([NewPage(title="M", place="", text=text)])
    )
    widened: list[Span] = []

    def widen(page: str, hit: Span) -> Span:
        widened.append(hit)
        return section_around(page, hit)

    monkeypatch.setattr(search_answer, "section_around", widen)

    found = await use("search", query="green wheel of oak", source=LONG)

    assert "green wheel of oak" in found
    assert 0 < len(widened) < 100


def test_the_name_of_a_site_does_not_decide_what_answers_on_it():
    texts = {
        "files": "The file of GateHub is kept in its folder.",
        "ebb": "At ebb the flap is lifted by the tide keeper, one hour before low water.",
    }
    texts |= {f"bell{n}": f"Bell {n} rings when boat {n} passes the keeper." for n in range(9)}
    found = [
        FoundPage(name, "web", name, f"https://docs.gatehub.example/{name}", text, 1.0)
        for name, text in texts.items()
    ]
    wanted = PassageRequest(
        ["when the flap is lifted by the tide at ebb, GateHub"], 900, literally=True
    )

    best = rank_passages(found, wanted)[0]

    assert found[best.page].title == "ebb"


async def test_no_term_is_called_absent_where_nothing_was_searched(use: Use):
    assert "No passage contains" not in await use("search", query="GateBell", scope="files")
