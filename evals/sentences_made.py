"""Make report sentences that are right, and others that are wrong, from the pages of data sets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from retrieval.text import sentences

SETS = {
    "tuning": {"en": ["hotpotqa"], "zh": ["cmrc2018"]},
    "held-out": {"en": ["2wiki", "musique"], "zh": ["drcd", "rgb_zh_int"]},
}
"""The sets that each half of the benchmark is made from, by language."""

HAN = "[\u4e00-\u9fff]"

TRIES = 400
"""How many pages are looked at for one sentence of a kind."""


class Page(NamedTuple):
    """A page of a data set, and its sentences that can stand alone."""

    title: str
    text: str
    said: list[str]


class Case(NamedTuple):
    """A small report, the sentence in it that counts, and its sources."""

    kind: str
    wrong: bool
    language: str
    body: str
    said: str
    """The sentence as it stands in the body."""
    texts: dict[str, str]
    titles: dict[str, str]
    right: str = ""
    """What a wrong sentence would be if it named its source."""
    question: str = ""


class Maker:
    """Makes the cases of one language and one half, the same ones for the same seed."""

    def __init__(self, data: Path, half: str, language: str, seed: int) -> None:
        self.chance = Random(f"{half} {language} {seed}")
        self.language, self.half = language, half
        self.pages = [page for name in SETS[half][language] for page in _pages(data, name)]
        self.words: dict[str, Any] = _words()[language]

    def case(self, kind: str) -> Case | None:
        """Make one case of a kind, or none where no page of many serves."""
        for _ in range(TRIES):
            page = self.chance.choice(self.pages)
            made = KINDS[kind](self, page)
            if made:
                return self._framed(kind, page, made)
        return None

    def listed(self, name: str) -> list[str]:
        """Return every other one of the sentences of a kind: each half has its own."""
        return list(self.words[name])[self.half == "held-out" :: 2]

    def other(self, page: Page) -> Page:
        """Return some other page."""
        return next(one for one in self.chance.sample(self.pages, 2) if one is not page)

    def names(self, page: Page) -> list[str]:
        """Return names in a page: spans with capitals, in Chinese the title and marked names."""
        if self.language == "zh":
            told = re.findall(rf"《([^》]{{2,12}})》|({HAN}{{2,6}}·{HAN}{{2,6}})", page.text)
            short = [page.title] if re.fullmatch(f"{HAN[:-1]}·]{{2,8}}", page.title) else []
            return list(dict.fromkeys([*short, *(one or other for one, other in told)]))
        capital = r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}"
        found = dict.fromkeys(re.findall(capital, " ".join(page.said)))
        return [one for one in found if one not in self.words["months"]]

    def cited(self, said: str, source: str = "S1") -> str:
        """Return a sentence with a citation before its full stop."""
        stop = said[-1] if said[-1] in ".。" else ""
        space = "" if self.language == "zh" else " "
        return f"{said.removesuffix(stop)}{space}[{source}]{stop or '.'}"

    def _framed(self, kind: str, page: Page, made: Made) -> Case:
        """Put a sentence among others, in a paragraph or a list."""
        others = [made.other or self.other(page), self.other(page), self.other(page)]
        names = ["S1", *self.chance.sample(["S2", "S3", "S4"], 3)]
        texts = dict(
            zip(names, [page.text + made.more, *(one.text for one in others)], strict=True)
        )
        said = made.said.replace("[SX]", f"[{names[1]}]").replace('s="SX"', f's="{names[1]}"')
        beside = self.cited(self.chance.choice(others[1].said), names[2])
        joint = "" if self.language == "zh" else " "
        frame = made.frame or self.chance.choice(
            ["{}", "{}" + joint + beside, beside + joint + "{}", "## A\n\n- {}\n- " + beside]
        )
        titles = dict(zip(names, [page.title, *(one.title for one in others)], strict=True))
        body = frame.format(said)
        return Case(
            kind, kind in WRONG, self.language, body, said, texts, titles, made.right, made.about
        )


class Made(NamedTuple):
    """A sentence of a kind; `[SX]` in it names a source that does not say it."""

    said: str
    right: str = ""
    frame: str = ""
    about: str = ""
    more: str = ""
    """What its page says besides."""
    other: Page | None = None


Way = Callable[[Maker, Page], Made | None]


@cache
def _pages(data: Path, name: str) -> list[Page]:
    lines = (data / name / "corpus.jsonl").read_text("utf-8").splitlines()
    read = (json.loads(line) for line in lines[:4000])
    made = (Page(one["title"], one["text"], list(_alone(one["text"]))) for one in read)
    return [page for page in made if page.said]


@cache
def _words() -> dict[str, Any]:
    file = Path(__file__).with_name("sentences.json")
    words: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return words


def _alone(text: str) -> Iterator[str]:
    for span in sentences(text):
        said = span.text
        chinese = bool(re.match("[\u4e00-\u9fff《]", said))
        fits = 14 <= len(said) <= 90 if chinese else 45 <= len(said) <= 260
        ends = (
            said[-1] == "。" if chinese else bool(re.match(r"[A-Z][a-z]", said)) and said[-1] == "."
        )
        if (
            fits
            and ends
            and not re.search(r"[\[\]*`<>|“”「」\"\n…;；&#_^~\\{}=（(]|\S\.[a-z]{2}", said)
        ):
            yield said


def _said(maker: Maker, page: Page) -> str:
    return maker.chance.choice(page.said)


# --- right sentences


def copied(maker: Maker, page: Page) -> Made:
    """Return a sentence as its page has it."""
    return Made(maker.cited(_said(maker, page)))


def reworded(maker: Maker, page: Page) -> Made | None:
    """Return a sentence of a page with some other words that mean the same."""
    said = _said(maker, page)
    changed = _reworded(maker, said)
    return Made(maker.cited(changed)) if changed != said else None


def _reworded(maker: Maker, said: str) -> str:
    for old, new in maker.words["synonyms"]:
        bound = r"\b" if maker.language == "en" else ""
        said = re.sub(f"{bound}{old}{bound}", new, said, count=1)
    moved = re.fullmatch(r"((?:In|During|After|Since) [^,]{4,30}), (the \w.*)\.", said)
    if moved:
        said = f"{moved[2][0].upper()}{moved[2][1:]} {moved[1][0].lower()}{moved[1][1:]}."
    return said


def named(maker: Maker, page: Page) -> Made | None:
    """Return a sentence with the title of its page in place of a pronoun."""
    said = re.sub(maker.words["pronoun"], page.title, _said(maker, page), count=1)
    title = page.title and not re.search(r"[()*_\[\]`<>|\"“”]", page.title)
    return Made(maker.cited(said)) if title and page.title in said else None


def joined(maker: Maker, page: Page) -> Made | None:
    """Return two sentences as clauses of one, with one citation behind them."""
    if len(page.said) < 2:
        return None
    at = maker.chance.randrange(len(page.said) - 1)
    first, second = page.said[at], page.said[at + 1]
    mark = "；" if maker.language == "zh" else "; "
    return Made(maker.cited(f"{first[:-1]}{mark}{second}"))


def quoted(maker: Maker, page: Page) -> Made:
    """Return a sentence with a quotation, as models spell it."""
    said = _said(maker, page)[:-1]
    spelt = maker.chance.choice(
        ['<q s="S1">{}</q>', "“{}” [S1]", '&lt;q s="S1"&gt;{}&lt;/q&gt;', '<q s="S1">{}</q> [S1]']
    )
    lead, stop = maker.chance.choice(maker.words["leads"]), maker.words["stop"]
    return Made(f"{lead}{spelt.format(said)}{stop}")


def coded(maker: Maker, page: Page) -> Made | None:
    """Return two sentences with inline code on both sides of a citation, and a quotation."""
    if len(page.said) < 2:
        return None
    parts = []
    for said in maker.chance.sample(page.said, 2):
        words = re.findall(r"[A-Za-z]{4,}|[\u4e00-\u9fff]{4}", said)
        if not words:
            return None
        parts.append(maker.cited(said.replace(words[-1], f"`{words[-1]}`", 1)))
    joint = "" if maker.language == "zh" else " "
    return Made(joint.join([*parts, quoted(maker, page).said]))


def tagged(maker: Maker, page: Page) -> Made:
    """Return a sentence with code that looks like HTML, and one of the page beside it."""
    code = maker.chance.choice(["<agent_memory>", "List<String>", "<T>", "vector<int>", "<config>"])
    lead = {"en": "It is written as ", "zh": "它写作"}[maker.language]
    stop, said = maker.words["stop"], _said(maker, page)
    joint = "" if maker.language == "zh" else " "
    text = f"{lead}`{code}`"
    more = f"\n{lead}{code}{stop}"
    return Made(f"{maker.cited(text + stop)}{joint}{maker.cited(said)}", more=more)


def listed(maker: Maker, page: Page) -> Made:
    """Return a bullet with a label."""
    stop = ":" if maker.language == "en" else "："
    label = maker.chance.choice(["**Step 12{0}** ", "**{0}** ", "", "1.3 ", "(14) "])
    label = label.format(stop) if "12" in label else label.format(page.title + stop)
    label = "" if re.search(r"\*\* ?\*|[<>\[\]]", label) else label
    said = maker.cited(_said(maker, page))
    return Made(f"{label}{said}", frame="## 3. A\n\n- {}", about=page.title)


def tabled(maker: Maker, page: Page) -> Made:
    """Return a row of a table."""
    said = maker.cited(_said(maker, page))
    cell = maker.chance.choice([r"a \| b", "x", "7", "v2"])
    return Made(f"{cell} | {said}", frame="| No. | A |\n|---|---|\n| {} |")


def computed(maker: Maker, page: Page) -> Made | None:
    """Return a calculation with numbers of the page, which holds."""
    found = [
        int(one)
        for one in re.findall(
            r"(?<![\w.,:/–-])[1-9]\d{1,3}(?![\w.,:/–%-]|\s*(?:[万亿千百%]|[mb]illion|thousand|per))",
            page.text,
        )
    ]
    pairs = [(a, b) for a in found for b in found if a > b]
    if not pairs:
        return None
    a, b = maker.chance.choice(pairs)
    form = maker.chance.choice(maker.words["computed"])
    told = form.format(a=a, b=b, diff=a - b, sum=a + b)
    return Made(maker.cited(told))


def numbered(maker: Maker, page: Page) -> Made:
    """Return a sentence with a number of a file's name, a heading, a label or the question."""
    form = maker.chance.choice(maker.words["numbered"])
    said = _said(maker, page)
    inner = said if maker.language == "zh" else said[0].lower() + said[1:]
    told = maker.cited(form["said"].format(inner))
    return Made(told, frame=form.get("frame", ""), about=form.get("about", ""))


