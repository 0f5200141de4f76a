"""Make report sentences that are right."""

from __future__ import annotations

import re
from itertools import pairwise

from evals.sentences.made import (
    MadeSentence,
    SamplePage,
    SentenceMaker,
    map_by_kind,
    pick_sentences,
    rewrite_page,
)


def copied(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence as its page has it."""
    return MadeSentence(maker.cited(pick_sentences(maker, page)))


def _reworded(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence of a page with some other words that mean the same."""
    said = pick_sentences(maker, page)
    changed = rewrite_page(maker, said)
    return MadeSentence(maker.cited(changed)) if changed != said else None


def _named(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence with the title of its page in place of a pronoun."""
    said = re.sub(maker.words["pronoun"], page.title, pick_sentences(maker, page), count=1)
    title = page.title and not re.search(r"[()*_\[\]`<>|\"“”]", page.title)
    return MadeSentence(maker.cited(said)) if title and page.title in said else None


def join_statements(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return two sentences as clauses of one, with one citation behind them."""
    if len(page.said) < 2:
        return None
    at = maker.chance.randrange(len(page.said) - 1)
    first, second = page.said[at], page.said[at + 1]
    mark = "；" if maker.language == "zh" else "; "
    return MadeSentence(maker.cited(f"{first[:-1]}{mark}{second}"))


def quoted(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence with a quotation, as models spell it."""
    said = pick_sentences(maker, page)[:-1]
    spelt = maker.chance.choice(
        ['<q s="S1">{}</q>', "“{}” [S1]", '&lt;q s="S1"&gt;{}&lt;/q&gt;', '<q s="S1">{}</q> [S1]']
    )
    lead, stop = maker.chance.choice(maker.words["leads"]), maker.words["stop"]
    return MadeSentence(f"{lead}{spelt.format(said)}{stop}")


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
    joint = "" if maker.language == "zh" else " "
    return MadeSentence(joint.join([*parts, quoted(maker, page).said]))


def _tagged(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence with code that looks like HTML, and one of the page beside it."""
    code = maker.chance.choice(["<agent_memory>", "List<String>", "<T>", "vector<int>", "<config>"])
    lead = {"en": "It is written as ", "zh": "它写作"}[maker.language]
    stop, said = maker.words["stop"], pick_sentences(maker, page)
    joint = "" if maker.language == "zh" else " "
    text = f"{lead}`{code}`"
    more = f"\n{lead}{code}{stop}"
    return MadeSentence(f"{maker.cited(text + stop)}{joint}{maker.cited(said)}", more=more)


def _listed(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a bullet with a label."""
    stop = ":" if maker.language == "en" else "："
    label = maker.chance.choice(["**Step 12{0}** ", "**{0}** ", "", "1.3 ", "(14) "])
    label = label.format(stop) if "12" in label else label.format(page.title + stop)
    label = "" if re.search(r"\*\* ?\*|[<>\[\]]", label) else label
    said = maker.cited(pick_sentences(maker, page))
    return MadeSentence(f"{label}{said}", frame="## 3. A\n\n- {}", about=page.title)


def _tabled(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a row of a table."""
    said = maker.cited(pick_sentences(maker, page))
    cell = maker.chance.choice([r"a \| b", "x", "7", "v2"])
    return MadeSentence(f"{cell} | {said}", frame="| No. | A |\n|---|---|\n| {} |")


def computed(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
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
    return MadeSentence(maker.cited(told))


def numbered(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence with a number of a file's name, a heading, a label or the question."""
    form = maker.chance.choice(maker.words["numbered"])
    said = pick_sentences(maker, page)
    inner = said if maker.language == "zh" else said[0].lower() + said[1:]
    told = maker.cited(form["said"].format(inner))
    return MadeSentence(told, frame=form.get("frame", ""), about=form.get("about", ""))


def not_found(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that says that something was not found."""
    return MadeSentence(maker.chance.choice(maker.listed("not_found")).format(page.title or "X"))


def inferred(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that says that it is an inference, or not sure."""
    return MadeSentence(maker.chance.choice(maker.listed("inferred")).format(page.title or "X"))


def both(maker: SentenceMaker, page: SamplePage) -> MadeSentence | None:
    """Return a sentence made of two pages, which cites both."""
    other, joint = maker.other(page), {"en": ", while ", "zh": "，而"}[maker.language]
    said = f"{pick_sentences(maker, page)[:-1]}{joint}{pick_sentences(maker, other)[:-1]}"
    space = "" if maker.language == "zh" else " "
    return MadeSentence(f"{said}{space}[S1][SX]{maker.words['stop']}", other=other)


def _transition(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence of a page that begins with words that only lead over to it."""
    said = pick_sentences(maker, page)
    return MadeSentence(maker.cited(f"{maker.chance.choice(maker.words['transitions'])}{said}"))


def _introduced(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence without a source that only says what follows."""
    told = maker.chance.choice(maker.listed("introductions"))
    return MadeSentence(
        told, frame=maker.chance.choice(["{}\n\n", "## A\n\n{}\n\n- "]) + _follows(maker)
    )


def _follows(maker: SentenceMaker) -> str:
    return maker.cited(pick_sentences(maker, maker.chance.choice(maker.pages)), "S2")


def _opinion(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return an opinion that is marked as one, cited or not."""
    told = maker.chance.choice(maker.listed("opinions")).format(page.title or "X")
    return MadeSentence(maker.chance.choice([told, maker.cited(told)]))


def _not_found_cited(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return a sentence that says what the source it cites does not say."""
    return MadeSentence(maker.cited(not_found(maker, page).said))


def _inferred_cited(maker: SentenceMaker, page: SamplePage) -> MadeSentence:
    """Return an inference that cites the source it starts from."""
    return MadeSentence(maker.cited(inferred(maker, page).said))


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


def rounded(maker: SentenceMaker, page: SamplePage, by: float = 1.0) -> MadeSentence | None:
    """Return a sentence in which a large number is rounded."""
    said = pick_sentences(maker, page)
    found = re.search(
        r"(?<![\d.,A-Za-z–-])(?:\d{1,3}(?:,\d{3})+|[3-9]\d{3}|\d{5,7})"
        r"(?![\d.,]*\d|年|–|-| (?:million|billion)|[万萬亿億])",
        said,
    )
    if not found or re.search(r"[约約超逾近余餘]|over|nearly|than|almost|about|some", said):
        return None
    number = float(f"{int(found[0].replace(',', '')) * by:.2g}")
    new = f"{maker.words['about']}{number:,.0f}"
    told = said[: found.start()] + new + said[found.end() :]
    return MadeSentence(maker.cited(told)) if new.split()[-1] not in said else None


def converted(maker: SentenceMaker, page: SamplePage, by: float = 1.0) -> MadeSentence | None:
    """Return a sentence with a length in another unit."""
    said = pick_sentences(maker, page)
    for unit, (other, factor) in maker.words["units"].items():
        found = re.search(rf"(?<![\d.,–-])(\d[\d,]*(?:\.\d+)?)( ?)(?:{unit})", said)
        if found:
            length = f"{float(found[1].replace(',', '')) * factor * by:.3g}"
            if "e" not in length:
                new = f"{length}{found[2]}{other}"
                return MadeSentence(maker.cited(said[: found.start()] + new + said[found.end() :]))
    return None


RIGHT = map_by_kind(
    *(
        copied,
        _reworded,
        _named,
        join_statements,
        quoted,
        _coded,
        _tagged,
        _listed,
        _tabled,
        computed,
    ),
    *(numbered, both, not_found, inferred, _transition, _introduced, _opinion),
    *(_not_found_cited, _inferred_cited, later, rounded, converted),
)
