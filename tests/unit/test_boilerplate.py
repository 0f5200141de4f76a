import pytest

from library.page_retrieval import search_pages
from library.page_rows import NewPage
from library.store import store_pages
from text.boilerplate import is_name_list, is_navigation_page

ME = "local/"
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
LINKS = "\n".join(f"- Valve {name}" for name in NAMES)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Valves", "#REDIRECT [[Valve]]"),
        ("Valves", "This page has moved to the new handbook."),
        ("Valves", "301 Moved Permanently"),
        ("Valves", "The valve handbook has been moved to Pumps and valves."),
        ("阀门", "本页面已移至新手册。"),
        ("阀门", "重定向到 水阀"),
        ("Index of valves", LINKS),
        ("Handbook", f"## Table of Contents\n\n{LINKS}"),
        ("手册", f"目录\n\n{LINKS}"),
        ("Bookmarks", "\n".join(f"https://example.org/valve/{n}" for n in range(9))),
    ],
)
def test_a_redirect_and_a_register_only_lead_on(title: str, text: str):
    assert is_navigation_page(title, text)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Valves", "A valve lets water through in one direction. Oslo moved to new ones in 1990."),
        ("Valves", LINKS),
        ("Prices", "\n".join(f"Valve {n}: {n} €" for n in range(9))),
        ("Price index", "The index of prices rose by two per cent in the last year of the war."),
        ("迁都", "朝廷从长安迁往洛阳，百官随行。"),
        ("Index", "\n".join(f"Valve {n} is opened before the pump is started." for n in range(9))),
    ],
)
def test_a_page_that_says_something_does_not(title: str, text: str):
    assert not is_navigation_page(title, text)


async def put(title: str, text: str, kind: str = "web", **more: object) -> str:
    page = NewPage(title=title, place="", text=text, **more)
    (page_id,) = await store_pages(ME, kind, f"https://example.org/{title}", [page])
    return page_id


async def titles(question: str, kinds: list[str] | None = None) -> list[str]:
    return [one.page.title for one in await search_pages(ME, question, 5, kinds)]


async def test_what_only_leads_on_does_not_come_first_but_is_found():
    await put("Relief valve", "The relief valve has moved to Valves.")
    await put("Boilers", "The relief valve of a boiler opens at nine bar, as the law wants it.")

    assert await titles("relief valve") == ["Boilers", "Relief valve"]


async def test_an_index_that_is_asked_for_comes_first():
    await put("Index of valves", LINKS)
    await put("Boilers", "A valve of a boiler opens at nine bar.")

    assert (await titles("index of valves"))[0] == "Index of valves"


async def test_a_report_comes_below_the_sources_that_it_cites():
    boilers = await put("Boilers", "One line on pumps. The relief valve opens at nine bar.")
    report = "The relief valve: relief valve opens at nine bar, says the relief valve report."
    await put("Relief valve", report, "report", links=(boilers,))

    assert await titles("relief valve", ["web", "report"]) == ["Boilers", "Relief valve"]


@pytest.mark.parametrize(
    ("passage", "alone"),
    [
        ("### Directives\n\n" + LINKS, True),
        ("\n".join(f"https://example.org/valve/{name}" for name in NAMES), True),
        ("The pump has these valves, of which each is open at night:\n\n" + LINKS, False),
        ("\n".join(f"- Valve {name}: 9 bar" for name in NAMES), False),
        ("<Valve alpha>\n" + "\n".join(f'  Open "/{name}"' for name in NAMES), False),
    ],
)
def test_a_list_of_names_alone_is_told_from_an_answer(passage: str, alone: bool):
    assert is_name_list(passage) == alone
