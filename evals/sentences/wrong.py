"""Make report sentences that are wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evals.sentences.made import (
    MadeSentence,
    SamplePage,
    SentenceMaker,
    map_by_kind,
    pick_sentences,
    rewrite_page,
    stands_whole,
)
from evals.sentences.right import converted, later, rounded


def made_up_id(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that cites a source that there is not."""
    said = pick_sentences(maker, page)
    spelt = maker.chance.choice(["[S9]", "[S77]", "[12]", "[^4]", "[s1]", "【9】"])
    return MadeSentence(maker.cited(said, "S9").replace("[S9]", spelt), right=maker.cited(said))


def altered_quotation(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a quotation in which a word or a character is another one."""
    said = pick_sentences(maker, page)[:-1]
    units = said.split() if maker.language == "en" else list(said)
    at = maker.chance.randrange(1, len(units))
    if not any(map(str.isalnum, units[at])):
        return None
    other = pick_sentences(maker, maker.other(page))[:-1]
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
    return MadeSentence(
        f"{maker.chance.choice(maker.words['leads'])}{spelt.format(wrong)}{maker.words['stop']}"
    )


def changed_digit(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in which one digit of a longer number is another one."""
    said = maker.chance.choice(
        [pick_sentences(maker, page), rewrite_page(maker, pick_sentences(maker, page))]
    )
    found = list(re.finditer(r"(?<![\dA-Za-z.,-])\d[\d,.]*\d(?![A-Za-z-])", said))
    if not found:
        return None
    place = maker.chance.choice(found)
    at = maker.chance.choice([i for i, one in enumerate(place[0]) if one.isdigit()])
    new = str((int(place[0][at]) + maker.chance.randint(1, 8)) % 9 + 1)
    number = place[0][:at] + new + place[0][at + 1 :]
    if number == place[0] or re.search(rf"(?<!\d){re.escape(number)}(?!\d)", page.text):
        return None
    return MadeSentence(maker.cited(said[: place.start()] + number + said[place.end() :]))


def changed_count(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in which a small number, in a digit or a word, is another one."""
    return _exchanged(maker, page, maker.words["counts"])


def changed_date(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in which the month, the day or the year of a date is another one."""
    said = pick_sentences(maker, page)
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
    return MadeSentence(maker.cited(said[: place.start(part)] + new + said[place.end(part) :]))


def other_source(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that cites a page which does not say it."""
    said = maker.chance.choice(
        [pick_sentences(maker, page), rewrite_page(maker, pick_sentences(maker, page))]
    )
    return MadeSentence(maker.cited(said, "SX"), right=maker.cited(said))


def swapped_name(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a name of another page in place of one of its own."""
    other = maker.other(page)
    return _swapped(maker, page, maker.names(other), other)


def swapped_inside(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with another name of the same page in place of one of its own."""
    return _swapped(maker, page, maker.names(page), None)


def _swapped(
    maker: SentenceMaker, page: SamplePage, names: Mapping[str, str], other: SamplePage | None
) -> MadeSentence | None:
    """Put one of some names in the place of one of the same sort."""
    said, own = pick_sentences(maker, page), maker.names(page)
    there = [one for one in own if one in said]
    whole = [one for one in there if maker.language == "en" or stands_whole(one, said)]
    pairs = [(one, new) for one in whole for new in names if names[new] == own[one]]
    fit = [(one, new) for one, new in pairs if _replaces(new, one, said, there)]
    if not fit:
        return None
    old, given = maker.chance.choice(fit)
    return MadeSentence(
        maker.cited(said.replace(old, given, 1)), other=maker.chance.choice([other, None])
    )


def _replaces(new: str, old: str, said: str, own: Sequence[str]) -> bool:
    alike = new in said or new in old or any(one in new for one in own)
    return not alike and not set(new.split()) & set(old.split())


def _changed_span(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence that counts the years from an earlier date wrongly."""
    return later(maker, page, maker.chance.choice([-7, -4, -3, 3, 5, 8]))


def _changed_about(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a number that is rounded to another one."""
    return rounded(maker, page, maker.chance.choice([0.6, 0.8, 1.25, 1.6]))


def _changed_unit(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a length in another unit, wrongly converted."""
    return converted(maker, page, maker.chance.choice([0.5, 0.8, 1.3, 2.0]))


def negated(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence that says the opposite."""
    said = maker.chance.choice(
        [pick_sentences(maker, page), rewrite_page(maker, pick_sentences(maker, page))]
    )
    for old, new in maker.chance.sample(maker.words["negations"], len(maker.words["negations"])):
        wrong = re.sub(old, new, said, count=1)
        if wrong != said:
            return MadeSentence(maker.cited(wrong))
    return None


def overstated(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence that says more than its page."""
    return _exchanged(maker, page, maker.words["stronger"])


def _exchanged(
    maker: SentenceMaker, page: SamplePage, table: Sequence[Sequence[str]]
) -> MadeSentence | None:
    said = pick_sentences(maker, page)
    for old, new in maker.chance.sample(list(table), len(table)):
        wrong = re.sub(old, new, said, count=1)
        if wrong != said:
            return MadeSentence(maker.cited(wrong))
    return None


def mix_halves(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of which one half is of no source at all."""
    other, joint = maker.other(page), {"en": ", and ", "zh": "，并且"}[maker.language]
    first, second = pick_sentences(maker, page)[:-1], pick_sentences(maker, other)[:-1]
    return MadeSentence(maker.cited(f"{first}{joint}{second}{maker.words['stop']}"))


WRONG = map_by_kind(
    *(made_up_id, altered_quotation, changed_digit, changed_date, other_source, swapped_name),
    *(swapped_inside, negated, changed_count, overstated, mix_halves, _changed_span),
    *(_changed_about, _changed_unit),
)
