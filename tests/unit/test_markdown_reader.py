"""The parser of reports reads Markdown as its library does, tables of any kind included."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from report.markdown.markdown_reader import make_markdown_reader
from tests.cases import each_case

HEAD = "| a | b |\n|---|--:|\n"
NOT_READ = ["autolink", "code", "html_block", "html_inline", "image", "link", "reference"]


def read_plainly(markdown: str) -> str:
    """Return what the library alone makes, with classes for its styles."""
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    html = reader.disable(NOT_READ).render(markdown)
    return re.sub(' style="text-align:(?:left|(right|center))"', _to_class, html)


def _to_class(found: re.Match[str]) -> str:
    return f' class="{found[1]}"' if found[1] else ""


@each_case(
    [
        "Bees *dance* in `the` dark & <b>tell</b> ~~all~~.\n\n- one\n- two\\*\n\n1. three",
        f"{HEAD}| 1 | **2** |\n| `3` | 4 & 5 |\n\nBehind.",
        f"{HEAD}| fewer |\n| one | two | too many |\n|| empty |\n| | |",
        f"{HEAD}| a \\| b | `c|d` |\n| \\\\| e |\nwithout | pipes\nlazy",
        f"{HEAD}| 1 | 2 |\n# heading\n| 3 | 4 |",
        f"{HEAD}| 1 | 2 |\n- an item | 3\n> a quote",
        f"{HEAD}a | b\n```\n| in | code |\n```",
        f"> {HEAD.replace(chr(10), chr(10) + '> ')}| 1 | 2 |\n\nText.",
        f"- item\n\n  {HEAD.replace(chr(10), chr(10) + '  ')}| 1 | 2 |\n\n    | no | row |",
        "| a | b |\n|---|\n| 1 | 2 |",
        "| a |\n| b |\n",
        HEAD,
        "a | b\n--- | :-:\n1 | 2",
        "| left | right | both |\n|:--|--:|:-:|\n| 1 | 2 | 3 |",
        f"{HEAD}| x | \ue0001\ue001\U000f0000 |",
        "Text above\n| a | b |\n|---|---|\n| 1 | 2 |",
    ]
)
def test_markdown_is_read_as_its_parser_reads_it(markdown: str):
    assert make_markdown_reader().render(markdown).replace("\u00a0", " ") == read_plainly(markdown)


def test_no_line_ends_between_a_number_and_its_unit():
    cells = ("12 km", "−1.5 % of all", "$1.2 billion", "3–5 %", "many 2 words")

    html = make_markdown_reader().render(HEAD + "\n".join(f"| 1 km | {one} |" for one in cells))

    assert html.count("<td>1 km</td>") == len(cells)
    shown = ("12\u00a0km", "−1.5\u00a0% of all", "$1.2\u00a0billion", "3–5\u00a0%", "many 2 words")
    assert all(f'<td class="right">{one}</td>' in html for one in shown)


def test_rows_that_are_too_short_are_filled_only_so_far():
    columns = 2_000
    wide = f"{'|x' * columns}|\n{'|-' * columns}|\n"

    html = make_markdown_reader().render(wide + "|1|\n" * 400)

    assert html.count("<td>1</td>") == 32


def test_only_images_with_data_are_read_and_only_if_they_are_wanted():
    image = "![a](data:image/svg+xml;base64,PHN2Zy8+) ![b](https://bees.example/b.png)"

    assert "<img" not in make_markdown_reader().render(image)
    told = make_markdown_reader(images=True).render(image)
    assert told.count("<img") == 1
    assert 'src="data:image/svg+xml' in told
