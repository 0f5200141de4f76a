"""Make sentences about a page of which it is known whether they are right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from evals.datasets import read_json_lines
from text.sentences import split_sentences

HAN = "[\u4e00-\u9fff]"

_BOUND = (
    "在于於是的与與和及由为為被曾、，。：；《》（）“”「」也任将將把对對从從向到至给給跟或而并並等"
    "说說称稱即年月日时時前后後"
)
_BODIES = (
    "大学|大學|学院|學院|公司|医院|醫院|车站|車站|机场|機場|俱乐部|俱樂部|银行|銀行|博物馆|博物館"
    "|图书馆|圖書館|电视台|電視台|委员会|委員會"
)
_NO_NAME = re.compile(
    "[就读讀入进進毕畢业業考任职職成创創加转轉调調聘该該本此原其前所有多各家个個铁鐵地火线線路新幹干客运運]"
)
_BODY = re.compile(f"(?<=[{_BOUND}])({HAN}{{2,4}}(?:{_BODIES}))(?=[{_BOUND}])")
_WORK = re.compile(f"《({HAN}{{2,12}})》")
_PERSON = re.compile(f"(?<![{HAN[1:-1]}])({HAN}{{2,6}}·{HAN}{{2,6}})(?=[{_BOUND}])")
_ASKED = {
    "person": re.compile("[谁誰]|何人|哪[一]?位"),
    "place": re.compile("哪[里裡兒儿]|何[地处處]|哪[一]?[个個座]?(?:国|國|城|省|地|州|县|縣|市)"),
    "body": re.compile("哪[一]?[间間所家支个個]?(?:公司|大学|大學|学校|學校|球[队隊]|医院|醫院)"),
}


def _chinese_names(title: str, text: str) -> dict[str, str]:
    """Return the whole names in a page with their sorts: the title, and what is marked as one."""
    found = dict.fromkeys(_WORK.findall(text), "work")
    found |= dict.fromkeys(_PERSON.findall(text), "person")
    bodies = (one for one in _BODY.findall(text) if not _NO_NAME.search(one))
    found |= dict.fromkeys(bodies, "body")
    whole = re.fullmatch(f"{HAN[:-1]}·]{{2,8}}", title)
    return found | ({title: "title"} if whole else {})


def stands_whole(name: str, said: str) -> bool:
    """Tell whether a name stands in a Chinese sentence with nothing beside it that may be its."""
    return bool(re.search(f"(?:^|(?<=[{_BOUND}]|\\d)){re.escape(name)}(?=[{_BOUND}]|$)", said))


SETS = {
    "tuning": {"en": ["hotpotqa"], "zh": ["cmrc2018"]},
    "held-out": {"en": ["2wiki", "musique"], "zh": ["drcd", "rgb_zh_int"]},
}
"""The sets that each half of the benchmark is made from, by language."""

WORDS = Path(__file__).with_name("words.json")

TRIES = 400
"""How many pages are looked at for one sentence of a kind."""


class SamplePage(NamedTuple):
    """A page of a data set, and its sentences that can stand alone."""

    title: str
    text: str
    said: list[str]
    answers: dict[str, str]
    """Names that answer questions about it, which are whole, each with its sort."""


class LabelledSentence(NamedTuple):
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


class SentenceMaker:
    """Makes the cases of one language and one half, the same ones for the same seed."""

    def __init__(self, data: Path, half: str, language: str, seed: int) -> None:
        self.chance = Random(f"{half} {language} {seed}")
        self.language, self.half = language, half
        self.pages = [page for name in SETS[half][language] for page in _pages(data, name)]
        words = json.loads(WORDS.read_text("utf-8"))
        self.words: dict[str, Any] = words[language]
        self.space: str = self.words["space"]
        self.months: list[str] = words["en"]["months"]

    def case(self, kind: str, way: Way, *, wrong: bool) -> LabelledSentence | None:
        """Make one case of a kind, or none where no page of many serves."""
        for _ in range(TRIES):
            page = self.chance.choice(self.pages)
            if made := way(self, page):
                return self._framed(kind, page, made, wrong=wrong)
        return None

    def word(self, kind: str) -> Any:
        """Return one of the words or wordings of a kind."""
        return self.chance.choice(self.words[kind])

    def remark(self, kind: str, page: SamplePage) -> str:
        """Return a sentence of a kind about a page, from those that this half has for its own."""
        own = self.words[kind][self.half == "held-out" :: 2]
        return str(self.chance.choice(own)).format(page.title or "X")

    def sentence(self, page: SamplePage) -> str:
        """Return one of the sentences of a page."""
        return self.chance.choice(page.said)

    def clause(self, page: SamplePage) -> str:
        """Return one of the sentences of a page without its full stop."""
        return self.sentence(page)[:-1]

    def reword(self, said: str) -> str:
        """Return a sentence with other words that mean the same."""
        bound = r"\b" if self.language == "en" else ""
        for old, new in self.words["synonyms"]:
            said = re.sub(f"{bound}{old}{bound}", new, said, count=1)
        moved = re.fullmatch(r"((?:In|During|After|Since) [^,]{4,30}), (the \w.*)\.", said)
        if moved:
            said = f"{moved[2][0].upper()}{moved[2][1:]} {moved[1][0].lower()}{moved[1][1:]}."
        return said

    def said_or_reworded(self, page: SamplePage) -> str:
        """Return one of the sentences of a page as it is, or in other words."""
        return self.chance.choice([self.sentence(page), self.reword(self.sentence(page))])

    def other(self, page: SamplePage) -> SamplePage:
        """Return some other page."""
        return next(one for one in self.chance.sample(self.pages, 2) if one is not page)

    def names(self, page: SamplePage) -> dict[str, str]:
        """Return names in a page, each with its sort; in Chinese those that are surely whole."""
        if self.language == "zh":
            return _chinese_names(page.title, page.text) | page.answers
        capital = r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}"
        found = dict.fromkeys(re.findall(capital, " ".join(page.said)), "")
        return {name: sort for name, sort in found.items() if name not in self.words["months"]}

    def cited(self, said: str, source: str = "S1") -> str:
        """Return a sentence with a citation before its full stop."""
        stop = said[-1] if said[-1] in ".。" else ""
        return f"{said.removesuffix(stop)}{self.space}[{source}]{stop or '.'}"

    def _framed(
        self, kind: str, page: SamplePage, made: MadeSentence, *, wrong: bool
    ) -> LabelledSentence:
        """Put a sentence among others, in a paragraph or a list."""
        others = [made.other or self.other(page), self.other(page), self.other(page)]
        names = ["S1", *self.chance.sample(["S2", "S3", "S4"], 3)]
        texts = dict(
            zip(names, [page.text + made.more, *(one.text for one in others)], strict=True)
        )
        said = made.said.replace("[SX]", f"[{names[1]}]").replace('s="SX"', f's="{names[1]}"')
        beside = self.cited(self.chance.choice(others[1].said), names[2])
        after, before = f"{{}}{self.space}{beside}", f"{beside}{self.space}{{}}"
        frame = made.frame or self.chance.choice(
            ["{}", after, before, f"## A\n\n- {{}}\n- {beside}"]
        )
        titles = dict(zip(names, [page.title, *(one.title for one in others)], strict=True))
        body = frame.format(said)
        return LabelledSentence(
            *(kind, wrong, made.language or self.language, body, said, texts, titles),
            *(made.right, made.about),
        )


class MadeSentence(NamedTuple):
    """A sentence of a kind; `[SX]` in it names a source that does not say it."""

    said: str
    right: str = ""
    frame: str = ""
    about: str = ""
    more: str = ""
    """What its page says besides."""
    other: SamplePage | None = None
    language: str = ""
    """The language of the sentence, where it is not that of its page."""


Way = Callable[[SentenceMaker, SamplePage], MadeSentence | None]


def map_by_kind(*functions: Way) -> dict[str, Way]:
    """Return ways to make sentences by the kind of sentence, which is the function's name."""
    return {function.__name__.strip("_"): function for function in functions}