def not_found(maker: Maker, page: Page) -> Made:
    """Return a sentence that says that something was not found."""
    return Made(maker.chance.choice(maker.listed("not_found")).format(page.title or "X"))


def inferred(maker: Maker, page: Page) -> Made:
    """Return a sentence that says that it is an inference, or not sure."""
    return Made(maker.chance.choice(maker.listed("inferred")).format(page.title or "X"))


def both(maker: Maker, page: Page) -> Made | None:
    """Return a sentence made of two pages, which cites both."""
    other, joint = maker.other(page), {"en": ", while ", "zh": "，而"}[maker.language]
    said = f"{_said(maker, page)[:-1]}{joint}{_said(maker, other)[:-1]}"
    space = "" if maker.language == "zh" else " "
    return Made(f"{said}{space}[S1][SX]{maker.words['stop']}", other=other)


# --- wrong sentences


def made_up_id(maker: Maker, page: Page) -> Made:
    """Return a sentence that cites a source that there is not."""
    said = _said(maker, page)
    spelt = maker.chance.choice(["[S9]", "[S77]", "[12]", "[^4]", "[s1]", "【9】"])
    return Made(maker.cited(said, "S9").replace("[S9]", spelt), right=maker.cited(said))


def altered_quotation(maker: Maker, page: Page) -> Made | None:
    """Return a quotation in which a word or a character is another one."""
    said = _said(maker, page)[:-1]
    units = said.split() if maker.language == "en" else list(said)
    at = maker.chance.randrange(1, len(units))
    if not any(map(str.isalnum, units[at])):
        return None
    other = _said(maker, maker.other(page))[:-1]
    others = other.split() if maker.language == "en" else re.findall(r"\w", other)
    changed = [
        *units[:at],
        *maker.chance.choice([[maker.chance.choice(others)], []]),
        *units[at + 1 :],
    ]
    wrong = (" " if maker.language == "en" else "").join(changed)
    spelt = maker.chance.choice(['<q s="S1">{}</q>', "“{}” [S1]", '&lt;q s="S1"&gt;{}&lt;/q&gt;'])
    plain = re.sub(r"\W", "", wrong).lower()
    if plain in re.sub(r"\W", "", page.text).lower() or len(plain) < 12:
        return None
    return Made(
        f"{maker.chance.choice(maker.words['leads'])}{spelt.format(wrong)}{maker.words['stop']}"
    )


