from collections.abc import Awaitable, Callable, Sequence

import pytest
from sqlalchemy import select

from config.errors import Problem
from memory.kept.pages import PageShelf
from memory.pages import sizing as module
from memory.pages import store as pages
from memory.pages.abstracts import about, newest
from memory.pages.describing import AT_ONCE, Described, described
from memory.pages.groups import Group, best_of
from memory.pages.listing import listed, shown
from memory.pages.memorizer import RELATED, memorize
from memory.pages.sizing import MOST, parts, prepared
from memory.pages.store import NewPage
from models.extractive.abstract import abstract_of
from retrieval.passages import passages
from retrieval.tokens import count
from storage import tables
from storage.engine import read_rows

pytestmark = pytest.mark.usefixtures("database")

ENGLISH = "Bees dance to tell the others where food is to be found. " * 600
CHINESE = "蜜蜂用舞蹈告诉同伴食物在哪里，距离越远，摆尾的时间就越长。" * 400


def page(text: str, title: str = "Bees") -> NewPage:
    return NewPage(title=title, place="", text=text)


async def abstracts(ids: Sequence[str]) -> list[str]:
    rows = [await shown("me/", one) for one in ids]
    return [row["abstract"] for row in rows if row]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, "x" * 30_000])
def test_a_page_that_is_too_long_becomes_several_that_say_the_same(text: str):
    made = list(parts(page(text)))

    assert len(made) > 1
    assert max(count(one["text"]) for one in made) <= MOST
    assert "".join("".join(one["text"].split()) for one in made) == "".join(text.split())
    assert len({one["place"] for one in made}) == len(made)


async def test_without_a_model_an_abstract_is_made_of_the_page_itself():
    text = "Hello. The waggle dance shows the direction of food. The dance has a waggle run. Bye."

    (abstract,) = await abstracts(await memorize("me/", "chat", "c", [page(text)]))

    assert "The waggle dance shows the direction of food." in abstract


@pytest.mark.parametrize(
    "sentence", ["The bees of hive {0} dance on the comb. ", "第{0}群蜜蜂跳舞。"]
)
def test_a_long_text_is_cut_where_one_more_passage_would_be_too_much(
    monkeypatch: pytest.MonkeyPatch, sentence: str
):
    text = "".join(sentence.format(number) for number in range(1_500))
    counted: list[int] = []
    monkeypatch.setattr(module, "count", lambda text: counted.append(len(text)) or count(text))
    cut = [part["text"] for part in parts(page(text))]

    bounds = [0]
    for span in passages(text):
        if span.start > bounds[-1] and count(text[bounds[-1] : span.end]) > MOST:
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
        ids = await memorize("me/", "file", "f", both, abstracter=abstracter)

    assert asked == ["dance", "queen"]
    assert await abstracts(ids) == ["About dance", "About queen"]


@pytest.mark.parametrize("answer", ["", "  \n", Problem("model_unavailable", "no")])
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
    ids = await memorize("me/", "file", "f", three, abstracter=abstracter)

    assert await abstracts(ids) == ["About something.", "The queen lays eggs.", "About something."]
    texts = await pages.texts("me/", ids)
    assert [texts[one] for one in ids] == [one["text"] for one in three]


async def test_only_the_relevant_earlier_abstracts_are_shown():
    earlier = [page(f"Bees and honey {n}.") for n in range(20)] + [page("Stock markets.", "Money")]
    await memorize("me/", "file", "old", earlier)
    seen: list[Sequence[str]] = []

    async def abstracter(new: NewPage, related: Sequence[str]) -> str:
        seen.append(related)
        return f"Abstract {new['text']}"

    new = [page("Honey of bees."), page("Bees eat honey.")]
    await memorize("me/", "file", "new", new, abstracter=abstracter)

    assert [len(one) for one in seen] == [RELATED, RELATED]
    assert all("honey" in one.lower() for related in seen for one in related)


async def test_abstracts_of_single_turns_are_left_to_their_sessions():
    await pages.keep("me/", "chat", "c", [page("Bees dance.")])
    await memorize("me/", "session", "c", [page("Ann: Bees dance.")])

    assert [one.kind for one in await about("me/", "bees dance", 5)] == ["session"]
    assert [one.kind for one in await about("me/", "bees dance", 5, ["chat"])] == ["session"]


async def kept_abstracts() -> list[str]:
    return list((await read_rows(select(tables.pages.c.abstract))).scalars())


LOOKS: dict[str, Callable[[], Awaitable[Sequence[object]]]] = {
    "what is about it": lambda: about("me/", "queen eggs", 5),
    "what is new": lambda: newest("me/", 5),
    "the list": lambda: listed("me/"),
    "the shelf": lambda: PageShelf("pages", ("chat",), all_but=True).listed("me/", 5),
    "its document": lambda: best_of("me/", Group("file", "f", named=False), "queen", 5),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
async def test_an_abstract_that_was_put_off_is_made_and_kept_when_somebody_looks(
    look: Callable[[], Awaitable[Sequence[object]]],
):
    said = "The queen lays eggs all summer long."
    await pages.keep("me/", "file", "f", prepared([page(said)]))
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
    await pages.keep("me/", kind, "f", prepared(sections))
    await pages.keep("me/", kind, "g", prepared([page(f"{HEADER}\n\n{NOTICE}")]))

    found = await newest("me/", 5)

    assert sorted(one.abstract for one in found[1:]) == sorted(said)
    assert found[0].abstract == HEADER


async def test_where_making_abstracts_breaks_off_none_is_torn_and_the_next_look_goes_on(
    monkeypatch: pytest.MonkeyPatch,
):
    said = [f"Hive {n} weighs {n} kilos." for n in range(AT_ONCE + 9)]
    await pages.keep("me/", "file", "f", prepared([page(one) for one in said]))
    made = iter(range(AT_ONCE + 4))

    def breaking(text: str, beside: Sequence[str]) -> str:
        if next(made, None) is None:
            raise MemoryError
        return abstract_of(text, beside)

    with monkeypatch.context() as patched:
        patched.setattr("models.extractive.abstract.abstract_of", breaking)
        with pytest.raises(MemoryError):
            await newest("me/", len(said))
    assert len([one for one in await kept_abstracts() if one]) == AT_ONCE

    await newest("me/", len(said))

    assert sorted(await kept_abstracts()) == sorted(said)


async def test_nobody_makes_the_abstracts_of_others():
    await pages.keep("me/", "file", "f", prepared([page("The queen lays eggs.")]))
    (mine,) = await read_rows(select(tables.pages.c.id, tables.pages.c.abstract))

    assert await described("you/", [Described(mine.id, "")]) == [Described(mine.id, "")]
    assert await kept_abstracts() == [""]
