"""Make report sentences that are right."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise

from evals.sentences.made import MadeSentence, SamplePage, SentenceMaker, Way, map_by_kind


def copied(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence as its page has it."""
    return MadeSentence(maker.cited(maker.sentence(page)))


def _reworded(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence of a page with some other words that mean the same."""
    said = maker.sentence(page)
    changed = maker.reword(said)
    return MadeSentence(maker.cited(changed)) if changed != said else None


def _named(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with the title of its page in place of a pronoun."""
    said = re.sub(maker.words["pronoun"], page.title, maker.sentence(page), count=1)
    title = page.title and not re.search(r"[()*_\[\]`<>|\"“”]", page.title)
    return MadeSentence(maker.cited(said)) if title and page.title in said else None


def join_statements(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return two sentences as clauses of one, with one citation behind them."""
    if len(page.said) < 2:
        return None
    first, second = maker.chance.choice([*pairwise(page.said)])
    mark = "；" if maker.language == "zh" else "; "
    return MadeSentence(maker.cited(f"{first[:-1]}{mark}{second}"))


def quoted(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence with a quotation, as models spell it."""
    said = maker.clause(page)
    spelt = maker.chance.choice(
        ['<q s="S1">{}</q>', "“{}” [S1]", '&lt;q s="S1"&gt;{}&lt;/q&gt;', '<q s="S1">{}</q> [S1]']
    )
    return MadeSentence(f"{maker.word('leads')}{spelt.format(said)}{maker.words['stop']}")


def _coded(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return two sentences with inline code on both sides of a citation, and a quotation."""
    if len(page.said) < 2:
        return None
    parts = []
    for said in maker.chance.sample(page.said, 2):
        words = re.findall(r"[A-Za-z]{4,}|[\u4e00-\u9fff]{4}", said)
        if not words:
            return None
        parts.append(maker.cited(said.replace(words[-1], f"`{words[-1]}`", 1)))
    return MadeSentence(maker.space.join([*parts, quoted(maker, page).said]))


def _tagged(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence with code that looks like HTML, and one of the page beside it."""
    code = maker.chance.choice(["<agent_memory>", "List<String>", "<T>", "vector<int>", "<config>"])
    lead, stop = maker.words["code"], maker.words["stop"]
    told = f"{maker.cited(f'{lead}`{code}`{stop}')}{maker.space}{maker.cited(maker.sentence(page))}"
    return MadeSentence(told, more=f"\n{lead}{code}{stop}")


def _listed(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a bullet with a label."""
    stop = ":" if maker.language == "en" else "："
    label = maker.chance.choice(["**Step 12{0}** ", "**{0}** ", "", "1.3 ", "(14) "])
    label = label.format(stop) if "12" in label else label.format(page.title + stop)
    label = "" if re.search(r"\*\* ?\*|[<>\[\]]", label) else label
    said = maker.cited(maker.sentence(page))
    return MadeSentence(f"{label}{said}", frame="## 3. A\n\n- {}", about=page.title)


def _tabled(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a row of a table."""
    said = maker.cited(maker.sentence(page))
    cell = maker.chance.choice([r"a \| b", "x", "7", "v2"])
    return MadeSentence(f"{cell} | {said}", frame="| No. | A |\n|---|---|\n| {} |")


_FREE_NUMBER = re.compile(
    r"(?<![\w.,:/–-])[1-9]\d{1,3}(?![\w.,:/–%-]|\s*(?:[万亿千百%]|[mb]illion|thousand|per))"
)


def computed(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a calculation with numbers of the page, which holds."""
    numbers = [int(one) for one in _FREE_NUMBER.findall(page.text)]
    pairs = [(a, b) for a in numbers for b in numbers if a > b]
    if not pairs:
        return None
    a, b = maker.chance.choice(pairs)
    return MadeSentence(maker.cited(maker.word("computed").format(a=a, b=b, diff=a - b, sum=a + b)))


def numbered(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence with a number of a file's name, a heading, a label or the question."""
    form, said = maker.word("numbered"), maker.sentence(page)
    inner = said if maker.language == "zh" else said[0].lower() + said[1:]
    told = maker.cited(form["said"].format(inner))
    return MadeSentence(told, frame=form.get("frame", ""), about=form.get("about", ""))


def not_found(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that says that something was not found."""
    return MadeSentence(maker.remark("not_found", page))


def inferred(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that says that it is an inference, or not sure."""
    return MadeSentence(maker.remark("inferred", page))


def both(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence made of two pages, which cites both."""
    other = maker.other(page)
    said = f"{maker.clause(page)}{maker.words['while']}{maker.clause(other)}"
    return MadeSentence(f"{said}{maker.space}[S1][SX]{maker.words['stop']}", other=other)


def _transition(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of a page that begins with words that only lead over to it."""
    said = maker.sentence(page)
    return MadeSentence(maker.cited(f"{maker.word('transitions')}{said}"))


def _introduced(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence without a source that only says what follows."""
    told = maker.remark("introductions", page)
    frame = maker.chance.choice(["{}\n\n", "## A\n\n{}\n\n- "])
    follows = maker.cited(maker.sentence(maker.chance.choice(maker.pages)), "S2")
    return MadeSentence(told, frame=frame + follows)


def _opinion(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return an opinion that is marked as one, cited or not."""
    told = maker.remark("opinions", page)
    return MadeSentence(maker.chance.choice([told, maker.cited(told)]))


def _not_found_cited(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that says what the source it cites does not say."""
    return MadeSentence(maker.cited(maker.remark("not_found", page)))


def _inferred_cited(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return an inference that cites the source it starts from."""
    return MadeSentence(maker.cited(maker.remark("inferred", page)))


def later(maker: SentenceMaker, page: SamplePage, off: int = 0) -> MadeSentence | None:
    """Return a sentence that counts the years from the date in the sentence before it."""
    pairs = [
        (years[0], then)
        for first, second in pairwise(page.said)
        if len(years := re.findall(r"(?<!\d)1[5-9]\d\d|(?<!\d)20[012]\d", first)) == 1
        and (then := re.match(maker.words["year_first"], second))
        and 4 <= int(then[1]) - int(years[0]) <= 60
    ]
    if not pairs:
        return None
    year, then = maker.chance.choice(pairs)
    told = int(then[1]) - int(year) + off
    if told < 2 or re.search(rf"(?<!\d){told}(?!\d)", page.text):
        return None
    return MadeSentence(maker.cited(maker.words["later"].format(told, year, then[2])))


_LARGE = re.compile(
    r"(?<![\d.,A-Za-z–-])(?:\d{1,3}(?:,\d{3})+|[3-9]\d{3}|\d{5,7})"
    r"(?![\d.,]*\d|年|–|-| (?:million|billion)|[万萬亿億])"
)


def rounded(maker: SentenceMaker, page: SamplePage, by: float = 1.0) -> MadeSentence | None:
    """Return a sentence in which a large number is rounded."""
    said = maker.sentence(page)
    found = _LARGE.search(said)
    if not found or re.search(r"[约約超逾近余餘]|over|nearly|than|almost|about|some", said):
        return None
    number = float(f"{int(found[0].replace(',', '')) * by:.2g}")
    new = f"{maker.words['about']}{number:,.0f}"
    told = said[: found.start()] + new + said[found.end() :]
    return MadeSentence(maker.cited(told)) if new.split()[-1] not in said else None


def converted(maker: SentenceMaker, page: SamplePage, by: float = 1.0) -> MadeSentence | None:
    """Return a sentence with a length in another unit."""
    said = maker.sentence(page)
    for unit, (other, factor) in maker.words["units"].items():
        found = re.search(rf"(?<![\d.,–-])(\d[\d,]*(?:\.\d+)?)( ?)(?:{unit})", said)
        if found:
            length = f"{float(found[1].replace(',', '')) * factor * by:.3g}"
            if "e" not in length:
                new = f"{length}{found[2]}{other}"
                return MadeSentence(maker.cited(said[: found.start()] + new + said[found.end() :]))
    return None


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

COUNT = re.compile(r"(?<![\w.,])[1-9]\d{2,4}(?![\w.,%])")


def _framed(maker: SentenceMaker, page: SamplePage, name: str) -> MadeSentence:
    """Return a sentence of a page in one of the forms."""
    return MadeSentence(maker.cited(maker.sentence(page)), frame=FRAMES[name])


def _footnoted(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence cited with the mark of a footnote, or in full-width brackets."""
    spelt = maker.chance.choice(["[^S1]", "【S1】", "[S1]", "[S1, S1]", "(S1)"])
    return MadeSentence(maker.cited(maker.sentence(page)).replace("[S1]", spelt), frame="{}")


def _several(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return two sentences as clauses of one, each with a citation of its own."""
    other = maker.other(page)
    return join_cited(maker, maker.clause(page), other)


def join_cited(maker: SentenceMaker, first: str, other: SamplePage) -> MadeSentence:
    """Return a clause and one of another page as one sentence, each with its citation."""
    space, second = maker.space, maker.clause(other)
    told = f"{first}{space}[S1]{maker.words['while']}{second}{space}[SX]{maker.words['stop']}"
    return MadeSentence(told, other=other)


def fenced(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a line of code with a sentence of the page that has a number."""
    told = [one for one in page.said if COUNT.search(one) and '"' not in one]
    if not told:
        return None
    note = f'note = "{maker.chance.choice(told)}"'
    return MadeSentence(note, frame=f"{maker.cited(maker.sentence(page))}\n\n```ini\n{{}}\n```")


LAST_YEAR = 2100
"""A later year is one before our era."""

Fact = dict[str, str]


def pick_fact(maker: SentenceMaker, page: SamplePage, wanted: str) -> tuple[str, Fact] | None:
    """Return a sentence on a page in the other language, and its parts, of which one is wanted."""
    facts = [
        (told, found.groupdict())
        for pattern, told in maker.words["facts"]
        for found in re.finditer(pattern, page.text)
    ]
    fit = [(told, fact) for told, fact in facts if set(fact) & set(wanted)]
    return maker.chance.choice(fit) if fit else None


def word_fact(maker: SentenceMaker, told: str, fact: Fact) -> MadeSentence:
    """Return a sentence in the other language with its parts filled in."""
    chinese, month = maker.language == "en", fact.get("m")
    if month:
        spelt = maker.months.index(month) + 1 if chinese else maker.months[int(month) - 1]
        fact = {**fact, "m": str(spelt)}
    cited = f"{told.format(**fact)}{'[S1]。' if chinese else ' [S1].'}"
    return MadeSentence(cited, frame="{}", language="zh" if chinese else "en")


def is_real(fact: Fact) -> bool:
    """Tell whether the date of a fact can be one."""
    month, day, year = (fact.get(name, "1") for name in "mdy")
    return (
        int(year) <= LAST_YEAR
        and (not month.isdigit() or 1 <= int(month) <= 12)
        and 1 <= int(day) <= 31
    )


def across(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with a date, a number or a name of a page in the other language."""
    found = pick_fact(maker, page, "ydmnc")
    return word_fact(maker, *found) if found and is_real(found[1]) else None


_DENIES = re.compile(r"\b(?:not|no|never|if|without)\b|[不没無无未非如若别]")


def _elided(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a quotation from which words in the middle are left out."""
    said = maker.clause(page)
    units = said.split() if maker.language == "en" else [*re.split("(?<=，)", said)]
    least = 9 if maker.language == "en" else 3
    if len(units) < least or _DENIES.search(said):
        return None
    third = len(units) // 3
    sign = maker.chance.choice(["…", "...", "[...]", "[…]"])
    cut = f"{maker.space.join(units[:third])} {sign} {maker.space.join(units[-third:])}"
    return MadeSentence(f'{maker.word("leads")}<q s="S1">{cut}</q>.')


def _bracketed(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a quotation with a word of its writer between brackets."""
    said = maker.clause(page)
    if maker.language == "zh":
        cut = f"{said[: len(said) // 2]}[原文如此]{said[len(said) // 2 :]}"
    else:
        cut = re.sub(r"^(\w)(\w+ \w+ \w+ \w+) ", r"[\1]\2 [sic] ", said, count=1)
    return MadeSentence(f'{maker.word("leads")}<q s="S1">{cut}</q>.') if cut != said else None


def _uncited_copy(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of a page without its citation."""
    return MadeSentence(maker.sentence(page))


_IN_FRAMES: dict[str, Way] = {f"in_{name}": partial(_framed, name=name) for name in FRAMES}

RIGHT = {
    **map_by_kind(copied, _reworded, _named, join_statements, quoted, _coded, _tagged, _listed),
    **map_by_kind(_tabled, computed, numbered, both, not_found, inferred, _transition),
    **map_by_kind(_introduced, _opinion, _not_found_cited, _inferred_cited, later, rounded),
    **map_by_kind(converted),
    **_IN_FRAMES,
    **map_by_kind(_footnoted, _several, fenced, across, _elided, _bracketed, _uncited_copy),
}
