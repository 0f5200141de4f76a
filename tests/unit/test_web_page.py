"""What a web page says is read whole: its lists, definitions, tables, code, powers and headings."""

from __future__ import annotations

import pytest
from lxml import etree

from tests.cases import each_case
from text.passage_splitting import split_passages
from text.sentences import split_sentences
from text.text_blocks import find_headings_above
from tools.files.html import iterate_html_blocks, parse_html
from tools.files.parsed_document import render_text_blocks
from tools.files.web_page import read_article

FILLER = "".join(
    f"<p>Paragraph {n} tells at some length how a tide mill was built and how it was run.</p>"
    for n in range(8)
)


def read(body, head="<title>Mills</title>"):
    """Return the text of a page, read as one that was fetched."""
    page = f"<html><head>{head}</head><body>{body}</body></html>"
    return render_text_blocks(read_article(page).blocks).strip()


def inside(body):
    """Return what stands between two long parts of an article."""
    text = read(f"<article><h1>Mills</h1>{FILLER}{body}{FILLER}</article>")
    middle = text.split("Paragraph 7 tells", 1)[1].split("\n\n", 1)[1]
    return middle.split("\n\nParagraph 0", 1)[0]


def test_a_list_of_definitions_is_kept_whole():
    said = inside(
        "<p>The gate can stand in these ways:</p><dl><dt>OPEN (2)</dt><dd>Water runs freely.</dd>"
        "<dt>HALF (1)</dt><dd><p>Water runs slowly.</p></dd><dt>SHUT (0)</dt>"
        "<dd>None runs.</dd></dl>"
    )

    assert said.split("\n\n")[1:] == [
        *("OPEN (2)", "Water runs freely."),
        *("HALF (1)", "Water runs slowly."),
        *("SHUT (0)", "None runs."),
    ]


@pytest.mark.parametrize(
    "items",
    [
        "<li>oak</li><li>elm</li><li>ash</li>",
        "<li><a href='/oak'>oak</a></li><li><a href='/elm'>elm</a></li><li><a href='/ash'>ash</a>",
    ],
)
@pytest.mark.parametrize("after", [FILLER, ""])
def test_a_list_that_a_sentence_announces_is_kept_also_at_the_end_and_of_links(items, after):
    text = read(
        f"<div><h1>Mills</h1>{FILLER}<p>Wheels are made of:</p><ul>{items}</ul>{after}</div>"
    )

    assert "Wheels are made of:\n\n- oak\n\n- elm\n\n- ash" in text


def test_code_in_a_sentence_stays_in_it():
    said = inside(
        "<p>The pump starts with <code>zeta --go</code> (or <tt>zg</tt>), not before.</p>"
    )

    assert said == "The pump starts with zeta --go (or zg), not before."


def test_a_command_behind_the_prompt_of_root_is_no_heading():
    said = inside("<p>Then copy it:</p><pre># cd ./source; find . -print0 | cpio</pre><p>Done.</p>")

    assert said == "Then copy it:\n\n    # cd ./source; find . -print0 | cpio\n\nDone."
    assert find_headings_above(said, said.index("Done.")) == []


def test_a_preformatted_text_keeps_its_lines():
    said = inside("<pre><code>if tide:\n    open()<br>    close()\n</code></pre>")

    assert said == "if tide:\n    open()\n    close()"


@each_case(
    [
        ("up to 2<sup>32</sup> − 2 bytes", "up to 2^32 − 2 bytes"),
        ("10<sup>−3</sup> m", "10^-3 m"),
        ("x<sup>n+1</sup> and x<sup>n</sup>", "x^(n+1) and x^n"),
        ("a<sub>i</sub> and a<sub>i+1</sub>", "a_i and a_(i+1)"),
        ("CO<sub>2</sub> and H<sub>2</sub>SO<sub>4</sub>", "CO2 and H2SO4"),
        ("the 21<sup>st</sup> mill", "the 21st mill"),
        ("as known<sup><a href='#n3'>3</a></sup>.", "as known[3]."),
        ("as known<sup class='reference'><a href='#n3'>[3]</a></sup>.", "as known[3]."),
        ("Mill<sup>™</sup>", "Mill™"),
        ("so <math alttext='a^{2}'><mi>a</mi><mn>2</mn></math> holds", "so a^{2} holds"),
        ("so <img alt='$b^{3}$' src='b.png'> holds", "so b^{3} holds"),
        ("so <img alt='a mill' src='b.png'>holds", "so holds"),
    ]
)
def test_powers_and_indices_are_not_lost(markup, text):
    assert inside(f"<p>It is {markup} here.</p>") == f"It is {text} here."


def test_a_heading_is_no_part_of_the_sentence_below_it():
    said = inside("<h2>Zeta<a class='headerlink' href='#zeta'>¶</a></h2>Zeta runs at 41 bar.")

    assert said == "## Zeta\n\nZeta runs at 41 bar."
    assert [one.text for one in split_sentences(said)] == ["## Zeta", "Zeta runs at 41 bar."]


def test_two_line_breaks_part_paragraphs_and_one_does_not():
    assert inside("<p>One<br>two<br><br>three</p>") == "One two\n\nthree"


