"""Make report sentences that are right."""

from __future__ import annotations

import re
from itertools import pairwise

from evals.sentences.made import Made, Maker, Page, Way, picked, rewritten


def copied(maker: Maker, page: Page) -> Made:
    """Return a sentence as its page has it."""
    return Made(maker.cited(picked(maker, page)))


def reworded(maker: Maker, page: Page) -> Made | None:
    """Return a sentence of a page with some other words that mean the same."""
    said = picked(maker, page)
    changed = rewritten(maker, said)
    return Made(maker.cited(changed)) if changed != said else None


def named(maker: Maker, page: Page) -> Made | None:
    """Return a sentence with the title of its page in place of a pronoun."""
    said = re.sub(maker.words["pronoun"], page.title, picked(maker, page), count=1)
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
    said = picked(maker, page)[:-1]
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
    stop, said = maker.words["stop"], picked(maker, page)
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
    said = maker.cited(picked(maker, page))
    return Made(f"{label}{said}", frame="## 3. A\n\n- {}", about=page.title)


def tabled(maker: Maker, page: Page) -> Made:
    """Return a row of a table."""
    said = maker.cited(picked(maker, page))
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
    said = picked(maker, page)
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
    said = f"{picked(maker, page)[:-1]}{joint}{picked(maker, other)[:-1]}"
    space = "" if maker.language == "zh" else " "
    return Made(f"{said}{space}[S1][SX]{maker.words['stop']}", other=other)


def transition(maker: Maker, page: Page) -> Made:
    """Return a sentence of a page that begins with words that only lead over to it."""
    said = picked(maker, page)
    return Made(maker.cited(f"{maker.chance.choice(maker.words['transitions'])}{said}"))


def introduced(maker: Maker, page: Page) -> Made:
    """Return a sentence without a source that only says what follows."""
    told = maker.chance.choice(maker.listed("introductions"))
    return Made(told, frame=maker.chance.choice(["{}\n\n", "## A\n\n{}\n\n- "]) + _follows(maker))


def _follows(maker: Maker) -> str:
    return maker.cited(picked(maker, maker.chance.choice(maker.pages)), "S2")


def opinion(maker: Maker, page: Page) -> Made:
    """Return an opinion that is marked as one, cited or not."""
    told = maker.chance.choice(maker.listed("opinions")).format(page.title or "X")
    return Made(maker.chance.choice([told, maker.cited(told)]))


def not_found_cited(maker: Maker, page: Page) -> Made:
    """Return a sentence that says what the source it cites does not say."""
    return Made(maker.cited(not_found(maker, page).said))


def inferred_cited(maker: Maker, page: Page) -> Made:
    """Return an inference that cites the source it starts from."""
    return Made(maker.cited(inferred(maker, page).said))


def later(maker: Maker, page: Page, off: int = 0) -> Made | None:
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
    return Made(maker.cited(maker.words["later"].format(told, year, then[2])))


def rounded(maker: Maker, page: Page, by: float = 1.0) -> Made | None:
    """Return a sentence in which a large number is rounded."""
    said = picked(maker, page)
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
    return Made(maker.cited(told)) if new.split()[-1] not in said else None


def converted(maker: Maker, page: Page, by: float = 1.0) -> Made | None:
    """Return a sentence with a length in another unit."""
    said = picked(maker, page)
    for unit, (other, factor) in maker.words["units"].items():
        found = re.search(rf"(?<![\d.,–-])(\d[\d,]*(?:\.\d+)?)( ?)(?:{unit})", said)
        if found:
            length = f"{float(found[1].replace(',', '')) * factor * by:.3g}"
            if "e" not in length:
                new = f"{length}{found[2]}{other}"
                return Made(maker.cited(said[: found.start()] + new + said[found.end() :]))
    return None


RIGHT: dict[str, Way] = {
    one.__name__: one
    for one in (
        *(copied, reworded, named, joined, quoted, coded, tagged, listed, tabled, computed),
        *(numbered, both, not_found, inferred, transition, introduced, opinion),
        *(not_found_cited, inferred_cited, later, rounded, converted),
    )
}
