"""How good `dossier verify` is: reports that are made of documents, and seeded corruptions of them.

`python -m evals.verify` makes good reports in the styles of many systems from the documents in
`examples/docs`, corrupts some, and prints how many corruptions are found, how many good reports
are called wrong, and how much of the processor a long report takes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from report.verify.all_checks import VerifiedFile, verify_report
from report.verify.given_documents import GivenDocument
from text.sentences import list_sentences
from text.words import search_words
from tools.verified_documents import read_given_files
from tools.web.urls import canonicalise_url

DOCUMENTS = Path(__file__).parent.parent / "examples" / "docs"
TODAY = date(2026, 11, 1)
STYLES = (
    "numbers",
    "linked",
    "footnotes",
    "links",
    "wide",
    "raised",
    "superscript",
    "caret",
    "nested",
    "sources",
)

_NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,}(?:[.,]\d+)*(?![\w:/-])")
_PLAIN = re.compile(r"[A-Za-z\u4e00-\u9fff][^|#*`\[\]\n“”\"「」()（）<>_]{30,260}[.。]")


_FRAMES = ("", "", "Briefly: ", "It is worth knowing this: ", "On this point the text is clear: ")
_ZH_FRAMES = ("", "", "简而言之，", "值得注意的是，")


class MadeClaim(NamedTuple):
    """A sentence of a report, the place of the document it cites, and whether it is quoted."""

    text: str
    document: int
    quoted: bool


@dataclass
class MadeReport:
    """A report before it is written down.

    Attributes:
        style: One of `STYLES`.
        documents: What it cites, in the order of the list.
        claims: Its sentences; each cites a place in `documents`.
        extra: Lines that a corruption adds.
        dropped: Places in `documents` that the list leaves out.
    """

    style: str
    documents: list[GivenDocument]
    claims: list[MadeClaim]
    extra: list[str] = field(default_factory=list)
    dropped: frozenset[int] = frozenset()

    def write(self) -> str:
        """Return the report in Markdown."""
        lines = ["# What the documents say", "", "## Findings", ""]
        for start in range(0, len(self.claims), 3):
            some = self.claims[start : start + 3]
            lines += [" ".join(self._write_claim(one) for one in some), ""]
        return "\n".join([*lines, *self.extra, "", *self._list_references()]).rstrip() + "\n"

    def _write_claim(self, claim: MadeClaim) -> str:
        text, end = claim.text[:-1], claim.text[-1]
        said = f"The source says: “{text}”" if claim.quoted else text
        if end == "。":
            said = f"资料写道：“{text}”" if claim.quoted else text
        return f"{said}{self._marker(claim.document)}{end}"

    def _marker(self, at: int) -> str:
        number, address = at + 1, self.documents[at].addresses[-1]
        return {
            "numbers": f" [{number}]",
            "linked": f" [{number}]({address})",
            "footnotes": f"[^{number}]",
            "links": f" ([{self.documents[at].title[:30].strip('[]')}]({address}))",
            "wide": f"【{number}】",
            "raised": f"<sup>[{number}]</sup>",
            "superscript": str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")),
            "caret": f"[^{number}^]",
            "nested": f" [[{number}]]({address})",
            "sources": f" [Source {number}]",
        }[self.style]

    def _list_references(self) -> list[str]:
        if self.style == "links":
            return []
        lines = ["## 参考文献" if self.style == "wide" else "## References", ""]
        for at, one in enumerate(self.documents):
            number, address = at + 1, one.addresses[-1]
            entry = {
                "footnotes": f"[^{number}]: [{one.title}]({address})",
                "wide": f"【{number}】{one.title}. {address}",
                "superscript": f"{number}. {one.title}, {address}",
                "nested": f"- [{number}] [{one.title}]({address})",
                "sources": f"{number}. **{one.title}** — {address}",
            }.get(self.style, f"[{number}] {one.title}. {address}")
            lines += [] if at in self.dropped else [entry, ""]
        return lines


async def read_example_documents() -> list[GivenDocument]:
    """Return the documents of the examples, each at an address of its own."""
    given = await read_given_files([DOCUMENTS])
    return [
        one._replace(addresses=(f"https://library.hive.example/texts/{one.name}",))
        for one in given.documents
        if len(list_quotable_sentences(one)) >= 4
    ]


def list_quotable_sentences(document: GivenDocument) -> list[str]:
    """Return the sentences of a document that can stand alone in a report."""
    texts = (" ".join(one.text.split()) for one in list_sentences(document.text))
    found = dict.fromkeys(text for text in texts if _PLAIN.fullmatch(text))
    return [one for one in found if len(set(search_words(one))) >= 8]


def make_report(chance: random.Random, documents: Sequence[GivenDocument]) -> MadeReport:
    """Return a good report: sentences of some documents, each with its source."""
    chosen = chance.sample(list(documents), chance.randint(3, 5))
    claims: list[MadeClaim] = []
    for at, document in enumerate(chosen):
        sentences = list_quotable_sentences(document)
        some = chance.sample(sentences, min(len(sentences), chance.randint(2, 4)))
        claims += [_make_claim(one, at, chance) for one in some]
    order = list(dict.fromkeys(one.document for one in chance.sample(claims, len(claims))))
    claims.sort(key=lambda one: order.index(one.document))
    numbers = {old: new for new, old in enumerate(order)}
    renumbered = [one._replace(document=numbers[one.document]) for one in claims]
    return MadeReport(chance.choice(STYLES), [chosen[one] for one in order], renumbered)


def _make_claim(sentence: str, at: int, chance: random.Random) -> MadeClaim:
    """Return a sentence as a quotation, or with another frame and other forms of its numbers."""
    if chance.random() < 0.4:
        return MadeClaim(sentence, at, True)
    text = re.sub(r"(\d) ?%", r"\1 per cent", sentence) if sentence.isascii() else sentence
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", chance.choice([",", "\u202f", ""]), text)
    zh = re.search(r"[\u4e00-\u9fff]", text)
    frame = chance.choice(_ZH_FRAMES if zh else _FRAMES)
    return MadeClaim(frame + text, at, False)


def swap_ids(report: MadeReport, chance: random.Random) -> MadeReport | None:
    """Let two sentences cite each other's source."""
    one, other = chance.sample(range(len(report.claims)), 2)
    first, second = report.claims[one], report.claims[other]
    if first.document == second.document:
        return None
    claims = [*report.claims]
    claims[one] = first._replace(document=second.document)
    claims[other] = second._replace(document=first.document)
    return replace(report, claims=claims)


