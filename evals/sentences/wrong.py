"""Make report sentences that are wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from evals.sentences.made import (
    MadeSentence,
    SamplePage,
    SentenceMaker,
    Way,
    map_by_kind,
    stands_whole,
)
from evals.sentences.right import (
    COUNT,
    FRAMES,
    Fact,
    converted,
    fenced,
    is_real,
    join_cited,
    later,
    pick_fact,
    rounded,
    word_fact,
)


def made_up_id(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that cites a source that there is not."""
    said = maker.sentence(page)
    spelt = maker.chance.choice(["[S9]", "[S77]", "[12]", "[^4]", "[s1]", "【9】"])
    return MadeSentence(maker.cited(said, "S9").replace("[S9]", spelt), right=maker.cited(said))


def altered_quotation(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a quotation in which a word or a character is another one."""
    said = maker.clause(page)
    units = said.split() if maker.language == "en" else list(said)
    at = maker.chance.randrange(1, len(units))
    if not any(map(str.isalnum, units[at])):
        return None
    other = maker.clause(maker.other(page))
    others = other.split() if maker.language == "en" else re.findall(r"\w", other)
    new = maker.chance.choice([[maker.chance.choice(others)], []])
    wrong = maker.space.join([*units[:at], *new, *units[at + 1 :]])
    spelt = maker.chance.choice(['<q s="S1">{}</q>', "“{}” [S1]", '&lt;q s="S1"&gt;{}&lt;/q&gt;'])
    plain = re.sub(r"\W", "", wrong).lower()
    if plain in re.sub(r"\W", "", page.text).lower() or len(plain) < 12:
        return None
    return MadeSentence(f"{maker.word('leads')}{spelt.format(wrong)}{maker.words['stop']}")


def changed_digit(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in which one digit of a longer number is another one."""
    said = maker.said_or_reworded(page)
    found = list(re.finditer(r"(?<![\dA-Za-z.,-])\d[\d,.]*\d(?![A-Za-z-])", said))
    if not found:
        return None
    place = maker.chance.choice(found)
    number = _other_digit(maker, page, place[0])
    if not number:
        return None
    return MadeSentence(maker.cited(said[: place.start()] + number + said[place.end() :]))


def _other_digit(maker: SentenceMaker, page: SamplePage, number: str) -> str:
    """Return a number with another digit, or nothing where that is a number of the page too."""
    at = maker.chance.choice([at for at, sign in enumerate(number) if sign.isdigit()])
    digit = str((int(number[at]) + maker.chance.randint(1, 8)) % 9 + 1)
    new = number[:at] + digit + number[at + 1 :]
    same = new == number or re.search(rf"(?<!\d){re.escape(new)}(?!\d)", page.text)
    return "" if same else new


def changed_date(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in which the month, the day or the year of a date is another one."""
    said = maker.sentence(page)
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
    said = maker.said_or_reworded(page)
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
    said, own = maker.sentence(page), maker.names(page)
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


def negated(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence that says the opposite."""
    return _exchanged(maker, maker.said_or_reworded(page), "negations")


def changed_count(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in which a small number, in a digit or a word, is another one."""
    return _exchanged(maker, maker.sentence(page), "counts")


def overstated(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence that says more than its page."""
    return _exchanged(maker, maker.sentence(page), "stronger")


def _exchanged(maker: SentenceMaker, said: str, table: str) -> MadeSentence | None:
    """Return a sentence with one of its wordings exchanged by a table."""
    rules = maker.words[table]
    for old, new in maker.chance.sample(rules, len(rules)):
        wrong = re.sub(old, new, said, count=1)
        if wrong != said:
            return MadeSentence(maker.cited(wrong))
    return None


def mix_halves(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of which one half is of no source at all."""
    other = maker.other(page)
    said = f"{maker.clause(page)}{maker.words['besides']}{maker.clause(other)}"
    return MadeSentence(maker.cited(f"{said}{maker.words['stop']}"))


def _changed_span(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence that counts the years from an earlier date wrongly."""
    return later(maker, page, maker.chance.choice([-7, -4, -3, 3, 5, 8]))


def _changed_about(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a number that is rounded to another one."""
    return rounded(maker, page, maker.chance.choice([0.6, 0.8, 1.25, 1.6]))


def _changed_unit(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a length in another unit, wrongly converted."""
    return converted(maker, page, maker.chance.choice([0.5, 0.8, 1.3, 2.0]))


_MISTAKES = (changed_digit, made_up_id, altered_quotation)


def _framed_wrong(maker: SentenceMaker, page: SamplePage, name: str) -> MadeSentence | None:
    """Return a sentence with a mistake in one of the forms."""
    made = maker.chance.choice(_MISTAKES)(maker, page)
    return made._replace(frame=FRAMES[name]) if made else None


def _footnoted_wrong(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with another digit, cited by the mark of a footnote or in such brackets."""
    made = changed_digit(maker, page)
    spelt = maker.chance.choice(["[^S1]", "【S1】", "[S1, S1]"])
    return MadeSentence(made.said.replace("[S1]", spelt), frame="{}") if made else None


def _several_wrong(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return two sentences as clauses of one, and in one clause a number is another one."""
    made, other = changed_digit(maker, page), maker.other(page)
    return join_cited(maker, re.sub(r" ?\[S1\]\W$", "", made.said), other) if made else None


def _fenced_wrong(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a line of code with a number that no page has."""
    made = fenced(maker, page)
    number = str(maker.chance.randrange(23_457, 98_765))
    return made and made._replace(said=COUNT.sub(number, made.said, count=1))


def _real_fact(maker: SentenceMaker, page: SamplePage, wanted: str) -> tuple[str, Fact] | None:
    found = pick_fact(maker, page, wanted)
    return found if found and is_real(found[1]) else None


def _across_digit(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in the other language with another digit in its year or its number."""
    found = _real_fact(maker, page, "yc")
    if not found:
        return None
    told, fact = found
    part = "c" if "c" in fact else "y"
    # A page may have the other number as well, as it has many years.
    new = _other_digit(maker, page, fact[part])
    return word_fact(maker, told, {**fact, part: new}) if new else None


def _across_date(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in the other language with another month or day."""
    found = _real_fact(maker, page, "m")
    if not found:
        return None
    told, fact = found
    if "d" in fact and maker.chance.random() < 0.5:
        new = {**fact, "d": str(int(fact["d"]) % 28 + maker.chance.choice([1, 3]))}
    elif maker.language == "en":
        at = maker.months.index(fact["m"]) + maker.chance.randint(1, 11)
        new = {**fact, "m": maker.months[at % 12]}
    else:
        new = {**fact, "m": str((int(fact["m"]) + maker.chance.randint(0, 10)) % 12 + 1)}
    return word_fact(maker, told, new) if new != fact else None


def _across_name(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence in the other language with a name in Latin letters of another page."""
    found, other = pick_fact(maker, page, "n"), pick_fact(maker, maker.other(page), "n")
    if not found or not other or set(found[1]["n"].split()) & set(other[1]["n"].split()):
        return None
    return word_fact(maker, found[0], other[1])


def _capitalized(clause: str) -> str:
    return clause[0].upper() + clause[1:]


def _invented(maker: SentenceMaker, _: SamplePage) -> MadeSentence:
    """Return a cited sentence that is of no page."""
    return MadeSentence(maker.cited(f"{_capitalized(maker.word('clauses'))}{maker.words['stop']}"))


def _half_invented(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of a page with an invented clause behind it."""
    said = f"{maker.clause(page)}{maker.words['and']}{maker.word('clauses')}"
    return MadeSentence(maker.cited(f"{said}{maker.words['stop']}"))


def _carried(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a remark that something was not found, with a claim or advice behind it."""
    said = f"{maker.remark('not_found', page)[:-1]}{maker.words['so']}{maker.word('clauses')}"
    return MadeSentence(f"{said}{maker.words['stop']}")


def _uncited_altered(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence of a page without a citation, with a word of another page in it."""
    said = maker.sentence(page)
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


_CLAIMING = {"heading": "## {}\n\n", "colon": "{}:\n\n- ", "label": "- **{}:** "}


def _claimed(maker: SentenceMaker, page: SamplePage, frame: str) -> MadeSentence:
    """Return a line that claims what no page says, and names or leads on to what follows."""
    line = _capitalized(maker.word("clauses"))
    return MadeSentence(line, frame=_CLAIMING[frame] + maker.cited(maker.sentence(page)))


_IN_FRAMES: dict[str, Way] = {
    f"in_{name}_wrong": partial(_framed_wrong, name=name) for name in FRAMES
}
_CLAIMED: dict[str, Way] = {f"claimed_{name}": partial(_claimed, frame=name) for name in _CLAIMING}

WRONG = {
    **map_by_kind(made_up_id, altered_quotation, changed_digit, changed_date, other_source),
    **map_by_kind(swapped_name, swapped_inside, negated, changed_count, overstated, mix_halves),
    **map_by_kind(_changed_span, _changed_about, _changed_unit),
    **_IN_FRAMES,
    **map_by_kind(_footnoted_wrong, _several_wrong, _fenced_wrong),
    **map_by_kind(_across_digit, _across_date, _across_name),
    **map_by_kind(_invented, _half_invented, _carried, _uncited_altered),
    **_CLAIMED,
}