def changed_digit(maker: Maker, page: Page) -> Made | None:
    """Return a sentence in which one digit of a longer number is another one."""
    said = maker.chance.choice([_said(maker, page), _reworded(maker, _said(maker, page))])
    found = list(re.finditer(r"(?<![\dA-Za-z.,-])\d[\d,.]*\d(?![A-Za-z-])", said))
    if not found:
        return None
    place = maker.chance.choice(found)
    at = maker.chance.choice([i for i, one in enumerate(place[0]) if one.isdigit()])
    new = str((int(place[0][at]) + maker.chance.randint(1, 8)) % 9 + 1)
    number = place[0][:at] + new + place[0][at + 1 :]
    if number == place[0] or re.search(rf"(?<!\d){re.escape(number)}(?!\d)", page.text):
        return None
    return Made(maker.cited(said[: place.start()] + number + said[place.end() :]))


def changed_count(maker: Maker, page: Page) -> Made | None:
    """Return a sentence in which a small number, in a digit or a word, is another one."""
    return _exchanged(maker, page, maker.words["counts"])


def changed_date(maker: Maker, page: Page) -> Made | None:
    """Return a sentence in which the month, the day or the year of a date is another one."""
    said = _said(maker, page)
    found = list(re.finditer(maker.words["date"], said))
    if not found:
        return None
    place = maker.chance.choice(found)
    part = maker.chance.choice([name for name, one in place.groupdict().items() if one])
    old = place[part]
    months = maker.words["months"]
    small = str(maker.chance.randint(1, 28 if part == "day" else 12))
    year = str(int(old) + maker.chance.choice([-3, -1, 1, 2, 10])) if part == "year" else ""
    new = year or (maker.chance.choice(months) if old in months else small)
    if new == old:
        return None
    return Made(maker.cited(said[: place.start(part)] + new + said[place.end(part) :]))


