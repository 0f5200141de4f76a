"""Make report sentences in every form of Markdown, as their page has them or with a mistake."""

from __future__ import annotations

import re
from functools import partial

from evals.sentences.made import Made, Maker, Page, Way, picked
from evals.sentences.wrong import altered_quotation, changed_digit, made_up_id

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

_COUNT = re.compile(r"(?<![\w.,])[1-9]\d{2,4}(?![\w.,%])")

_WRONG = (changed_digit, made_up_id, altered_quotation)


def framed(maker: Maker, page: Page, name: str) -> Made:
    """Return a sentence of a page in one of the forms."""
    return Made(maker.cited(picked(maker, page)), frame=FRAMES[name])


def framed_wrong(maker: Maker, page: Page, name: str) -> Made | None:
    """Return a sentence with a mistake in one of the forms."""
    made = maker.chance.choice(_WRONG)(maker, page)
    return made._replace(frame=FRAMES[name]) if made else None


def footnoted(maker: Maker, page: Page) -> Made:
    """Return a sentence cited with the mark of a footnote, or in full-width brackets."""
    spelt = maker.chance.choice(["[^S1]", "【S1】", "[s1]".upper(), "[S1, S1]", "(S1)"])
    return Made(maker.cited(picked(maker, page)).replace("[S1]", spelt), frame="{}")


def footnoted_wrong(maker: Maker, page: Page) -> Made | None:
    """Return such a sentence with another digit in a number."""
    made = changed_digit(maker, page)
    spelt = maker.chance.choice(["[^S1]", "【S1】", "[S1, S1]"])
    return Made(made.said.replace("[S1]", spelt), frame="{}") if made else None


def several(maker: Maker, page: Page) -> Made | None:
    """Return two sentences as clauses of one, each with a citation of its own."""
    other = maker.other(page)
    first, second = picked(maker, page)[:-1], picked(maker, other)[:-1]
    joint = {"en": ("{} [S1], while {} [SX].", " "), "zh": ("{}[S1]，而{}[SX]。", "")}
    return Made(joint[maker.language][0].format(first, second), other=other)


def several_wrong(maker: Maker, page: Page) -> Made | None:
    """Return such a sentence, and in one clause a number is another one."""
    made, other = changed_digit(maker, page), maker.other(page)
    if not made:
        return None
    wrong, second = re.sub(r" ?\[S1\]\W$", "", made.said), picked(maker, other)[:-1]
    joint = {"en": "{} [S1], while {} [SX].", "zh": "{}[S1]，而{}[SX]。"}[maker.language]
    return Made(joint.format(wrong, second), other=other)


def fenced(maker: Maker, page: Page) -> Made | None:
    """Return a line of code with a sentence of the page that has a number."""
    told = [one for one in page.said if _COUNT.search(one) and '"' not in one]
    if not told:
        return None
    return Made(f'note = "{maker.chance.choice(told)}"', frame=_code(maker, page))


def fenced_wrong(maker: Maker, page: Page) -> Made | None:
    """Return such a line with a number that no page has."""
    made = fenced(maker, page)
    number = str(maker.chance.randrange(23_457, 98_765))
    return made and made._replace(said=_COUNT.sub(number, made.said, count=1))


def _code(maker: Maker, page: Page) -> str:
    told = maker.cited(picked(maker, page)).replace("{", "").replace("}", "")
    return told + "\n\n```ini\n{}\n```"


FRAMED_RIGHT: dict[str, Way] = {
    **{f"in_{name}": partial(framed, name=name) for name in FRAMES},
    **{one.__name__: one for one in (footnoted, several, fenced)},
}
FRAMED_WRONG: dict[str, Way] = {
    **{f"in_{name}_wrong": partial(framed_wrong, name=name) for name in FRAMES},
    **{one.__name__: one for one in (footnoted_wrong, several_wrong, fenced_wrong)},
}
