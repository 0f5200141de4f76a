"""Make report sentences in one language over a page in the other one."""

from __future__ import annotations

import re

from evals.sentences.made import Made, Maker, Page, Way

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


def _fact(maker: Maker, page: Page, wanted: str) -> tuple[str, Fact] | None:
    """Return a sentence about a page, and the parts that are filled in, of which one is wanted."""
    facts = [
        (told, found.groupdict())
        for pattern, told in FACTS[maker.language]
        for found in re.finditer(pattern, page.text)
    ]
    fit = [(told, fact) for told, fact in facts if set(fact) & set(wanted)]
    return maker.chance.choice(fit) if fit else None


def _made(maker: Maker, told: str, fact: Fact) -> Made:
    spelt = dict(fact)
    if "m" in fact and maker.language == "en":
        spelt["m"] = str(_MONTHS.index(fact["m"]) + 1)
    elif "m" in fact:
        spelt["m"] = _MONTHS[int(fact["m"]) - 1]
    chinese = maker.language == "en"
    cited = f"{told.format(**spelt)}{'[S1]。' if chinese else ' [S1].'}"
    return Made(cited, frame="{}", language="zh" if chinese else "en")


def across(maker: Maker, page: Page) -> Made | None:
    """Return a sentence with a date, a number or a name of a page in the other language."""
    found = _fact(maker, page, "ydmnc")
    return _made(maker, *found) if found and _is_real(found[1]) else None


def across_digit(maker: Maker, page: Page) -> Made | None:
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


def across_date(maker: Maker, page: Page) -> Made | None:
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


def across_name(maker: Maker, page: Page) -> Made | None:
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
ACROSS_WRONG: dict[str, Way] = {
    one.__name__: one for one in (across_digit, across_date, across_name)
}
