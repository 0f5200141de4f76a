from collections.abc import Awaitable, Callable, Sequence

import pytest
from sqlalchemy import select

from config.errors import ErrorCode, Problem
from library import page_sizing as module
from library import store as pages
from library import tables
from library.abstracts import AT_ONCE, PageAbstract, fill_abstracts
from library.memorizer import RELATED, store_with_abstracts
from library.page_outline import PageGroup, find_best_in_group, find_briefs, list_newest_briefs
from library.page_rows import NewPage
from library.page_sizing import MOST, prepare_pages, split_page
from library.scope import Scope, list_stored_pages, read_page_record
from memory.page_memory import PageMemory
from storage.engine import read_rows
from text.passage_splitting import split_passages
from text.summaries import extract_abstract
from text.tokens import count_tokens

pytestmark = pytest.mark.usefixtures("database")

ENGLISH = "Bees dance to tell the others where food is to be found. " * 600
CHINESE = "蜜蜂用舞蹈告诉同伴食物在哪里，距离越远，摆尾的时间就越长。" * 400


def page(text: str, title: str = "Bees") -> NewPage:
    return NewPage(title=title, place="", text=text)


async def abstracts(ids: Sequence[str]) -> list[str]:
    rows = [await read_page_record("me/", one) for one in ids]
    return [row["abstract"] for row in rows if row]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, "x" * 30_000])
def test_a_page_that_is_too_long_becomes_several_that_say_the_same(text: str):
    made = list(split_page(page(text)))

    assert len(made) > 1
    assert max(count_tokens(one["text"]) for one in made) <= MOST
    assert "".join("".join(one["text"].split()) for one in made) == "".join(text.split())
    assert len({one["place"] for one in made}) == len(made)


async def test_without_a_model_an_abstract_is_made_of_the_page_itself():
    text = "Hello. The waggle dance shows the direction of food. The dance has a waggle run. Bye."

    (abstract,) = await abstracts(await store_with_abstracts("me/", "chat", "c", [page(text)]))

    assert "The waggle dance shows the direction of food." in abstract


@pytest.mark.parametrize(
    "sentence", ["The bees of hive {0} dance on the comb. ", "第{0}群蜜蜂跳舞。"]
)
def test_a_long_text_is_cut_where_one_more_passage_would_be_too_much(
    monkeypatch: pytest.MonkeyPatch, sentence: str
):
    text = "".join(sentence.format(number) for number in range(1_500))
    counted: list[int] = []
    monkeypatch.setattr(
        module, "count_tokens", lambda text: counted.append(len(text)) or count_tokens(text)
    )
    cut = [part["text"] for part in split_page(page(text))]

    bounds = [0]
    for span in split_passages(text):
        if span.start > bounds[-1] and count_tokens(text[bounds[-1] : span.end]) > MOST:
            bounds.append(span.start)
    assert cut == [
        text[one:end].strip() for one, end in zip(bounds, [*bounds[1:], None], strict=True)
    ]
    # Each passage once, and the last of a page together with it.
    assert len(cut) > 3
    assert sum(counted) < 3.5 * len(text)


async def test_a_model_writes_the_abstract_of_each_page_once():
    asked: list[str] = []

    async def abstracter(new: NewPage, related: Sequence[str]) -> str:
        asked.append(new["text"])
        return f"About {new['text']}"

    both = [page("dance"), page("queen")]
    for _ in range(2):
        ids = await store_with_abstracts("me/", "file", "f", both, abstracter=abstracter)

    assert asked == ["dance", "queen"]
    assert await abstracts(ids) == ["About dance", "About queen"]


@pytest.mark.parametrize("answer", ["", "  \n", Problem(ErrorCode.MODEL_UNAVAILABLE, "no")])
async def test_a_model_that_says_nothing_leaves_no_page_without_its_own_abstract(
    answer: str | Problem,
):
    async def abstracter(new: NewPage, related: Sequence[str]) -> str:
        if new["text"] != "The queen lays eggs.":
            return "About something."
        if isinstance(answer, Problem):
            raise answer
        return answer

    three = [page("Bees dance."), page("The queen lays eggs."), page("Drones leave.")]
    ids = await store_with_abstracts("me/", "file", "f", three, abstracter=abstracter)

    assert await abstracts(ids) == ["About something.", "The queen lays eggs.", "About something."]
    texts = await pages.read_page_texts("me/", ids)
    assert [texts[one] for one in ids] == [one["text"] for one in three]


