"""Make report sentences that no near copy is: invented, cut, altered, or beside another remark."""

from __future__ import annotations

import re

from evals.sentences.made import Made, Maker, Page, Way, picked

_DENIES = re.compile(r"\b(?:not|no|never|if|without)\b|[不没無无未非如若别]")


def elided(maker: Maker, page: Page) -> Made | None:
    """Return a quotation from which words in the middle are left out."""
    said = picked(maker, page)[:-1]
    units = said.split() if maker.language == "en" else [*re.split("(?<=，)", said)]
    least = 9 if maker.language == "en" else 3
    if len(units) < least or re.search(
        r"\b(?:not|no|never|if|without)\b|[不没無无未非如若别]", said
    ):
        return None
    third, joint = len(units) // 3, " " if maker.language == "en" else ""
    sign = maker.chance.choice(["…", "...", "[...]", "[…]"])
    cut = f"{joint.join(units[:third])} {sign} {joint.join(units[-third:])}"
    return Made(f'{maker.chance.choice(maker.words["leads"])}<q s="S1">{cut}</q>.')


def bracketed(maker: Maker, page: Page) -> Made | None:
    """Return a quotation with a word of its writer between brackets."""
    said = picked(maker, page)[:-1]
    if maker.language == "zh":
        cut = f"{said[: len(said) // 2]}[原文如此]{said[len(said) // 2 :]}"
    else:
        cut = re.sub(r"^(\w)(\w+ \w+ \w+ \w+) ", r"[\1]\2 [sic] ", said, count=1)
    if cut == said:
        return None
    return Made(f'{maker.chance.choice(maker.words["leads"])}<q s="S1">{cut}</q>.')


def uncited_copy(maker: Maker, page: Page) -> Made:
    """Return a sentence of a page without its citation."""
    return Made(picked(maker, page))


def invented(maker: Maker, page: Page) -> Made:
    """Return a cited sentence that is of no page."""
    return Made(maker.cited(maker.chance.choice(_INVENTED[maker.language])))


def half_invented(maker: Maker, page: Page) -> Made:
    """Return a sentence of a page with an invented clause behind it."""
    said, more = picked(maker, page)[:-1], maker.chance.choice(_CLAUSES[maker.language])
    joint = {"en": ", and ", "zh": "，"}[maker.language]
    return Made(maker.cited(f"{said}{joint}{more}{maker.words['stop']}"))


def carried(maker: Maker, page: Page) -> Made:
    """Return a remark that something was not found, with a claim or advice behind it."""
    told = maker.chance.choice(maker.listed("not_found")).format(page.title or "X")
    joint = {"en": ", so ", "zh": "，因此"}[maker.language]
    clause = maker.chance.choice(_CLAUSES[maker.language])
    return Made(f"{told[:-1]}{joint}{clause}{maker.words['stop']}")


def uncited_altered(maker: Maker, page: Page) -> Made | None:
    """Return a sentence of a page without a citation, with a word of another page in it."""
    said = picked(maker, page)
    pattern = (
        r"(?<= )[a-z]{6,}(?=[ ,.])" if maker.language == "en" else "[\u4e00-\u9fff]{2}(?=[，。])"
    )
    ours, theirs = (
        sorted(set(re.findall(pattern, one))) for one in (said, " ".join(maker.other(page).said))
    )
    new = [one for one in theirs if one not in page.text]
    if not ours or not new:
        return None
    return Made(said.replace(maker.chance.choice(ours), maker.chance.choice(new), 1))


def claimed(maker: Maker, page: Page, frame: str) -> Made:
    """Return a line that claims what no page says, and names or leads on to what follows."""
    clause = maker.chance.choice(_CLAUSES[maker.language])
    line = clause[0].upper() + clause[1:]
    return Made(line, frame=_FRAMES[frame] + maker.cited(picked(maker, page)))


_FRAMES = {"heading": "## {}\n\n", "colon": "{}:\n\n- ", "label": "- **{}:** "}
_CLAUSES = {
    "en": [
        "patients may stop their insulin at once",
        "the roof was painted by two retired sailors from Bergen",
        "the cook poisoned three guests with spoiled oysters",
        "swimmers must wear orange helmets after sunset",
        "a parrot guarded the entrance and shouted at visitors",
        "the carpet was sold to a dentist in Nairobi",
        "everybody received a free umbrella and a jar of pickles",
        "the treasurer fled to Lisbon with the silver spoons",
    ],
    "zh": [
        "患者可以立即停用胰岛素",
        "屋顶由两名退休水手粉刷成橙色",
        "厨师用变质的牡蛎毒死了三位客人",
        "游泳者日落后必须佩戴头盔",
        "一只鹦鹉守在门口并对游客大喊",
        "地毯卖给了内罗毕的一位牙医",
        "每个人都领到一把雨伞和一罐泡菜",
        "出纳带着银汤匙逃往里斯本",
    ],
}
"""Clauses that no page of the sets says; each half of the benchmark has all of them."""

_INVENTED = {
    language: [f"{one[0].upper()}{one[1:]}{stop}" for one in _CLAUSES[language]]
    for language, stop in (("en", "."), ("zh", "。"))
}


def _framed(frame: str) -> Way:
    return lambda maker, page: claimed(maker, page, frame)


WORDED_RIGHT: dict[str, Way] = {one.__name__: one for one in (elided, bracketed, uncited_copy)}
WORDED_WRONG: dict[str, Way] = {
    one.__name__: one for one in (invented, half_invented, carried, uncited_altered)
} | {f"claimed_{name}": _framed(name) for name in _FRAMES}