_ALONE = re.compile(r"[\u4e00-\u9fff《].{12,88}。|[A-Z][a-z].{42,257}\.")
_MARKED = re.compile(r"[\[\]*`<>|“”「」\"\n…;；&#_^~\\{}=（(]|\S\.[a-z]{2}")


def _list_sentences(text: str) -> list[str]:
    """Return the sentences of a text that can stand alone."""
    every = (span.text for span in split_sentences(text))
    return [one for one in every if _ALONE.fullmatch(one) and not _MARKED.search(one)]


@cache
def _pages(data: Path, name: str) -> list[SamplePage]:
    named = _answers(data / name / "queries.jsonl")
    made = (
        SamplePage(
            one["title"], one["text"], _list_sentences(one["text"]), named.get(one["id"], {})
        )
        for one in read_json_lines(data / name / "corpus.jsonl")[:4000]
    )
    return [page for page in made if page.said]


def _answers(file: Path) -> dict[str, dict[str, str]]:
    """Return by the id of each page the names that answer Chinese questions about it."""
    found: dict[str, dict[str, str]] = {}
    for one in read_json_lines(file):
        sort = next((sort for sort, asks in _ASKED.items() if asks.search(one["text"])), "")
        answer = one.get("answer")
        if sort and isinstance(answer, str) and re.fullmatch(f"{HAN}{{2,8}}", answer):
            found.setdefault(one["gold"][0], {})[answer] = sort
    return found
