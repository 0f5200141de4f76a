"""In a chat message each citation is a link that leads somewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest

from report.computed_results import ReportComputation, make_figure
from report.rendering.chat_report import render_chat_report, unlink_citations
from report.rendering.markdown_report import cut_method_details, render_markdown
from tests.unit.test_render import document, source

FILE = source(2, location="/home/ada/bees.md#L3-L4")
PDF = source(3, location="https://example.org/a_(b).pdf#page=4")
BODY = "Bees dance [S1].\n\n| what | where |\n|---|---|\n| queen | hive [S2] |\n\nCold [S3] [S1]."
TEXTS = {
    "S1": "Long ago. Bees dance. Then nothing.",
    "S2": "The queen lives in the hive.\nShe lays eggs.",
    "S3": "Cold.",
}


def chat(body: str = BODY, notes: str = "7", **more: Any) -> str:
    told = {"sources": [source(1), FILE, PDF], "texts": TEXTS, **more}
    return render_chat_report(document(body, **told), notes, "t1-2")


def test_the_number_of_a_web_page_leads_to_the_page():
    shown = chat()

    assert r"Bees dance [\[1\]](https://example.org/1)." in shown
    assert r"(https://example.org/a_%28b%29.pdf#page=4)" in shown


def test_the_number_of_a_file_leads_to_the_words_that_are_quoted_below():
    shown = chat()

    (target,) = re.findall(r"hive \[\\\[2[^\]]*\]\]?\((#[^)]+)\)", shown)
    note = target.removeprefix("#user-content-fn-")
    assert f" [^{note}]\n" in shown.partition("## Sources")[2]
    assert re.search(rf"^\[\^{note}\]: “The queen lives in the hive", shown, re.MULTILINE)


def test_every_link_leads_to_a_page_or_to_a_footnote_of_this_message():
    shown = chat()

    targets = re.findall(r"\]\(([^)\s]+)\)", shown)
    written = set(re.findall(r"^\[\^([\w-]+)\]: \S", shown, re.MULTILINE))
    assert len(targets) == 4
    for target in targets:
        named = target.partition("#user-content-fn-")[2]
        assert target.startswith("https://") or named in written
    assert written == {"7-1", "7-2", "7-3"}
    assert set(re.findall(r"^\[(\d)\].*\[\^7-\1\]$", shown, re.MULTILINE)) == {"1", "2", "3"}


def test_two_messages_of_a_page_have_footnotes_of_their_own():
    assert not set(re.findall(r"\[\^[\w-]+\]", chat())) & set(
        re.findall(r"\[\^[\w-]+\]", chat(notes="8"))
    )


@pytest.mark.parametrize("location", ["javascript:alert(1)", "data:text/html,x", "memory"])
def test_what_is_no_page_of_the_web_is_no_address(location: str):
    odd = {**source(1, location=location), "kind": "memory"}

    shown = chat("Bees dance [S1].", sources=[odd])

    assert r"[\[1\]](#user-content-fn-7-1)" in shown
    assert f"]({location}" not in shown


def test_words_of_a_source_cannot_make_links_of_their_own():
    evil = "Bees dance [here](https://evil.example) <b>now</b>."

    shown = chat("Bees dance here now [S2].", texts={"S2": evil})

    assert "evil.example" not in shown
    assert "<b>" not in shown


def test_a_report_without_sources_has_no_footnotes():
    shown = chat("Nothing is known.", sources=[])

    assert "[^" not in shown
    assert "](" not in shown


def test_a_reader_without_links_is_told_the_numbers():
    told = {"sources": [source(1), FILE, PDF], "texts": TEXTS}
    plain = render_markdown(document(BODY, **told))

    same = cut_method_details(plain, "en").replace(
        "\n\nA number without a place refers to the place last named with it.", ""
    )
    assert unlink_citations(chat()) == same


@pytest.mark.parametrize("language", ["en", "zh"])
def test_figures_are_named_where_they_belong_without_their_data(language: str):
    data = make_figure("fee.png", b"\x89PNG" + bytes(200_000))
    computed = ReportComputation(
        source=FILE,
        code="plt.title('Fees')\nplt.savefig('fee.png')",
        inputs=["a.csv"],
        sha256="f" * 64,
        outcome="same",
        figures=[data],
    )
    body = "The figure shows fees [S2].\n\nBees dance [S1]."
    shown = chat(body, computations=[computed], language=language)

    (named,) = re.findall(r"^\*Fees \(fee\.png\): .+\*$", shown, re.MULTILINE)
    assert "t1-2 --format html`" in named
    assert shown.index("fees") < shown.index(named) < shown.index("Bees dance")
    assert not re.search(r"data:|base64|figure-1|savefig|!\[", shown)
    assert len(shown) < len(chat(body, language=language)) + 300
