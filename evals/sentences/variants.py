"""Make sentences in other words, in other frames, and in another language than their page."""

from __future__ import annotations

import re
from functools import partial

from evals.sentences.made import (
    MadeSentence,
    SamplePage,
    SentenceMaker,
    Way,
    map_by_kind,
    pick_sentences,
)
from evals.sentences.wrong import altered_quotation, changed_digit, made_up_id

_DENIES = re.compile(r"\b(?:not|no|never|if|without)\b|[不没無无未非如若别]")


def _elided(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a quotation from which words in the middle are left out."""
    said = pick_sentences(maker, page)[:-1]
    units = said.split() if maker.language == "en" else [*re.split("(?<=，)", said)]
    least = 9 if maker.language == "en" else 3
    if len(units) < least or re.search(
        r"\b(?:not|no|never|if|without)\b|[不没無无未非如若别]", said
    ):
        return None
    third, joint = len(units) // 3, " " if maker.language == "en" else ""
    sign = maker.chance.choice(["…", "...", "[...]", "[…]"])
    cut = f"{joint.join(units[:third])} {sign} {joint.join(units[-third:])}"
    return MadeSentence(f'{maker.chance.choice(maker.words["leads"])}<q s="S1">{cut}</q>.')


def _bracketed(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a quotation with a word of its writer between brackets."""
    said = pick_sentences(maker, page)[:-1]
    if maker.language == "zh":
        cut = f"{said[: len(said) // 2]}[原文如此]{said[len(said) // 2 :]}"
    else:
        cut = re.sub(r"^(\w)(\w+ \w+ \w+ \w+) ", r"[\1]\2 [sic] ", said, count=1)
    if cut == said:
        return None
    return MadeSentence(f'{maker.chance.choice(maker.words["leads"])}<q s="S1">{cut}</q>.')


def _uncited_copy(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of a page without its citation."""
    return MadeSentence(pick_sentences(maker, page))


def _invented(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a cited sentence that is of no page."""
    return MadeSentence(maker.cited(maker.chance.choice(_INVENTED[maker.language])))


def _half_invented(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of a page with an invented clause behind it."""
    said, more = pick_sentences(maker, page)[:-1], maker.chance.choice(_CLAUSES[maker.language])
    joint = {"en": ", and ", "zh": "，"}[maker.language]
    return MadeSentence(maker.cited(f"{said}{joint}{more}{maker.words['stop']}"))


def _carried(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a remark that something was not found, with a claim or advice behind it."""
    told = maker.chance.choice(maker.listed("not_found")).format(page.title or "X")
    joint = {"en": ", so ", "zh": "，因此"}[maker.language]
    clause = maker.chance.choice(_CLAUSES[maker.language])
    return MadeSentence(f"{told[:-1]}{joint}{clause}{maker.words['stop']}")


def _uncited_altered(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence of a page without a citation, with a word of another page in it."""
    said = pick_sentences(maker, page)
    pattern = (
        r"(?<= )[a-z]{6,}(?=[ ,.])" if maker.language == "en" else "[\u4e00-\u9fff]{2}(?=[，。])"
    )
    ours, theirs = (
        sorted(set(re.findall(pattern, one))) for one in (said, " ".join(maker.other(page).said))
    )
    new = [one for one in theirs if one not in page.text]
    if not ours or not new:
        return None
    return MadeSentence(said.replace(maker.chance.choice(ours), maker.chance.choice(new), 1))


def _claimed(maker: SentenceMaker, page: SamplePage, frame: str) -> MadeSentence:
    """Return a line that claims what no page says, and names or leads on to what follows."""
    clause = maker.chance.choice(_CLAUSES[maker.language])
    line = clause[0].upper() + clause[1:]
    return MadeSentence(line, frame=_FRAMES[frame] + maker.cited(pick_sentences(maker, page)))


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
    return lambda maker, page: _claimed(maker, page, frame)


WORDED_RIGHT = map_by_kind(_elided, _bracketed, _uncited_copy)
WORDED_WRONG = map_by_kind(_invented, _half_invented, _carried, _uncited_altered) | {
    f"claimed_{name}": _framed(name) for name in _FRAMES
}

FRAMES = {
    "heading": "# A\n\n## B\n\n### C\n\n{}",
    "bold": "## A\n\n- **B.** {}",
    "nested": "- A:\n  - B:\n    1. {}",
    "numbered_list": "1. A?\n2. {}",
    "table": "| A | B |\n|:--|--:|\n| x | {} |",
    "block_quote": "> {}",
    "after_code": "```sh\nls -l\n```\n\n{}",
    "inline_code": "`x` A?\n\n{} `y`?",
    "emphasis": "*A*?\n\n{}\n\n---\n",
}
"""Where a sentence stands, by the name of its form."""

_COUNT = re.compile(r"(?<![\w.,])[1-9]\d{2,4}(?![\w.,%])")

_WRONG = (changed_digit, made_up_id, altered_quotation)


def framed(maker: SentenceMaker, page: SamplePage, name: str) -> MadeSentence:
    """Return a sentence of a page in one of the forms."""
    return MadeSentence(maker.cited(pick_sentences(maker, page)), frame=FRAMES[name])


def _framed_wrong(maker: SentenceMaker, page: SamplePage, name: str) -> MadeSentence | None:
    """Return a sentence with a mistake in one of the forms."""
    made = maker.chance.choice(_WRONG)(maker, page)
    return made._replace(frame=FRAMES[name]) if made else None


def _footnoted(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence cited with the mark of a footnote, or in full-width brackets."""
    spelt = maker.chance.choice(["[^S1]", "【S1】", "[s1]".upper(), "[S1, S1]", "(S1)"])
    return MadeSentence(maker.cited(pick_sentences(maker, page)).replace("[S1]", spelt), frame="{}")


def _footnoted_wrong(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return such a sentence with another digit in a number."""
    made = changed_digit(maker, page)
    spelt = maker.chance.choice(["[^S1]", "【S1】", "[S1, S1]"])
    return MadeSentence(made.said.replace("[S1]", spelt), frame="{}") if made else None


def _several(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return two sentences as clauses of one, each with a citation of its own."""
    other = maker.other(page)
    first, second = pick_sentences(maker, page)[:-1], pick_sentences(maker, other)[:-1]
    joint = {"en": ("{} [S1], while {} [SX].", " "), "zh": ("{}[S1]，而{}[SX]。", "")}
    return MadeSentence(joint[maker.language][0].format(first, second), other=other)


def _several_wrong(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return such a sentence, and in one clause a number is another one."""
    made, other = changed_digit(maker, page), maker.other(page)
    if not made:
        return None
    wrong, second = re.sub(r" ?\[S1\]\W$", "", made.said), pick_sentences(maker, other)[:-1]
    joint = {"en": "{} [S1], while {} [SX].", "zh": "{}[S1]，而{}[SX]。"}[maker.language]
    return MadeSentence(joint.format(wrong, second), other=other)


def _fenced(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a line of code with a sentence of the page that has a number."""
    told = [one for one in page.said if _COUNT.search(one) and '"' not in one]
    if not told:
        return None
    return MadeSentence(f'note = "{maker.chance.choice(told)}"', frame=_code(maker, page))


def _fenced_wrong(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return such a line with a number that no page has."""
    made = _fenced(maker, page)
    number = str(maker.chance.randrange(23_457, 98_765))
    return made and made._replace(said=_COUNT.sub(number, made.said, count=1))


def _code(maker: SentenceMaker, page: SamplePage) -> str:
    told = maker.cited(pick_sentences(maker, page)).replace("{", "").replace("}", "")
    return told + "\n\n```ini\n{}\n```"


FRAMED_RIGHT: dict[str, Way] = {
    **{f"in_{name}": partial(framed, name=name) for name in FRAMES},
    **map_by_kind(_footnoted, _several, _fenced),
}
FRAMED_WRONG: dict[str, Way] = {
    **{f"in_{name}_wrong": partial(_framed_wrong, name=name) for name in FRAMES},
    **map_by_kind(_footnoted_wrong, _several_wrong, _fenced_wrong),
}

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAY = r"(?P<d>\d{1,2})"
_MONTH = rf"(?P<m>{'|'.join(_MONTHS)})"
_YEAR = r"(?P<y>\d{4})"
_NAME = r"(?P<n>[A-Z][a-z]+(?: [A-Z][a-z]+)+)"
LAST_YEAR = 2100
"""A later year is one before our era."""

FACTS = {
    "en": [
        (rf"born (?:on )?{_MONTH} {_DAY}, {_YEAR}", "其出生日期为{y}年{m}月{d}日"),
        (rf"born (?:on )?{_DAY} {_MONTH} {_YEAR}", "其出生日期为{y}年{m}月{d}日"),
        (rf"released (?:on|in) {_MONTH} {_DAY}, {_YEAR}", "作品于{y}年{m}月{d}日发行"),
        (rf"(?:founded|established|formed|incorporated) in {_YEAR}", "该机构成立于{y}年"),
        (rf"(?:built|opened|completed) in {_YEAR}", "建筑于{y}年落成"),
        (rf"directed by {_NAME}", "影片由 {n} 执导"),
        (rf"(?:written|composed) by {_NAME}", "作者是 {n}"),
        (r"population (?:was|of|is) (?P<c>\d{1,3}(?:,\d{3})+)", "当地人口为{c}人"),
        (r"(?P<c>\d{1,3}(?:,\d{3})+) (?:people|inhabitants)", "约有{c}人"),
    ],
    "zh": [
        (r"(?:成立|创立|创建|建立|創立|建於|建于)[於于](?P<y>\d{4})年", "It was founded in {y}"),
        (
            r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})日",
            "One of the dates given is {m} {d}, {y}",
        ),
        (r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?!\d)", "It happened in {m} {y}, the page says"),
        (r"全[长長](?P<c>\d+(?:\.\d+)?)公里", "It is {c} km long"),
        (r"面[积積](?:为|為|约|約)?(?P<c>\d+(?:\.\d+)?)平方公里", "Its area is {c} square km"),
        (r"[（(](?P<n>[A-Z][a-z]+(?: [A-Z][a-z]+)+)[）)]", "In Latin letters it is {n}"),
    ],
}
"""What a page in a language says, and how it is said in the other one."""

Fact = dict[str, str]


def _fact(maker: SentenceMaker, page: SamplePage, wanted: str) -> tuple[str, Fact] | None:
    """Return a sentence about a page, and the parts that are filled in, of which one is wanted."""
    facts = [
        (told, found.groupdict())
        for pattern, told in FACTS[maker.language]
        for found in re.finditer(pattern, page.text)
    ]
    fit = [(told, fact) for told, fact in facts if set(fact) & set(wanted)]
    return maker.chance.choice(fit) if fit else None


def _made(maker: SentenceMaker, told: str, fact: Fact) -> MadeSentence:
    spelt = dict(fact)
    if "m" in fact and maker.language == "en":
        spelt["m"] = str(_MONTHS.index(fact["m"]) + 1)
    elif "m" in fact:
        spelt["m"] = _MONTHS[int(fact["m"]) - 1]
    chinese = maker.language == "en"
    cited = f"{told.format(**spelt)}{'[S1]。' if chinese else ' [S1].'}"
    return MadeSentence(cited, frame="{}", language="zh" if chinese else "en")


def across(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a date, a number or a name of a page in the other language."""
    found = _fact(maker, page, "ydmnc")
    return _made(maker, *found) if found and _is_real(found[1]) else None


def _across_digit(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return such a sentence with another digit in its year or its number."""
    found = _fact(maker, page, "yc")
    if not found or not _is_real(found[1]):
        return None
    told, fact = found
    part = "c" if "c" in fact else "y"
    at = maker.chance.choice([at for at, one in enumerate(fact[part]) if one.isdigit()])
    digit = str((int(fact[part][at]) + maker.chance.randint(1, 8)) % 9 + 1)
    new = fact[part][:at] + digit + fact[part][at + 1 :]
    # A page may have the other number as well, as it has many years.
    if new == fact[part] or re.search(rf"(?<!\d){re.escape(new)}(?!\d)", page.text):
        return None
    return _made(maker, told, {**fact, part: new})


def _across_date(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return such a sentence with another month or day."""
    found = _fact(maker, page, "m")
    if not found or not _is_real(found[1]):
        return None
    told, fact = found
    if "d" in fact and maker.chance.random() < 0.5:
        new = {**fact, "d": str(int(fact["d"]) % 28 + maker.chance.choice([1, 3]))}
    elif maker.language == "en":
        new = {**fact, "m": _MONTHS[(_MONTHS.index(fact["m"]) + maker.chance.randint(1, 11)) % 12]}
    else:
        new = {**fact, "m": str((int(fact["m"]) + maker.chance.randint(0, 10)) % 12 + 1)}
    return _made(maker, told, new) if new != fact else None


def _across_name(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return such a sentence with a name in Latin letters of another page."""
    found, other = _fact(maker, page, "n"), _fact(maker, maker.other(page), "n")
    if not found or not other or set(found[1]["n"].split()) & set(other[1]["n"].split()):
        return None
    return _made(maker, found[0], other[1])


def _is_real(fact: Fact) -> bool:
    month, day, year = (fact.get(name, "1") for name in "mdy")
    return (
        int(year) <= LAST_YEAR
        and (not month.isdigit() or 1 <= int(month) <= 12)
        and 1 <= int(day) <= 31
    )


ACROSS_RIGHT: dict[str, Way] = {"across": across}
ACROSS_WRONG = map_by_kind(_across_digit, _across_date, _across_name)