async def test_only_the_relevant_earlier_abstracts_are_shown():
    earlier = [page(f"Bees and honey {n}.") for n in range(20)] + [page("Stock markets.", "Money")]
    await store_with_abstracts("me/", "file", "old", earlier)
    seen: list[Sequence[str]] = []

    async def abstracter(new: NewPage, related: Sequence[str]) -> str:
        seen.append(related)
        return f"Abstract {new['text']}"

    new = [page("Honey of bees."), page("Bees eat honey.")]
    await store_with_abstracts("me/", "file", "new", new, abstracter=abstracter)

    assert [len(one) for one in seen] == [RELATED, RELATED]
    assert all("honey" in one.lower() for related in seen for one in related)


async def test_abstracts_of_single_turns_are_left_to_their_sessions():
    await pages.store_pages("me/", "chat", "c", [page("Bees dance.")])
    await store_with_abstracts("me/", "session", "c", [page("Ann: Bees dance.")])

    assert [one.kind for one in await find_briefs("me/", "bees dance", 5)] == ["session"]
    assert [one.kind for one in await find_briefs("me/", "bees dance", 5, Scope(["chat"]))] == [
        "session"
    ]


async def kept_abstracts() -> list[str]:
    return list((await read_rows(select(tables.pages.c.abstract))).scalars())


LOOKS: dict[str, Callable[[], Awaitable[Sequence[object]]]] = {
    "what is about it": lambda: find_briefs("me/", "queen eggs", 5),
    "what is new": lambda: list_newest_briefs("me/", 5),
    "the list": lambda: list_stored_pages("me/"),
    "the shelf": lambda: PageMemory().list_items("me/", 5),
    "its document": lambda: find_best_in_group(
        "me/", PageGroup("file", "f", named=False), "queen", 5
    ),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
async def test_an_abstract_that_was_put_off_is_made_and_kept_when_somebody_looks(
    look: Callable[[], Awaitable[Sequence[object]]],
):
    said = "The queen lays eggs all summer long."
    await pages.store_pages("me/", "file", "f", prepare_pages([page(said)]))
    assert await kept_abstracts() == [""]

    (found,) = await look()

    assert said in str(found)
    assert await kept_abstracts() == [said]


HEADER = "User Commands of the GNU tools, release 9.{n}, all of them described in one manual."
NOTICE = "Copyright 2022 by the authors of the manual; this text may be copied by everyone."


@pytest.mark.parametrize("kind", ["file", "web"])
async def test_abstracts_tell_apart_the_sections_of_a_document_with_a_header(kind: str):
    said = [
        "The switch -q keeps quiet.",
        "Files are named on the line.",
        "It ends with 2 on errors.",
    ]
    sections = [page(f"{HEADER.format(n=n)}\n\n{one} {NOTICE}") for n, one in enumerate(said)]
    await pages.store_pages("me/", kind, "f", prepare_pages(sections))
    await pages.store_pages("me/", kind, "g", prepare_pages([page(f"{HEADER}\n\n{NOTICE}")]))

    found = await list_newest_briefs("me/", 5)

    assert sorted(one.abstract for one in found[1:]) == sorted(said)
    assert found[0].abstract == HEADER


async def test_where_making_abstracts_breaks_off_none_is_torn_and_the_next_look_goes_on(
    monkeypatch: pytest.MonkeyPatch,
):
    said = [f"Hive {n} weighs {n} kilos." for n in range(AT_ONCE + 9)]
    await pages.store_pages("me/", "file", "f", prepare_pages([page(one) for one in said]))
    made = iter(range(AT_ONCE + 4))

    def breaking(text: str, beside: Sequence[str]) -> str:
        if next(made, None) is None:
            raise MemoryError
        return extract_abstract(text, beside)

    with monkeypatch.context() as patched:
        patched.setattr("text.summaries.extract_abstract", breaking)
        with pytest.raises(MemoryError):
            await list_newest_briefs("me/", len(said))
    assert len([one for one in await kept_abstracts() if one]) == AT_ONCE

    await list_newest_briefs("me/", len(said))

    assert sorted(await kept_abstracts()) == sorted(said)


async def test_nobody_makes_the_abstracts_of_others():
    await pages.store_pages("me/", "file", "f", prepare_pages([page("The queen lays eggs.")]))
    (mine,) = await read_rows(select(tables.pages.c.id, tables.pages.c.abstract))

    assert await fill_abstracts("you/", [PageAbstract(mine.id, "")]) == [PageAbstract(mine.id, "")]
    assert await kept_abstracts() == [""]
