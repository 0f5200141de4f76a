import random
import re
from collections import Counter

import pytest

from report.checks.attribution import enforce_citations
from report.checks.verification import verify_citations

WORDS = {
    "en": (
        "river stone harbour winter copper market garden signal orchard lantern bridge meadow "
        "barley anchor granite kettle ribbon saddle thunder walnut velvet timber compass"
    ),
    "zh": "山 水 风 云 春 秋 江 河 湖 海 星 月 松 竹 梅 兰 金 石 丝 田 园 桥 路 船 车 书 画 琴 棋",
}


class Sample:
    """A report that is right, its sources, and ways to make it wrong."""

    def __init__(self, language, seed):
        self.language, self.chance = language, random.Random(f"{language}{seed}")
        self.joint, self.stop = (" ", ". ") if language == "en" else ("", "。")
        self.figures = iter(self.chance.sample(range(1000, 9999), 60))
        self.pages = {
            f"S{n}": [self.sentence() for _ in range(12)]
            for n in self.chance.sample(range(1, 40), 5)
        }
        self.texts = {name: self.stop.join(page) + self.stop for name, page in self.pages.items()}
        self.body = "\n\n".join(self.section(number) for number in range(1, 4))

    def sentence(self):
        words = self.chance.choices(
            WORDS[self.language].split(), k=9 if self.language == "en" else 16
        )
        words.insert(4, str(next(self.figures)))
        return self.joint.join(words)

    def section(self, number):
        lines = [self.statement() for _ in range(4)]
        return f"## {number}\n\n{self.joint.join(lines[:2])}\n\n- {lines[2]}\n- {lines[3]}"

    def statement(self):
        source = self.chance.choice(list(self.pages))
        words = self.chance.choice(self.pages[source])
        figure = re.search(r"\d+", words)[0]
        said = {"en": "It is said that", "zh": "据说"}[self.language]
        end = self.stop.strip()
        return self.chance.choice(
            [
                f'{said} <q s="{source}">{words}</q>{end}',
                f'{said} <q s="{source}">{words}</q> [{source}]{end}',
                f"{said} “{words}” [{source}]{end}",
                f"{said} {figure} {WORDS[self.language].split()[0]} [{source}]{end}",
            ]
        )

    def other(self, name):
        return self.chance.choice([source for source in self.pages if source != name])

    def any(self, pattern):
        """Return a random place of a pattern, or None."""
        found = list(re.finditer(pattern, self.body))
        return self.chance.choice(found) if found else None


def put(sample, place, new):
    return sample.body[: place.start()] + new + sample.body[place.end() :]


def swap_a_quoted_id(sample):
    place = sample.any(r'(?<=<q s=")S\d+')
    return place and put(sample, place, sample.other(place[0]))


def swap_a_cited_id(sample):
    place = sample.any(r"(?<=[^>] \[)S\d+")
    return place and put(sample, place, sample.other(place[0]))


def invent_an_id(sample):
    place = sample.any(r"(?<=\[)S\d+|(?<=s=\")S\d+")
    return place and put(sample, place, "S77")


def change_a_character(sample):
    place = sample.any(r'<q s="S\d+">[^<]+(?=</q>)|“[^”]+(?=”)')
    if not place:
        return None
    start = place.end() - sample.chance.randint(2, 12)
    new = sample.chance.choice([one for one in "x火Z" if one != sample.body[start]])
    return sample.body[:start] + new + sample.body[start + 1 :]


def change_a_digit(sample):
    place = sample.any(r"(?<![S\d#] )(?<![S\d#])\d(?=\d{3})")
    return place and put(sample, place, str((int(place[0]) + 4) % 10))


def drop_a_word(sample):
    place = sample.any(
        r'(?<=[^<>" ]) [a-z]+(?= [^<>]*</q>)|(?<=[^<>"])[^\x00-\xff](?=[^<>“”]+</q>)'
    )
    return place and put(sample, place, "")


def add_an_address(sample):
    place = sample.any(r"[.。]")
    return place and put(sample, place, f" (https://evil.test/{sample.chance.random()}){place[0]}")


def add_a_link(sample):
    place = sample.any(r"It is said|据说")
    return place and put(sample, place, f"[{place[0]}](https://evil.test/?q={place.start()})")


def move_a_quotation(sample):
    place = sample.any(r'<q s="(S\d+)">([^<]+)</q>(?: \[\1\])?')
    if not place:
        return None
    other = sample.other(place[1])
    return put(sample, place, f'<q s="{other}">{place[2]}</q> [{other}]')


CORRUPTIONS = [
    swap_a_quoted_id,
    swap_a_cited_id,
    invent_an_id,
    change_a_character,
    change_a_digit,
    drop_a_word,
    add_an_address,
    add_a_link,
    move_a_quotation,
]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_a_hundred_clean_reports_none_is_changed(language):
    for seed in range(50):
        sample = Sample(language, seed)
        checked = verify_citations(sample.body, sample.texts)

        assert checked.removed == [], sample.body
        assert checked.body == sample.body


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_all_corruptions_ninety_nine_in_a_hundred_are_found(language):
    tried, missed = Counter(), []
    for seed in range(14):
        for corrupt in CORRUPTIONS:
            sample = Sample(language, seed)
            wrong = corrupt(sample)
            if wrong is None or wrong == sample.body:
                continue
            tried[corrupt.__name__] += 1
            if not caught(sample, verify_citations(wrong, sample.texts)):
                missed.append((corrupt.__name__, seed, wrong))

    assert tried.total() >= 100
    assert len(tried) == len(CORRUPTIONS)
    assert len(missed) <= tried.total() / 100, missed


def caught(sample, checked):
    """Tell whether a corruption was taken out, mended or reported."""
    mended = re.sub(r"(?<=</q>) ?\[S\d+\]", "", checked.body)
    clean = re.sub(r"(?<=</q>) ?\[S\d+\]", "", sample.body)
    return (
        bool(checked.removed)
        or mended == clean
        or bool(enforce_citations(checked.body, sample.texts).doubted)
    )