def change_digit(report: MadeReport, chance: random.Random) -> MadeReport | None:
    """Change a digit of a number, so that its source does not have it."""
    having = [at for at, one in enumerate(report.claims) if _NUMBER.search(one.text)]
    if not having:
        return None
    at = chance.choice(having)
    claim = report.claims[at]
    number = chance.choice([*_NUMBER.finditer(claim.text)])
    place = chance.choice([one for one in range(*number.span()) if claim.text[one].isdigit()])
    digit = chance.choice([one for one in "123456789" if one != claim.text[place]])
    text = claim.text[:place] + digit + claim.text[place + 1 :]
    changed = text[number.start() : number.end()]
    if changed in report.documents[claim.document].text:
        return None
    return _with_claim(report, at, claim._replace(text=text, quoted=False))


def _choose_quoted(report: MadeReport, chance: random.Random) -> int | None:
    """Return the number of a claim that quotes its source; None if there is none."""
    quoted = [at for at, one in enumerate(report.claims) if one.quoted]
    return chance.choice(quoted) if quoted else None


def alter_quotation(report: MadeReport, chance: random.Random) -> MadeReport | None:
    """Put another letter into a quotation."""
    at = _choose_quoted(report, chance)
    if at is None:
        return None
    claim = report.claims[at]
    letters = [place for place, sign in enumerate(claim.text) if sign.isalpha()]
    place = chance.choice(letters)
    pool = (
        "abcdefghiklmnoprstu" if claim.text[place].isascii() else "的一是不了人我在有他这中大来上国"
    )
    letter = chance.choice([one for one in pool if one != claim.text[place].lower()])
    text = claim.text[:place] + letter + claim.text[place + 1 :]
    return _with_claim(report, at, claim._replace(text=text))


def add_address(report: MadeReport, chance: random.Random) -> MadeReport:
    """Add a sentence with an address that no source has."""
    path = chance.choice(["study", "report", "data"])
    address = f"https://www.made-up-{chance.randint(10, 99)}.example/{path}"
    form = chance.choice(["See {} for more.", "More is [in this study]({}).", "Details ({})."])
    return replace(report, extra=[form.format(address)])


def drop_reference(report: MadeReport, chance: random.Random) -> MadeReport | None:
    """Leave a source out of the list."""
    if report.style == "links":
        return None
    return replace(report, dropped=frozenset([chance.randrange(len(report.documents))]))