def test_every_row_of_a_table_is_kept_with_its_header():
    said = inside(
        "<table><thead><tr><td>Mode</td><td>Flow</td></tr></thead>"
        "<tr><td><code>on</code></td><td><ul><li>fast</li><li>loud</li></ul></td></tr>"
        "<tr><td><code>off</code></td><td>none</td></tr></table>"
    )

    assert said == "Mode: on; Flow: - fast - loud.\n\nMode: off; Flow: none."


def test_a_cell_over_two_rows_stands_in_both():
    said = inside(
        "<table><tr><th>Mill</th><th>Year</th></tr>"
        "<tr><td rowspan='2'>Eling</td><td>1785</td></tr><tr><td>1980</td></tr></table>"
    )

    assert said == "Mill: Eling; Year: 1785.\n\nMill: Eling; Year: 1980."


def test_a_table_that_only_lays_out_a_page_is_read_as_its_parts():
    text = read(
        f"<table><tr><td><a href='/'>Home</a></td><td><h1>Mills</h1>{FILLER}</td></tr></table>"
    )

    assert "# Mills\n\nParagraph 0 tells" in text


def test_menus_footers_and_hidden_parts_are_left_out():
    menu = "".join(f"<li><a href='/{n}'>Page {n}</a></li>" for n in range(9))
    text = read(
        f"<div class='navbar'><ul>{menu}</ul></div><ul>{menu}</ul><h1>Mills</h1>{FILLER}"
        f"<p style='display: none'>unseen</p><div id='footer'>All rights reserved</div>"
    )

    assert text.startswith("# Mills")
    assert text.endswith("how it was run.")
    assert "Page 3" not in text
    assert "unseen" not in text


def test_a_section_that_is_named_after_its_heading_is_no_menu():
    words = "Comments on the share of related mills in the menu of the cook were many."
    ids = ("handling-related-mills", "menu-of-the-cook", "sharing-comments", "social-life")
    parts = "".join(f"<div id='{one}'><h2>{one}</h2><p>{words}</p></div>" for one in ids)

    assert read(f"<main><h1>Mills</h1>{FILLER}{parts}</main>").count(words) == len(ids)


def test_a_note_inside_an_article_is_kept_and_a_margin_beside_it_is_not():
    note = "<aside><p>Never open the gate by hand while the tide is coming in.</p></aside>"

    text = read(f"<article>{FILLER}{note}{FILLER}</article><aside>Our other mills</aside>")

    assert "Never open the gate by hand" in text
    assert "Our other mills" not in text


def test_the_main_part_that_a_page_names_is_read_to_its_end():
    rows = "".join(f"<tr><td>mill {n}</td><td>{n} kW</td></tr>" for n in range(60))
    text = read(f"<main><h1>Mills</h1>{FILLER}<table>{rows}</table></main><p>Elsewhere.</p>")

    assert text.endswith("mill 59; 59 kW.")


def test_a_form_that_holds_the_whole_page_is_read():
    assert "Paragraph 7 tells" in read(f"<form><h1>Mills</h1>{FILLER}</form>")


def test_passages_of_a_page_with_much_code_end_with_sentences():
    body = "".join(
        f"<p>Gate {n} opens with <code>open {n}</code> and shuts with <tt>shut {n}</tt> at once."
        f" It takes <em>{n}</em> seconds.</p>"
        for n in range(40)
    )

    cut = split_passages(read(f"<article><h1>Gates</h1>{body}</article>"))

    assert len(cut) > 3
    assert all(one.text.endswith("seconds.") for one in cut)


@pytest.mark.parametrize(
    "struck",
    [
        "<s>The gate opens at noon.</s>",
        "<del datetime='2019-02-03'>The gate opens at noon.</del>",
        "<strike>The gate <b>opens</b> at noon.</strike>",
        "<span style='color: red; text-decoration: line-through'>The gate opens at noon.</span>",
    ],
)
def test_what_is_struck_out_is_not_read_as_if_it_held(struck):
    assert inside(f"<p>It is old. {struck} The gate opens at dawn.</p>") == (
        "It is old. The gate opens at dawn."
    )
    assert inside(f"<pre>open {struck}now</pre>") == "open now"
    assert inside(f"<ul><li>wheel</li><li>{struck}</li><li>pond</li></ul>") == "- wheel\n\n- pond"


def test_a_strike_that_was_never_closed_does_not_take_the_rest_of_the_page_away():
    text = read(f"<h1>Mills</h1><s>Old.<div>{FILLER}</div><h2>Gates</h2><p>They are of oak.</p>")

    assert "They are of oak." in text


def test_the_plain_cells_of_a_table_are_read_without_a_walk_of_their_own(monkeypatch):
    walked = []
    walk = etree.iterwalk
    monkeypatch.setattr(etree, "iterwalk", lambda *a, **k: walked.append(a) or walk(*a, **k))

    rows = "<tr><td>Zeta</td><td align='right'>41</td><td hidden>old</td></tr>" * 500
    found = list(
        iterate_html_blocks(parse_html(f"<table><tr><th>pump</th><th>bar</th></tr>{rows}</table>"))
    )

    assert [block.text for block in found] == ["pump: Zeta; bar: 41."] * 500
    # One walk over the page, and one for each cell that nobody sees.
    assert len(walked) == 1 + 500
