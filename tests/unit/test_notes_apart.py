"""Notes and warnings of manuals: their label stays with their text."""

from __future__ import annotations

import pytest

from text.passage_splitting import split_passages
from text.text_blocks import find_blocks, is_note_label
from tools.files.html import iterate_html_blocks, parse_html

DOCBOOK = """
<div class="caution"><table border="0" summary="Caution"><tr>
<td rowspan="2"><img alt="[Caution]" src="c.png"/></td><th align="left">Caution</th></tr>
<tr><td><p>Only pure stable is safe.</p><p>Nothing else is.</p></td></tr></table></div>
"""
HEADED = '<div class="note"><h3 class="title">Note</h3><p>Bees <b>sleep</b>.</p></div>'
SPHINX = '<div class="admonition tip"><p class="admonition-title">Tip</p><p>Feed them.</p></div>'
ASCIIDOC = (
    '<div class="admonitionblock note"><table><tr><td class="icon"><div class="title">Note</div>'
    '</td><td class="content">Feed them.</td></tr></table></div>'
)
CHINESE = '<div class="warning"><h3>警告</h3><p>不要打开蜂箱。</p></div>'


def read(page: str) -> list[tuple[int, str]]:
    blocks = iterate_html_blocks(parse_html(f"<body>{page}<p>After.</p></body>"))
    return [(block.level, block.text) for block in blocks][:-1]


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (DOCBOOK, ["Caution: Only pure stable is safe.", "Nothing else is."]),
        (HEADED, ["Note: Bees sleep."]),
        (SPHINX, ["Tip: Feed them."]),
        (ASCIIDOC, ["Note: Feed them."]),
        (CHINESE, ["警告：不要打开蜂箱。"]),
    ],
)
def test_the_text_of_a_note_begins_with_its_label(page: str, texts: list[str]):
    assert read(page) == [(0, text) for text in texts]


def test_a_label_above_what_is_no_paragraph_stands_alone_and_announces_it():
    code = '<div class="note"><h3>Example</h3><pre>bees --feed</pre></div>'
    items = '<div class="note"><h3>Note</h3><ul><li>sugar</li><li>water</li></ul></div>'

    assert read(code) == [(0, "Example:"), (0, "bees --feed")]
    assert read(items) == [(0, "Note:"), (0, "- sugar"), (0, "- water")]
    assert read('<div class="note"><h3>Note</h3></div>') == [(0, "Note:")]
    both = '<div class="note"><h3>Note</h3><h4>Warning</h4><p>Bees.</p></div>'
    assert read(both) == [(0, "Note:"), (0, "Warning: Bees.")]


def test_a_note_with_a_title_of_its_own_or_a_table_and_a_heading_elsewhere_stay_as_they_are():
    own = '<div class="note"><h3>Why bees sleep</h3><p>Because.</p></div>'
    table = (
        '<div class="note"><p>See:</p><table><tr><th>Hive</th><th>Kg</th></tr>'
        "<tr><td>A</td><td>38</td></tr></table></div>"
    )

    assert read(own) == [(3, "Why bees sleep"), (0, "Because.")]
    assert read(table) == [(0, "See:"), (0, "Hive: A; Kg: 38.")]
    assert read("<h3>Note</h3><p>Bees sleep.</p>") == [(3, "Note"), (0, "Bees sleep.")]


@pytest.mark.parametrize("label", ["Caution.", "Note:", "WARNING", "**Tip**", "注意", "提示："])
def test_a_label_of_a_stored_page_stays_with_the_next_paragraph(label: str):
    told = "The bees of this hive sleep in the night and also in the winter. " * 4
    text = "\n\n".join([told, label, told, told])

    assert is_note_label(label)
    assert len(find_blocks(text)) == 3
    assert not any(one.text.endswith(label) for one in split_passages(text, 300))


@pytest.mark.parametrize("text", ["Note that bees sleep.", "Bees.", "警告很多。", "Warned."])
def test_other_short_sentences_are_no_labels(text: str):
    assert not is_note_label(text)
