"""Compare a statement with its sources: words, numbers, dates, names, and what each is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from report.arithmetic import comes_out
from report.bearing import (
    NEAR,
    has_most,
    is_misplaced,
    said_beside,
    unborne,
    unknown_name,
)
from report.caveats import carried, is_computed
from report.citations import SECTION
from report.claims import describes_source, names_source, sort, without_label
from report.code import unknown
from report.contrast import PER_SOURCE, Text, contrast, nearest, plain
from report.copies import says_all
from report.days import strange_date, without_dates
from report.denials import denied
from report.likeness import FEWEST, SHORT, compared, is_strange, share
from report.marks import MARKER, QUOTE, blank, cites
from report.numbers import FILE, unsupported, values, without_sums
from report.openers import without_transition
from report.placed_numbers import miscounted
from report.quantities import Figures, figures, following
from report.reckoning import Outcome, Reckoner, does_not_come_out
from report.strength import goes_beyond
from report.subjects import first_cited, other_subject
from report.synonyms import nations
from retrieval.regex import regex
from retrieval.script import simplified
from retrieval.text import language
from retrieval.words import words

SHARE = {"en": 2 / 3, "zh": 1 / 2}
"""A source bears out a sentence if two neighbouring sentences of it have more of its words.

Chinese is compared in pairs of characters, and one other character breaks two of them.
"""

FOREIGN = {"en": 1 / 2, "zh": 1 / 3}
"""A sentence may be of another source where all that it cites have no more of its words."""

FEW = {"en": 4, "zh": 6}
"""From how many words on a statement is given the source that has them."""

_ISO = regex(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")
"""A date that is compared as a date, and not number by number."""

_CODED = regex(r"`[^`\n]+`")
_NAME = regex(r"(?<![A-Za-z])[A-Z][a-z]{2,}(?![A-Za-z])")


class Comparison:
    """Compares the statements of one text with its sources.

    Args:
        texts: The full text of each source by its id.
        names: The title and the place of each source by its id.
        asked: What may be named although no source names it: the question, and the headings.
        cited: The ids of the sources that the text cites.
    """

    def __init__(
        self, texts: Mapping[str, str], names: Mapping[str, str], asked: str, cited: Sequence[str]
    ) -> None:
        self.texts, self.asked, self.cited = texts, simplified(asked), cited
        self.names = {name: simplified(title) for name, title in names.items()}
        self.around = ""
        """The paragraph that is looked at, and the one before it."""
        self.near: list[str] = []
        """The sources that this paragraph cites."""
        self.above: list[str] = []
        """What names the subject of the paragraph: its heading, what leads on to its table."""
        self.abouts: dict[tuple[str, ...], str] = {}
        self.counted: dict[tuple[str, ...], list[float]] = {}
        self.figures: dict[str, Figures] = {}
        self.sources: dict[str, Text] = {}
        self.reckoner = Reckoner(asked)

    def elsewhere(self, statement: str, cited: Sequence[str]) -> str:
        """Return the source that bears a statement out which does not cite it, or nothing."""
        others = [name for name in dict.fromkeys([*self.cited, *self.texts]) if name not in cited]
        having = (
            name
            for name in others
            if self.has_words(statement, name) and self.speaks_for(statement, name)
        )
        return next((name for name in having if not self.differs(statement, name)), "")

    def speaks_for(self, statement: str, name: str, near: Sequence[str] = ()) -> bool:
        """Tell whether the words of a statement that a source has say clearly that it is its own.

        A few common words do not where other sources have them, too, unless the paragraph cites
        the source. A statement below a heading that names what only other sources are about is of
        one of those.
        """
        said = plain(statement)
        if not (name in near or self.is_telling(statement) or self.alone_has(said, name)):
            return False
        title, text = self.names.get(name, ""), self.source(name).text
        others = [self.names.get(other, "") for other in self.texts if other != name]
        return not any(other_subject(one, [text], [title], others) for one in [*self.above, said])

    def is_telling(self, statement: str) -> bool:
        """Tell whether a statement has a name, or enough words and long numbers to be known by."""
        said = without_transition(plain(statement))
        wanted = {word for word in words(said) if not word[:1].isdigit() or len(word) > 1}
        named = _CODED.search(statement) or _NAME.search(said.strip().partition(" ")[2])
        return bool(named) or len(wanted) >= FEW[language(said)]

    def alone_has(self, said: str, name: str) -> bool:
        """Tell whether no other source has most words of what is said together."""
        wanted = {word for word in words(without_transition(said)) if not word[:1].isdigit()}
        others = [one for one in self.texts if one != name and self.comparable(said, [one])]
        shares = (share(wanted, self.source(one).places) for one in others)
        return max(shares, default=0.0) <= SHARE[language(said)]

    def is_foreign(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether the sources of a statement have few of its words, and not its numbers.

        A quotation is found already, and a sentence that says whose words it tells is believed.
        """
        said = plain(statement)
        if QUOTE.search(statement) or names_source(said) or not self.comparable(said, cited):
            return False
        if values(said) and not self.unsupported(said, cited):
            return False
        wanted = set(words(without_transition(said)))
        if len(wanted) < FEWEST[language(said)]:
            return not any(wanted & self.source(name).places.keys() for name in cited)
        shares = (share(wanted, self.source(name).places) for name in cited)
        return max(shares, default=0.0) <= FOREIGN[language(said)]

    def inexact(self, statement: str, cited: Sequence[str], known: Sequence[float]) -> str | None:
        """Return what a statement has that is exact and stands otherwise in its sources, or None.

        A number that its writer says to have computed is verified, and the rest is the writer's.
        """
        said = plain(statement)
        if does_not_come_out(said):
            return "calculation"
        if self.unsupported(said, cited, known):
            return self.unreckoned(said, cited, known)
        if unknown(blank(statement), self.beside(cited)):
            return "name"
        return "date" if strange_date(said, [self.figure(name).dates for name in cited]) else None

    def difference(self, statement: str, cited: Sequence[str], known: Sequence[float] = ()) -> str:
        """Return in what a statement differs from the sources it cites, or nothing."""
        said = plain(statement)
        inexact = self.inexact(statement, cited, known)
        if inexact is not None:
            return inexact
        sources = [self.source(name) for name in cited]
        if not self.comparable(said, cited):
            foreign = self.has_foreign_name(said, cited)
            other = self.other_subject(statement) or goes_beyond(said, sources, alike=False)
            return "name" if foreign else other
        about = self.about(cited)
        bare = without_sums(said)
        compared = statement if bare == said else bare
        different = contrast(compared, sources, about, self.following(said, cited))
        if sort(said) == "open":
            return ("" if different == "name" else different) or self.carries(statement)
        if not different and denied(said, sources):
            return "negation"
        different = different or self.other_subject(statement) or goes_beyond(said, sources)
        own = QUOTE.search(statement) or describes_source(said) or sort(said) == "none"
        if different or own or bare != said:
            return different
        strange = "strange" if self.is_strange(statement, cited) else ""
        return strange or self.unborne(statement, cited)

    def beside(self, cited: Sequence[str]) -> list[str]:
        """Return where a name in code may stand: sources, other parts of them, the question."""
        documents = {self.names.get(name, "").split(SECTION)[0] for name in cited} - {""}
        beside = [
            name for name in self.texts if self.names.get(name, "").split(SECTION)[0] in documents
        ]
        named = dict.fromkeys([*cited, *self.near, *beside])
        return [self.about(cited), *(self.texts[name] for name in named if name in self.texts)]

    def other_subject(self, statement: str) -> str:
        """Return the reason to doubt a statement whose first citation is about something else."""
        first = first_cited(statement)
        cited = [name for name in dict.fromkeys(cites(first)) if name in self.texts]
        said = plain(first)
        sources = [self.source(name) for name in cited]
        alike = self.comparable(said, cited)
        near = [
            one for source in sources for one in (nearest(said, source) if alike else source.said)
        ]
        titles = [self.names.get(name, "") for name in cited]
        others = [self.names.get(name, "") for name in self.texts if name not in cited]
        return "subject" if cited and other_subject(said, near, titles, others) else ""

    def is_strange(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether sources have hardly a word of a statement.

        What follows its last citation may be of any source, and what several sources bear out
        together is looked at as a whole.
        """
        end = max((one.end() for one in MARKER.finditer(statement)), default=len(statement))
        sources, about = [self.source(name) for name in cited], self.about(cited)
        whole = len(cited) > 1
        return is_strange(plain(statement[:end]), sources, about, whole=whole) or is_strange(
            plain(statement[end:]), [self.source(name) for name in self.texts], about
        )

    def unborne(self, statement: str, cited: Sequence[str]) -> str:
        """Return why sources do not bear out a statement up to its last citation, or nothing."""
        end = max((one.end() for one in MARKER.finditer(statement)), default=len(statement))
        sources = [self.source(name) for name in cited]
        said = plain(statement[:end])
        if self.reckoner.outcome(said, self.numbers(cited), cited=True) == "holds":
            return ""
        known = self.numbers(cited)
        computes = any(number not in known for number in self.following(said, cited))
        return unborne(said, sources, self.about(cited), computes=computes)

    def framing(self, said: str, question: str) -> str:
        """Return what is wrong in a line that only names what follows, or nothing.

        It may name what the question and the titles of the sources name, and no other heading.
        """
        bare = without_label(plain(said))
        names = [name for name in self.texts if self.comparable(bare, [name])]
        if not names or len(names) < len(self.texts):
            return ""
        about = "\n".join([simplified(question), *(self.names.get(name, "") for name in names)])
        known = [self.figure(name).numbers for name in names]
        if unsupported(bare, known, sorted([*values(about), *self.reckoner.results])):
            return "number"
        return said_beside(bare, [self.source(name) for name in names], about)

    def is_near(self, statement: str) -> bool:
        """Tell whether a statement that no source bears out may be of one in other words."""
        said = plain(statement)
        names = [name for name in self.texts if self.comparable(said, [name])]
        if not names or self.unsupported(said, names):
            return False
        sources, about = [self.source(name) for name in names], self.about(names)
        near = any(has_most(said, source, NEAR) for source in sources)
        return near and not unknown_name(said, sources, about)

    def misplaced(self, row: str, cited: Sequence[str]) -> bool:
        """Tell whether a row of a table has a number that its sources have in another place."""
        sources = [self.source(name) for name in cited]
        return self.comparable(row, cited) and is_misplaced(row, sources, self.about(cited))

    def has_foreign_name(self, said: str, cited: Sequence[str]) -> bool:
        """Tell whether Chinese has a name in Latin letters that is in none of English sources."""
        sources = [self.source(name) for name in cited]
        english = all(one.language == "en" for one in sources)
        return english and language(said) == "zh" and bool(self.unknown_names(said, cited))

    def unknown_names(self, said: str, cited: Sequence[str]) -> list[str]:
        """Return the words with a capital letter that no word of some sources begins like."""
        texts = (self.source(name).text for name in cited)
        known = "\n".join([self.about(cited), *texts]).lower()
        found = _NAME.findall(FILE.sub(" ", said))
        begun = [(one, one[: max(4, len(one) - 3)].lower()) for one in found]
        return [one for one, start in begun if not re.search(rf"\b{start}", known)]

    def comparable(self, said: str, names: Sequence[str]) -> bool:
        """Tell whether sources are all in the language of what is said."""
        return all(self.source(name).language == language(said) for name in names)

    def about(self, names: Sequence[str]) -> str:
        """Return what may be named beside what sources say: the question, and their names."""
        key = tuple(names)
        if key not in self.abouts:
            nations_too = (nations(self.texts[name]) for name in names)
            titles = (self.names.get(name, "") for name in names)
            self.abouts[key] = "\n".join([self.asked, *titles, *nations_too])
        return self.abouts[key]

    def has_any(self, statement: str, name: str) -> bool:
        """Tell whether a source has most of a statement, in its words or in others."""
        return self.has_words(statement, name) or self.has_loosely(statement, name)

    def has_words(self, statement: str, name: str) -> bool:
        """Tell whether a source has most words of a statement together, and all its numbers."""
        said = without_transition(plain(statement))
        if not self.comparable(said, [name]):
            return False
        enough = share(set(words(said)), self.source(name).places) > SHARE[language(said)]
        return enough and not self.unsupported(said, [name])

    def has_loosely(self, statement: str, name: str) -> bool:
        """Tell whether a source says most of a statement in whatever words, and all its numbers."""
        said = without_transition(plain(statement))
        if not self.comparable(said, [name]) or not has_most(said, self.source(name)):
            return False
        return not self.unsupported(said, [name])

    def differs(self, statement: str, name: str) -> str:
        """Return in what a statement differs from one source, or nothing."""
        made = self.following(plain(statement), [name])
        return contrast(statement, [self.source(name)], self.about([name]), made)

    def disproves(self, statement: str, name: str) -> str:
        """Return why one source is none that a statement may be given, or nothing."""
        different = self.differs(statement, name) or self.difference(statement, [name])
        source, said = self.source(name), plain(statement)
        copied = different or says_all(said, source, self.names.get(name, ""))
        return different or ("" if copied else "no_source")

    def carries(self, statement: str) -> str:
        """Return the reason to doubt what stands beside the remark that something was not found."""
        for claim in carried(plain(statement)):
            having = (one for one in self.texts if self.has_words(claim, one))
            if not any(not self.differs(claim, one) for one in having):
                return "carried"
        return ""

    def source(self, name: str) -> Text:
        """Return a source as statements are compared with it."""
        if name not in self.sources:
            self.sources[name] = compared(self.texts[name])
        return self.sources[name]

    def unsupported(self, said: str, names: Sequence[str], also: Sequence[float] = ()) -> bool:
        """Tell whether something said has a number that follows from none of some sources."""
        known = [self.figure(name) for name in names]
        also = [*also, *_values(self.about(names)), *self.reckoner.results]
        numbers, more = [one.numbers for one in known], sorted(also)
        said = _ISO.sub(" ", said) if self.comparable(said, names) else without_dates(said)
        if not unsupported(said, numbers, more):
            return False
        return bool(unsupported(said, numbers, sorted([*more, *self.following(said, names)])))

    def following(self, said: str, names: Sequence[str]) -> list[float]:
        """Return the numbers of what is said that follow from others of its sources, sorted."""
        near = [one for name in names for one in nearest(said, self.source(name))]
        return sorted(following(said, near, [self.figure(name).measures for name in names]))

    def figure(self, name: str) -> Figures:
        """Return the numbers and dates of a source."""
        if name not in self.figures:
            self.figures[name] = figured(self.texts[name])
        return self.figures[name]

    def numbers(self, names: Sequence[str]) -> list[float]:
        """Return the numbers of some sources, sorted."""
        key = tuple(names)
        if key not in self.counted:
            self.counted[key] = sorted(
                number for name in names for number in self.figure(name).numbers
            )
        return self.counted[key]

    def adds_up(self, statement: str) -> bool:
        """Tell whether a statement is a calculation with numbers of the sources, which holds."""
        said = plain(statement)
        sums = re.search(r"\d\s*[=＝]\s*\d", said) and not does_not_come_out(said)
        return bool(sums) and not self.unsupported(said, list(self.texts))

    def unreckoned(self, said: str, cited: Sequence[str], known: Sequence[float]) -> str:
        """Return the reason to doubt a number that the sources of a statement have not.

        Where it was computed from others that they or the text have, there is none.
        """
        every = sorted([*self.numbers(cited), *known])
        if self.reckoner.outcome(said, every, cited=True) == "holds":
            return ""
        if is_computed(said):
            return self.miscounted(said)
        sources = [self.source(name) for name in cited] if self.comparable(said, cited) else []
        other = contrast(said, sources, self.about(cited)) == "other_number"
        return "other_number" if other or miscounted(said, sources) else "number"

    def reckoned(self, said: str, *, row: bool = False) -> Outcome:
        """Return what becomes of the calculation in something said that names no source."""
        return self.reckoner.outcome(said, self.numbers(self.cited or list(self.texts)), row=row)

    def miscounted(self, said: str) -> str:
        """Return the reason to doubt a number that a writer computed from others nearby."""
        if not is_computed(said):
            return ""
        known = self.numbers(self.cited)
        around = self.around.replace(said.strip(), " ")
        return "" if comes_out(said, around, known) else "calculation"


def prepare(texts: Iterable[str], stopped: Callable[[], bool]) -> None:
    """Make what statements are compared with of some sources, before there are statements.

    Long sources are left: what is made of them is not kept.

    Args:
        texts: The full texts of the sources.
        stopped: Tells whether the statements are there.
    """
    for text in (one for one in texts if len(one) <= SHORT):
        if stopped():
            return
        figured(text)
        source = compared(text)
        for work in PER_SOURCE:
            source.made(work)


def figured(text: str) -> Figures:
    """Return the numbers and dates of a source; those of short ones are kept."""
    return _figures(text) if len(text) <= SHORT else figures(text)


# The findings of a run and its report are checked against the same pages.
@lru_cache(maxsize=256)
def _figures(text: str) -> Figures:
    return figures(text)


@lru_cache(maxsize=64)
def _values(about: str) -> list[float]:
    return values(about)
