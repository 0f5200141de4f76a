"""A page is judged by its address and its text, and an honest page is never called a farm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from library.genres import _PATTERNS, JudgedPage, _Wording, count_farm_points, judge_genre
from tests.cases import each_case

PROSE = (
    "The mill at Eling was built beside a causeway in the Middle Ages and rebuilt after a storm in "
    "1775. Water fills the pond through a gate at high tide, and the miller waits until the level "
    "outside has fallen before he opens the sluice. Two wheels of iron drive the stones, of which "
    "only one pair has been ground again. Visitors may buy flour on days when the tide serves. "
    "A trust looks after the building, pays for oak and iron, and teaches apprentices to dress "
    "stones with a pick. Its accounts show that repairs cost more each decade than grinding earns. "
    "Eels used to be trapped where the race leaves the house, and the rents paid in eels are in "
    "the bishop's rolls. The toll house opposite kept its board of charges until the last war. "
)

GUIDE = "\n\n".join(
    [
        "Are you looking for the best tide mill tours? You've come to the right place! In this "
        "article, we will tell you everything you need to know about the best tide mill tours.",
        "Best tide mill tours are a game-changer. When you book the best tide mill tours, you get "
        "the best tide mill tours for your money. Without further ado, let's dive in.",
        *[
            f"{n}. Best tide mill tours number {n}. These best tide mill tours are among the best "
            "tide mill tours that you can find. Check the latest price. Order best tide mill tours."
            for n in range(1, 9)
        ],
        "In conclusion, the best tide mill tours are waiting. As an Amazon Associate we earn a "
        "small commission. We hope this article about the best tide mill tours helped you.",
    ]
)

GUIDE_ZH = "\n\n".join(
    [
        "想必大家都听说过潮汐磨坊旅游吧？今天小编就来为大家介绍潮汐磨坊旅游，一起来看看吧。",
        *[
            f"{n}、潮汐磨坊旅游推荐：潮汐磨坊旅游非常好，很多朋友都喜欢潮汐磨坊旅游，潮汐磨坊旅游"
            "性价比高，点击下方了解潮汐磨坊旅游优惠券。"
            for n in range(1, 9)
        ],
        "综上所述，潮汐磨坊旅游值得推荐，希望对大家有所帮助。",
    ]
)

SELLING = (
    "Millwright is the industry-leading platform for gate automation. Trusted by 400 harbours. "
    "Start your free trial today, no credit card required, or request a demo. "
    "Our customers save a third of their water. Talk to an expert about plans and pricing."
)

PAPER = (
    "Abstract\n\nWe measure the losses of undershot wheels [1]. Smith et al. found 40 % [2], and "
    "Jones et al. found less [4]. " + PROSE + "This agrees with [5] and [6].\n\nReferences\n\n"
    "[1] A. Smith. Wheels. doi: 10.1000/1\n[2] B. Jones. Gates."
)

THREAD = (
    "Leaking sluice\n\nAsked 3 years ago\n\nMy gate leaks at the sill.\n\n2 answers\n\nAnswered "
    "May 4\n\nReplace it.\n\nPosted by miller77\n\nSame here.\n\nRe: Leaking sluice\n\nThanks."
)

ADDRESSES = {
    "https://docs.python.org/3/library/asyncio.html": "documentation",
    "https://www.postgresql.org/docs/16/sql-vacuum.html": "documentation",
    "https://requests.readthedocs.io/en/latest/": "documentation",
    "https://www.rfc-editor.org/rfc/rfc9110": "documentation",
    "https://developer.mozilla.org/en-US/docs/Web/HTTP": "documentation",
    "https://www.nist.gov/publications": "documentation",
    "https://www.gov.cn/zhengce/": "documentation",
    "https://www.stats.gov.cn/sj/": "documentation",
    "https://www.moe.gov.sg/about": "documentation",
    "https://kubernetes.io/docs/concepts/": "documentation",
    "https://man7.org/linux/man-pages/man1/ls.1.html": "documentation",
    "https://ec.europa.eu/eurostat": "documentation",
    "https://arxiv.org/abs/1706.03762": "paper",
    "https://pmc.ncbi.nlm.nih.gov/articles/PMC123/": "paper",
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/": "paper",
    "https://www.nature.com/articles/s41586-021-03819-2": "paper",
    "https://journals.example.edu/doi/10.1000/xyz": "paper",
    "https://en.wikipedia.org/wiki/Tide_mill": "encyclopedia",
    "https://zh.wikipedia.org/wiki/潮汐": "encyclopedia",
    "https://baike.baidu.com/item/潮汐/1": "encyclopedia",
    "https://www.britannica.com/technology/tide-mill": "encyclopedia",
    "https://stackoverflow.com/questions/11227809/why": "forum",
    "https://unix.stackexchange.com/q/1": "forum",
    "https://old.reddit.com/r/mills/comments/1/x/": "forum",
    "https://forum.example.org/t/leaking-gate/12": "forum",
    "https://example.org/forum/viewtopic.php?t=3": "forum",
    "https://github.com/acme/mill/issues/12": "forum",
    "https://www.zhihu.com/question/1": "forum",
    "https://www.reuters.com/world/uk/mill-2024-05-31/": "news",
    "https://www.bbc.co.uk/news/uk-1": "news",
    "https://news.example.com/mill-reopens": "news",
    "https://www.thepaper.cn/newsDetail_forward_1": "news",
    "https://medium.com/@ada/mills": "blog",
    "https://ada.substack.com/p/mills": "blog",
    "https://blog.example.com/2024/05/mills": "blog",
    "https://www.example.com/blog/mills": "blog",
    "https://millers.wordpress.com/2020/": "blog",
    "https://blog.csdn.net/u/article/details/1": "blog",
    "https://www.example.com/": "unknown",
    "https://example.edu/~ada/mills.html": "unknown",
    "https://www.elingtidemill.org/history": "unknown",
    "not an address": "unknown",
    "http://[broken": "unknown",
}


@each_case(ADDRESSES.items())
def test_an_address_decides_where_it_can(address, genre):
    assert judge_genre(JudgedPage(address, "Mills", PROSE)) == genre


@pytest.mark.parametrize(
    ("text", "genre"),
    [
        (PROSE, "unknown"),
        (PAPER, "paper"),
        (THREAD, "forum"),
        (SELLING, "vendor"),
        (GUIDE, "farm"),
        (GUIDE_ZH, "farm"),
    ],
)
def test_a_text_decides_where_the_address_says_nothing(text, genre):
    assert judge_genre(JudgedPage("https://www.example.com/mills", "Mills", text)) == genre


@pytest.mark.parametrize(
    ("declared", "genre"),
    [
        ("newsarticle", "news"),
        ("qapage", "forum"),
        ("blogposting", "blog"),
        ("techarticle", "documentation"),
        ("scholarlyarticle", "paper"),
        ("product", "vendor"),
        ("article", "unknown"),
    ],
)
def test_a_page_may_declare_what_it_is(declared, genre):
    page = JudgedPage("https://www.example.com/mills", "Mills", PROSE, declared)

    assert judge_genre(page) == genre


def test_a_farm_that_declares_news_is_a_farm():
    page = JudgedPage("https://www.example.com/mills", "10 best mills", GUIDE, "newsarticle")

    assert judge_genre(page) == "farm"


@pytest.mark.parametrize(
    "address",
    [
        "https://docs.example.org/mills",
        "https://en.wikipedia.org/wiki/Mills",
        "https://www.reuters.com/mills",
        "https://arxiv.org/abs/1",
    ],
)
def test_a_site_of_a_known_genre_is_no_farm_whatever_its_text(address):
    assert judge_genre(JudgedPage(address, "10 best mills", GUIDE)) != "farm"


HONEST = {
    "a text about one thing, named throughout": " ".join(
        f"The tide mill of parish {n} was rebuilt in {1700 + n} when miller {n} had died, and "
        f"its pond of {n} acres was dug by {n * 3} men of the village over two summers."
        for n in range(30)
    ),
    "a manual of one command": "\n\n".join(
        f"git rebase --option-{n}: With this option git rebase applies the commits of topic {n} in "
        f"the way that strategy {n} names, and leaves branch {n} alone."
        for n in range(30)
    ),
    "a list of the best things with reasons": "\n\n".join(
        f"{n}. Mill {n}. The wheel of {n} feet was measured by hand in 19{10 + n}. It runs at ebb, "
        f"grinds barley for farm {n}, and is open to visitors on {n} days of a year."
        for n in range(1, 20)
    ),
    "a review that earns commissions": PROSE
    + "As an Amazon Associate we earn a small commission. Check the latest price.",
    "an essay that ends in a conclusion": PROSE + "In conclusion, keep reading the tide tables.",
    "a glossary with a repeated note": "\n".join(
        f"Term {n}: a part of a mill that is described in chapter {n} of the older handbook."
        for n in range(40)
    ),
    "a poem with a refrain": "\n".join(
        f"The miller went to stone {n}, and counted sacks in row {n}.\nTurn again, turn again."
        for n in range(20)
    ),
    "Chinese prose": "潮汐磨坊用潮水推动水轮。涨潮时海水流入蓄水池，退潮后再打开闸门放水。"
    "据记载，英国南部在中世纪已有这样的磨坊，其中一些保存到今天，由当地的信托基金维护。"
    "水轮每天只能工作几个小时，因此磨坊主的作息随潮汐而变化，有时要在半夜起来开闸。",
    "a short notice": "Keep reading. Without further ado, in conclusion, the mill is closed.",
}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_an_honest_page_is_no_farm(text):
    page = JudgedPage("https://www.example.com/mills", "The 10 best mills", text)

    assert judge_genre(page) != "farm"


def test_without_a_sign_in_the_text_nothing_else_counts():
    assert count_farm_points(JudgedPage("https://a.com/", "10 best mills", PROSE)) == 0


MILL_ADVICE = (
    "By the MillTips Team. {disclosure} A tide mill turns when the pond is higher than the sea. "
    "Open the gate at high water, close it before the ebb, and wait until the wheel hangs free of "
    "the race. Oak lasts longer than elm in salt water, and iron pins hold it. The stones must be "
    "dressed every three weeks, with a pick that a smith has hardened. "
)
DISCLOSURES = (
    "Affiliate disclosure: we may earn a commission when you buy a wheel through our links.",
    "This post contains affiliate links, at no extra cost to you. We earn commissions.",
    "We may receive a small commission if you purchase through one of our links, as partners.",
    "本文含有推广链接，您通过本文的链接购买时，我们会获得少量佣金。",
)
URGING = "Top 10 tips: buy our recommended wheel, and read on. Share this post!"


def judge_advice(disclosure, urging, title, author=""):
    text = MILL_ADVICE.format(disclosure=disclosure) + urging
    return judge_genre(
        JudgedPage("https://www.example.com/mills", "Tide mills", text, "", author, "", title)
    )


@pytest.mark.parametrize("disclosure", DISCLOSURES)
def test_a_page_that_is_paid_for_urges_and_promises_is_a_farm(disclosure):
    title = "How to run a tide mill (2026 Ultimate Guide) - MillTips"

    assert judge_advice(disclosure, URGING, title, "MillTips Team") == "farm"


@pytest.mark.parametrize(
    ("disclosure", "urging", "title", "author"),
    [
        (DISCLOSURES[0], "", "Running a tide mill", "Ada Brook"),
        (DISCLOSURES[0], "", "The complete guide to tide mills (2026)", "Ada Brook"),
        (DISCLOSURES[0], URGING, "Running a tide mill", "Ada Brook"),
        ("", URGING, "The ultimate guide to tide mills (2026)", ""),
        ("This issue is sponsored by Oak Ltd.", "", "The complete guide to tide mills", ""),
    ],
)
def test_one_of_these_signs_makes_no_farm(disclosure, urging, title, author):
    assert judge_advice(disclosure, urging, title, author) != "farm"


def written(parsed: Iterable[Any]) -> Iterator[str]:
    """Yield what a pattern matches, with each choice and with and without what may be absent."""
    for parts in product(*(list(written_part(*one)) for one in parsed)):
        yield "".join(parts)


def written_part(kind: Any, value: Any) -> Iterator[str]:
    if kind in (code.LITERAL, code.NOT_LITERAL, code.AT):
        yield {code.LITERAL: chr(value), code.NOT_LITERAL: "x"}.get(kind, "")
    elif kind is code.IN:
        yield {code.LITERAL: chr(value[0][1] or 0), code.NEGATE: "x"}.get(value[0][0], " ")
    elif kind is code.MAX_REPEAT:
        least, most, inside = value
        for times in range(least, most + 1) if most == 1 else [least]:
            yield from (one * times for one in written(inside))
    else:
        assert kind in (code.BRANCH, code.SUBPATTERN)
        for choice in value[1] if kind is code.BRANCH else value[-1:]:
            yield from written(choice)


@pytest.mark.parametrize("name", ["selling", "filler", "affiliate"])
def test_each_english_phrase_has_all_words_of_a_line_of_its_list(name):
    phrases = [one for one in written(parser.parse(_PATTERNS.get_text(name))) if one.isascii()]
    matched = [one for one in phrases if _PATTERNS.get(name).search(f"we {one} it")]
    assert len(matched) > 20
    assert [one for one in matched if not _Wording(f"we {one} it").count(name)] == []


def test_a_chinese_phrase_counts_without_any_english_word():
    assert _Wording("这款产品包邮，立即购买。").count("selling") == 2