def other_source(maker: Maker, page: Page) -> Made:
    """Return a sentence that cites a page which does not say it."""
    said = maker.chance.choice([_said(maker, page), _reworded(maker, _said(maker, page))])
    return Made(maker.cited(said, "SX"), right=maker.cited(said))


def swapped_name(maker: Maker, page: Page) -> Made | None:
    """Return a sentence with a name of another page in place of one of its own."""
    said, other = _said(maker, page), maker.other(page)
    return _swapped(maker, page, said, maker.names(other), other)


def swapped_inside(maker: Maker, page: Page) -> Made | None:
    """Return a sentence with another name of the same page in place of one of its own."""
    said = _said(maker, page)
    return _swapped(maker, page, said, maker.names(page), None)


def _swapped(
    maker: Maker, page: Page, said: str, names: Sequence[str], other: Page | None
) -> Made | None:
    own = [one for one in maker.names(page) if one in said]
    new = [one for one in names if one not in said and not any(each in one for each in own)]
    if not own or not new:
        return None
    old, given = maker.chance.choice(own), maker.chance.choice(new)
    if set(given.split()) & set(old.split()) or given in old:
        return None
    return Made(maker.cited(said.replace(old, given, 1)), other=maker.chance.choice([other, None]))


def negated(maker: Maker, page: Page) -> Made | None:
    """Return a sentence that says the opposite."""
    said = maker.chance.choice([_said(maker, page), _reworded(maker, _said(maker, page))])
    for old, new in maker.chance.sample(maker.words["negations"], len(maker.words["negations"])):
        wrong = re.sub(old, new, said, count=1)
        if wrong != said:
            return Made(maker.cited(wrong))
    return None


def overstated(maker: Maker, page: Page) -> Made | None:
    """Return a sentence that says more than its page."""
    return _exchanged(maker, page, maker.words["stronger"])


def _exchanged(maker: Maker, page: Page, table: Sequence[Sequence[str]]) -> Made | None:
    said = _said(maker, page)
    for old, new in maker.chance.sample(list(table), len(table)):
        wrong = re.sub(old, new, said, count=1)
        if wrong != said:
            return Made(maker.cited(wrong))
    return None


def mixed(maker: Maker, page: Page) -> Made:
    """Return a sentence of which one half is of no source at all."""
    other, joint = maker.other(page), {"en": ", and ", "zh": "，并且"}[maker.language]
    first, second = _said(maker, page)[:-1], _said(maker, other)[:-1]
    return Made(maker.cited(f"{first}{joint}{second}{maker.words['stop']}"))


RIGHT: dict[str, Way] = {
    one.__name__: one
    for one in (
        *(copied, reworded, named, joined, quoted, coded, tagged, listed, tabled, computed),
        *(numbered, both, not_found, inferred),
    )
}
WRONG: dict[str, Way] = {
    one.__name__: one
    for one in (
        *(made_up_id, altered_quotation, changed_digit, changed_date, other_source, swapped_name),
        *(swapped_inside, negated, changed_count, overstated, mixed),
    )
}
KINDS = RIGHT | WRONG