def move_quotation(report: MadeReport, chance: random.Random) -> MadeReport | None:
    """Let a quotation cite another source."""
    at = _choose_quoted(report, chance)
    if at is None:
        return None
    claim = report.claims[at]
    others = [one for one in range(len(report.documents)) if one != claim.document]
    return _with_claim(report, at, claim._replace(document=chance.choice(others)))


def _with_claim(report: MadeReport, at: int, claim: MadeClaim) -> MadeReport:
    return replace(report, claims=[*report.claims[:at], claim, *report.claims[at + 1 :]])


CORRUPTIONS: tuple[Callable[[MadeReport, random.Random], MadeReport | None], ...] = (
    swap_ids,
    change_digit,
    alter_quotation,
    add_address,
    drop_reference,
    move_quotation,
)


def is_called_wrong(text: str, documents: Sequence[GivenDocument]) -> list[str]:
    """Return the checks that fail for a report that may cite nothing but some documents."""
    found = verify_report(
        VerifiedFile(text), documents, canonicalise_url, complete=True, today=TODAY
    )
    return [one.id for one in found.checks if one.status == "failed"]


class DetectionFigures(NamedTuple):
    """What was measured."""

    clean: int
    alarms: list[tuple[list[str], str]]
    """The checks that fail for a good report, and the report."""
    corrupted: int
    missed: list[tuple[str, str]]
    """The kind of a corruption that was not found, and the report."""
    kinds: Counter[str]


def measure_detection(
    documents: Sequence[GivenDocument], *, seed: int, clean: int, bases: int, corruptions: int
) -> DetectionFigures:
    """Return how many good reports are called wrong, and which corruptions are not found.

    Args:
        documents: What reports are made of.
        seed: The same one makes the same reports.
        clean: How many good reports are verified.
        bases: How many of them are corrupted.
        corruptions: How many corruptions are made, of all kinds in turn.
    """
    chance = random.Random(seed)
    reports = [make_report(chance, documents) for _ in range(clean)]
    texts = [one.write() for one in reports]
    alarms = [(wrong, text) for text in texts if (wrong := is_called_wrong(text, documents))]
    good = [
        one
        for one, text in zip(reports, texts, strict=True)
        if text not in [bad for _, bad in alarms]
    ]
    missed, kinds = list[tuple[str, str]](), Counter[str]()
    at = 0
    while kinds.total() < corruptions:
        corrupt, base = CORRUPTIONS[at % len(CORRUPTIONS)], chance.choice(good[:bases])
        changed = corrupt(base, chance)
        if changed is None or changed.write() == base.write():
            continue
        at += 1
        kinds[corrupt.__name__] += 1
        if not is_called_wrong(changed.write(), documents):
            missed.append((corrupt.__name__, changed.write()))
    return DetectionFigures(clean, alarms, corruptions, missed, kinds)


def make_long_report(documents: Sequence[GivenDocument], words: int) -> str:
    """Return a report of about so many words."""
    sentences = [
        (one, at) for at, doc in enumerate(documents) for one in list_quotable_sentences(doc)
    ]
    claims: list[MadeClaim] = []
    while sum(len(one.text.split()) for one in claims) < words:
        text, at = sentences[len(claims) % len(sentences)]
        again = len(claims) // len(sentences)
        lead = f"In part {again} it is said again that " if again else ""
        claims.append(MadeClaim(f"{lead}{text}", at, not lead and len(claims) % 3 == 0))
    return MadeReport("numbers", list(documents), claims).write()


def time_long_report(documents: Sequence[GivenDocument], words: int = 5_000) -> float:
    """Return the seconds of the processor that a report of so many words takes."""
    text = make_long_report(documents, words)
    start = time.process_time()
    verify_report(VerifiedFile(text), documents, canonicalise_url, complete=True, today=TODAY)
    return time.process_time() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="how many failures are printed whole")
    given = parser.parse_args()
    documents = asyncio.run(read_example_documents())
    seconds = time_long_report(documents)
    found = measure_detection(documents, seed=given.seed, clean=200, bases=50, corruptions=500)
    missed = Counter(name for name, _ in found.missed)
    print(f"documents: {len(documents)}")
    print(f"false alarms: {len(found.alarms)} of {found.clean} good reports")
    print(f"corruptions found: {found.corrupted - len(found.missed)} of {found.corrupted}")
    for name, count in found.kinds.items():
        print(f"  {name}: {count - missed[name]} of {count}")
    print(f"5,000 words: {seconds:.2f} s of the processor")
    for told in [*found.alarms, *found.missed][: given.show]:
        print("\n---", *told, sep="\n")


if __name__ == "__main__":
    main()
