import re
from html import unescape

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from memory.learning.question_text import get_last_question
from report.checks.verification import verify_citations
from report.document import build_document, extract_answer
from report.rendering.html_report import render_html
from report.rendering.markdown_report import cut_method_details, render_markdown, render_plain_text
from tests.cases import each_case


def source(number, title="", location="", page=""):
    return {
        "id": f"S{number}",
        "page": page or f"page{number}",
        "title": title or f"Title {number}",
        "location": location or f"https://example.org/{number}",
        "kind": "web",
    }


SOURCES = [source(1), source(2, location="/home/ada/bees.pdf#page=4"), source(3), source(4)]


def document(body="Bees dance [S1].", **more):
    plain = {
        "title": "Bees",
        "question": "Why do bees dance?",
        "status": "succeeded",
        "notices": [],
        "body": body,
        "gaps": [],
        "method": {"summary": "", "parts": []},
        "sources": SOURCES,
        "texts": {},
        "removed": [],
        "doubted": [],
        "unreviewed": 0,
        "language": "en",
        "created": "2026-01-12",
    }
    return {**plain, **more}


def rendered(body, **more):
    """Return the body as markdown, without what stands around it."""
    return (
        render_markdown(document(body, **more))
        .split("\n\n", 2)[2]
        .split("\n\n## Sources")[0]
        .strip()
    )


def words(page):
    """Return what a reader sees of a page, each run of white space as one space."""
    seen = re.sub(r"<head>.*?</head>|<script>.*?</script>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", seen).split())


# --- numbers


def test_a_whole_report_reads_from_title_to_removals():
    shown = render_markdown(
        document(
            'Bees <q s="S2">dance in the dark</q>. They tell directions [S1][S2].',
            status="partial",
            notices=["Made by hand."],
            gaps=[{"title": "Smell", "status": "failed", "reason": "no_evidence"}],
            removed=[
                {"text": "x", "reason": "quote_not_found"},
                {"text": "y", "reason": "quote_not_found"},
                {"text": "z", "reason": "unknown_source"},
            ],
        )
    )

    assert shown == (
        "# Bees\n\n"
        "> Partial: not everything could be done.\n>\n> Made by hand.\n\n"
        "*Why do bees dance?*\n\n"
        "Bees “dance in the dark” [1, p. 4]. They tell directions [2][1].\n\n"
        "## What is not known\n\n"
        "- **Smell**: nothing was found that answers it\n\n"
        "## Sources\n\n"
        "[1] Title 2 — /home/ada/bees.pdf\n\n"
        "[2] Title 1 — https://example.org/1\n\n"
        "A number without a place means the place that was last named with that number.\n\n"
        "Removed by the checks: 2 sentences with a quotation that no source has, "
        "1 sentence that named no known source.\n"
    )


def test_numbers_go_by_first_use_without_gaps():
    assert rendered("A [S4]. B [S1][S4]. C [S3].") == "A [1]. B [2][1]. C [3]."


def test_sources_of_one_address_share_a_number():
    same = "https://example.org/same"
    sources = [source(1, location=same), source(2, location=same), source(3)]

    assert rendered("A [S1][S2]. B [S2][S3].", sources=sources) == "A [1]. B [1][2]."


@each_case(
    [
        ('Bees <q s="S1">dance</q> [S1].', "Bees “dance” [1]."),
        ('Bees <q s="S1">dance</q>. [S1]', "Bees “dance”. [1]"),
        ('Bees <q s="S1">dance</q> [S2][S1].', "Bees “dance” [2, p. 4][1]."),
        ('Bees <q s="S1">dance</q> [S2].', "Bees “dance” [1] [2, p. 4]."),
        ('Bees <q s="S1">dance</q> in hives [S1].', "Bees “dance” in hives [1]."),
        (
            '<q s="S1">Bees</q> dance in <q s="S1">hives</q> at noon [S1].',
            "“Bees” [1] dance in “hives” at noon [1].",
        ),
        ('Bees <q s="S1">dance</q>well.', "Bees “dance” [1] well."),
        ("Bees dance[S1].", "Bees dance [1]."),
        ("Bees [S1] [S1] dance.", "Bees [1] dance."),
        ("蜜蜂[S1]跳舞[S2]。", "蜜蜂[1]跳舞[2, p. 4]。"),
        ('<q s="S1">蜜蜂</q>跳舞。', "“蜜蜂” [1]跳舞。"),
        ("Bees dance [S9].", "Bees dance."),
    ]
)
def test_a_reader_sees_each_number_once_and_well_set(body, shown):
    assert rendered(body) == shown


def test_a_quotation_is_shown_to_the_letter():
    said = '<q s="S1">a*b* &lt;c&gt; [2] | `d` &amp;amp; _e_ 1</q>'

    assert "“a*b* &lt;c&gt; [2] | `d` &amp;amp; _e_ 1”" in render_html(document(f"Say {said}"))


def test_a_quotation_does_not_break_a_table():
    page = render_html(document('| a | b |\n|---|---|\n| <q s="S1">x | y</q> | z |'))

    assert "“x | y”" in page
    assert page.count("<td>") == 2


def test_marks_in_code_are_code():
    code = "```\nx[S1]\n```"

    assert "[S1]" not in rendered(f"Bees dance [S1].\n\n{code}")
    assert rendered("Bees dance [S1].\n\n```\nx = a[1]\n```").endswith("```\nx = a[1]\n```")


def test_only_cited_sources_are_listed_and_every_number_has_its_source():
    shown = render_markdown(document('A [S3]. B <q s="S2">b</q>. C [S3].'))

    assert re.findall(r"^\[(\d+)\] (Title \d)", shown, re.MULTILINE) == [
        ("1", "Title 3"),
        ("2", "Title 2"),
    ]


def test_rendering_twice_gives_the_same_bytes():
    one = document('A [S3]. B <q s="S2">b</q>.', status="partial")

    assert render_markdown(one) == render_markdown(one)
    assert render_html(one) == render_html(one)


# --- what stands around the body


METHOD = {
    "summary": "2026-01-12: 2 queries.",
    "parts": [
        {"heading": "Searched for", "items": ["bee dance", "2 * 3 <b>"], "rest": "and 4 more"},
        {"heading": "Checked", "items": ["by code"]},
    ],
}


def test_without_evidence_a_report_says_so_and_what_was_searched():
    one = document("", status="insufficient_evidence", method=METHOD)

    told = "No source that could be read says anything that answers this question."
    assert told in render_markdown(one)
    assert "## Sources" not in render_markdown(one)
    assert "- **Searched for**: bee dance; " in render_markdown(one)
    assert "<details open><summary>Details</summary></details>" in render_html(one)
    assert told in words(render_html(one))


def test_how_it_was_researched_stands_at_the_end_and_is_folded_in_the_page():
    one = document(method=METHOD, unreviewed=2)

    assert render_markdown(one).endswith(
        "## How it was researched\n\n2026-01-12: 2 queries.\n\n"
        "- **Searched for**: bee dance; 2 \\* 3 \\<b\\>; and 4 more\n- **Checked**: by code\n\n"
        "Not reviewed a second time: 2 of the results.\n"
    )
    page = render_html(one)
    assert "<details><summary>Details</summary></details>" in page
    assert "<dt>Searched for</dt><dd>bee dance</dd><dd>2 * 3 &lt;b&gt;</dd><dd>and 4 more" in page


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "How it was researched"), ("zh", "研究过程")]
)
def test_a_terminal_shows_only_the_summary_of_how_it_was_researched(language: str, heading: str):
    body = f"## {heading}\n\n- Bees dance [S1]."
    shown = render_markdown(document(body, language=language, method=METHOD, unreviewed=1))

    short = cut_method_details(shown, language)
    assert "- Bees dance" in short
    assert f"## {heading}\n\n2026-01-12: 2 queries.\n\n" in short
    assert "bee dance" not in short
    assert short.splitlines()[-1] == shown.splitlines()[-1]
    assert cut_method_details("# Bees\n", language) == "# Bees\n"


# --- what the writer concludes, and what is not known


def test_a_sentence_that_the_writer_concludes_is_marked_as_an_inference():
    said = "Bees dance [S1]. So **food** is near [S1][S2]! They sing."
    one = document(said, inferred=["So **food** is near [S1][S2]!"])

    shown = "Bees dance [1]. *Inference:* So **food** is near [1][2, p. 4]! They sing."
    assert shown in render_markdown(one)
    page = render_html(one)
    assert words(page).count("Inference:") == 1
    (inferred,) = re.findall(r'<span class="inferred">(.*?)</span>', page)
    assert words(inferred) == "So food is near [1] [2, p. 4]"


def test_an_inference_in_a_table_and_in_a_list_is_marked_where_it_begins():
    table = "| a | b |\n|---|---|\n| wax | honey [S1] |\n\n- It sings [S1]."
    one = document(table, inferred=["| wax | honey [S1] |", "It sings [S1]."])

    shown = render_markdown(one)
    assert "| *Inference:* wax | honey [1] |\n\n- *Inference:* It sings [1]." in shown
    assert render_html(one).count('<span class="inferred">') == 2


def test_the_bold_label_of_an_inference_stays_before_the_mark():
    body = "- **Order.** Food is near [S1].\n\n**先后：**先查内存[S1]。"
    one = document(body, inferred=["**Order.** Food is near [S1].", "**先后：**先查内存[S1]。"])

    shown = render_markdown(one)
    assert "- **Order.** *Inference:* Food is near [1]." in shown
    assert "**先后：** *Inference:* 先查内存[1]。" in shown
    assert render_html(one).count('<span class="inferred">') == 2


def test_an_inference_that_begins_in_bold_type_breaks_no_element():
    one = document("**Food is near [S1]. Bees dance [S1].**", inferred=["**Food is near [S1]."])

    page = render_html(one)
    body = page.partition("<article>")[2].partition("</article>")[0]
    assert body.count("<strong>") == body.count("</strong>")
    assert not re.search("[\ue000-\ue006]", page + render_markdown(one))


@pytest.mark.parametrize(
    ("language", "heading", "note"),
    [
        ("en", "Assessment", "*Conclusions of the writer, drawn from the sources named"),
        ("zh", "评估", "*本节是撰写者根据所注来源得出的判断"),
    ],
)
def test_an_assessment_says_that_it_is_the_writers_and_keeps_its_sources(
    language: str, heading: str, note: str
):
    body = f"Bees dance [S1].\n\n## {heading}\n\nKeep bees [S1].\n\n## More\n\nWax [S2]."
    one = document(body, language=language, inferred=["Keep bees [S1]."])

    assert f"## {heading}\n\n{note}" in render_markdown(one)
    assert "Inference" not in render_markdown(one)
    assert "Keep bees [1]." in render_markdown(one)
    page = render_html(one)
    (within,) = re.findall(r'<section class="assessment">(.*?)</section>', page, re.DOTALL)
    assert "Keep bees" in within
    assert 'class="ref"' in within
    assert "Wax" not in within


@pytest.mark.parametrize(("language", "heading"), [("en", "What is not known"), ("zh", "尚不清楚")])
def test_gaps_stand_under_what_the_writer_says_is_not_known_and_that_is_last(
    language: str, heading: str
):
    body = f"A [S1].\n\n## {heading}\n\n- Why they sing.\n\n## More\n\nB [S2]."
    gap = {"title": "Smell", "status": "failed", "reason": "no_evidence"}
    one = document(body, language=language, gaps=[gap])

    shown = render_markdown(one)
    assert shown.count(f"## {heading}\n") == 1
    places = [shown.index(text) for text in ("B [2", heading, "Why they sing", "**Smell**", "[1] ")]
    assert places == sorted(places)
    page = render_html(one)
    assert page.count(f"<h2>{heading}</h2>") == 1
    assert page.index("Why they sing") < page.index("<strong>Smell</strong>")


def test_what_no_step_found_is_told_unless_the_writer_has_told_it():
    unknown = ["Nobody says why *they* sing."]

    one = document(unknown=unknown)
    assert "## What is not known\n\n- Nobody says why \\*they\\* sing.\n" in render_markdown(one)
    assert "<li>Nobody says why *they* sing.</li>" in render_html(one)
    told = document("A [S1].\n\n## What is not known\n\n- Why.", unknown=unknown)
    assert "Nobody says" not in render_markdown(told) + render_html(told)


def test_what_steps_did_not_find_is_in_the_document_once_and_without_marks():
    one = {"status": "ok", "reason": "", "review": "passed", "text": "x", "queries": []}
    one |= {"title": "T", "sources": [], "not_found": ["No [S1] word on\nwax.", "No  word on wax."]}
    found = {"2/s1": one, "1/s1": one | {"not_found": ["Earlier."]}}
    shown = of_turn(2, "Do they?", "Do they?", found)

    assert shown["unknown"] == ["No word on wax."]


# --- the entries of the sources


def test_a_source_is_listed_with_author_site_date_and_how_much_of_it_is_used():
    known = {"author": "Ada Dee", "site": "Bee Journal", "published": "2019-04"}
    texts = {"S1": "Bees dance in the dark.\n\n" + "Wax is soft. " * 200 + "\n\nBees sing."}
    one = document("Bees dance [S1]. Bees sing [S1].", sources=[source(1) | known], texts=texts)

    listed = "[1] Title 1 — Ada Dee, Bee Journal, 2019-04 — https://example.org/1 (2 passages)\n"
    assert listed in render_markdown(one)
    assert '<span class="origin">Ada Dee, Bee Journal, 2019-04</span>' in render_html(one)
    assert "<summary>2 passages</summary>" in render_html(one)


def test_a_site_that_the_address_names_is_not_told_twice():
    one = document(sources=[source(1) | {"site": "example.org"}])

    assert "[1] Title 1 — https://example.org/1\n" in render_markdown(one)


def test_a_notice_about_the_status_is_not_given_twice():
    shown = render_markdown(document(status="partial", notices=["Partial: one step failed."]))

    assert re.findall(r"^> (.+)", shown, re.MULTILINE) == ["Partial: one step failed."]


@pytest.mark.parametrize(
    ("status", "reason", "language", "told"),
    [
        ("skipped", "budget_spent", "en", "a limit of the run was reached"),
        (
            "skipped",
            "budget_spent: max_calls = 3",
            "en",
            "a limit of the run was reached (max_calls = 3)",
        ),
        ("failed", "search_unavailable: 慢", "zh", "无法进行检索（慢）"),
        (
            "partial",
            "unsure: tides",
            "en",
            "what was found is near it, and may not answer it (it does not say: tides)",
        ),
        ("failed", "some_new_code", "en", "it failed (some new code)"),
        ("failed", "", "en", "it failed"),
        ("failed", "The server was asleep", "en", "The server was asleep"),
        ("failed", "no_evidence", "zh", "没有找到能回答它的内容"),
        ("skipped", "some_new_code", "zh", "未进行（some new code）"),
    ],
)
def test_a_gap_is_told_in_words(status, reason, language, told):
    gap = {"title": "T", "status": status, "reason": reason}
    colon = {"en": ": ", "zh": "："}[language]

    assert f"- **T**{colon}{told}\n" in render_markdown(document(gaps=[gap], language=language))


@pytest.mark.parametrize(
    ("language", "smells", "rest"),
    [
        ("en", "**Smell**, **Taste**: nothing was found", "**Sound**: the model took too long"),
        ("zh", "**Smell**、**Taste**：没有找到", "**Sound**：模型响应超时"),
    ],
)
def test_a_reason_that_several_steps_have_is_told_once(language: str, smells: str, rest: str):
    whys = {"Smell": "no_evidence", "Sound": "model_timeout", "Taste": "no_evidence"}
    gaps = [
        {"title": title, "status": "failed", "reason": why}
        for title, why in [*whys.items(), ("Smell", "no_evidence")]
    ]
    shown = document(gaps=gaps, language=language)

    lines = [line for line in render_markdown(shown).splitlines() if line.startswith("- ")]
    assert len(lines) == render_html(shown).count("<li><strong>") == 2
    assert lines[0].startswith(f"- {smells}")
    assert lines[1].startswith(f"- {rest}")


def test_what_is_said_of_one_step_alone_stands_behind_its_name():
    whys = {"Smell?": "unsure: wax", "Sound": "unsure", "Taste？": "unsure: salt"}
    gaps = [{"title": title, "status": "partial", "reason": why} for title, why in whys.items()]
    shown = document(gaps=gaps)

    near = "what was found is near it, and may not answer it"
    wax, salt = "(it does not say: wax)", "(it does not say: salt)"
    assert f"- **Smell** {wax}, **Sound**, **Taste** {salt}: {near}\n" in render_markdown(shown)
    assert f"Smell {wax}, Sound , Taste {salt}: {near}" in words(render_html(shown))


def test_a_chinese_report_has_chinese_headings():
    shown = render_markdown(
        document(
            "蜜蜂跳舞[S1]。",
            language="zh",
            status="partial",
            gaps=[{"title": "气味", "status": "failed", "reason": "no_evidence"}],
            removed=[{"text": "x", "reason": "quote_not_found"}],
        )
    )

    for words_ in ("不完整", "## 尚不清楚", "## 来源", "核对时删去 1 句：引文在来源中找不到。"):
        assert words_ in shown


# --- the page


def test_the_page_has_links_from_numbers_to_sources_and_back():
    page = render_html(document('A [S1]. B <q s="S2">b</q>. C [S1].'))

    targets = set(re.findall(r'\bid="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links == {"c1", "c2", "c3", "s1", "s2", "k1", "k2", "report"}
    assert links == targets
    assert 'title="Title 1 — https://example.org/1">[1]</a>' in page


def cited(page):
    """Return the passages that a page lists under its sources, what is cited in brackets."""
    listed = page.partition('<div class="card"')[0]
    shown = re.findall(r"<blockquote[^>]*>(.*?)</blockquote>", listed, re.DOTALL)
    return [unescape(re.sub("<mark.*?>", "[", one).replace("</mark>", "]")) for one in shown]


def led_to(page):
    """Return the words that each number of the text leads to, in order."""
    targets = re.findall(r'<a class="ref" id="c\d+" href="#([^"]+)"', page)
    return [re.search("<mark>(.*?)</mark>", card(page, one), re.DOTALL)[1] for one in targets]


def card(page, name):
    """Return what a page shows beside a citation."""
    return re.search(f'<div class="card" id="{name}".*?</div>', page, re.DOTALL)[0]


def test_a_citation_leads_to_the_quoted_words_in_their_context():
    texts = {"S1": "The hive is dark.\nBees  dance in\nthe dark. The dance has a meaning."}

    page = render_html(document('They <q s="S1">dance in the dark</q> there.', texts=texts))

    assert cited(page) == ["The hive is dark. Bees [dance in the dark]. The dance has a meaning."]
    assert led_to(page) == ["dance in the dark"]
    assert re.search(r'<ul class="uses"><li><a class="back" href="#c1"', page)
    assert re.search(r'<div class="card" id="e1".*href="#c1".*href="#s1"', page)
    assert "body:has(#c1:is(:hover, :focus-visible)) #e1 {" in page


def test_beside_a_citation_stands_where_its_words_are_from_and_the_way_to_them():
    dance = "They dance in the dark, on wax - all day & night"
    text = f"# Bees\n\nWax is soft.\n\n## Dances\n\n{dance}. {'So it goes on. ' * 16}"
    file = source(2, location="/home/ada/notes/bees.md#L3-L9") | {"kind": "file", "author": "Ada"}
    sources = [source(1) | {"site": "Bee Journal", "published": "2019"}, file]
    said = "They dance in the dark, on wax - all day &amp; night"
    body = f'<q s="S1">{said}</q>. <q s="S2">{said}</q>.'

    page = render_html(document(body, sources=sources, texts={"S1": text, "S2": text}))

    assert words(card(page, "e1")).startswith(
        "↩ [1] Title 1 Bee Journal, 2019 · “Dances” Dances They dance in the dark"
    )
    words_in_address = (
        "They%20dance%20in%20the%20dark%2C%20on%20wax%20%2D%20all%20day%20%26%20night"
    )
    assert f'href="https://example.org/1#:~:text={words_in_address}" rel=' in card(page, "e1")
    assert "Ada, notes · lines 3–9, “Dances”" in words(card(page, "e2"))
    assert '<span class="place">/home/ada/notes/bees.md</span>' in card(page, "e2")
    assert "https" not in card(page, "e2")


def test_each_citation_of_a_paragraph_shows_its_own_words_in_it():
    texts = {"S1": "Bees dance in the dark. Queens lay eggs."}

    page = render_html(document('<q s="S1">Bees dance</q>. <q s="S1">Queens lay</q>.', texts=texts))

    assert cited(page) == ["[Bees dance] in the dark. [Queens lay] eggs."]
    assert led_to(page) == ["Bees dance", "Queens lay"]
    assert "Bees dance in the dark." in words(card(page, "e2"))


def test_headings_and_items_of_a_cited_passage_stand_on_lines_of_their_own():
    texts = {"S1": "## Bees\n\nBees dance\nin the dark.\n\nThey carry:\n- wax\n- honey"}

    page = render_html(document('They <q s="S1">dance in the dark</q>.', texts=texts))

    shown = "Bees<br>\nBees [dance in the dark].<br>\nThey carry:<br>\n- wax<br>\n- honey"
    assert cited(page) == [shown]


def test_the_name_of_a_section_is_read_once_and_a_page_number_once_in_a_paragraph():
    parts = [source(1), source(2)]
    parts[0] |= {"kind": "file", "title": "Bees — 7.8. Dances", "location": "/b.html#dances"}
    parts[1] |= {"kind": "file", "title": "Wax", "location": "/wax.pdf#page=3"}

    shown = rendered("A [S1]. B [S1]. C [S2]. D [S2].\n\nE [S1]. F [S2].", sources=parts)

    assert shown == "A [1, § 7.8]. B [1]. C [2, p. 3]. D [2].\n\nE [1]. F [2, p. 3]."


def a_section(number: int, title: str):
    """Return a source of one document: its beginning, or a section of it."""
    named = "Bees" + (f" — {title}" if title else "")
    place = title.lower() or "top"
    return source(number) | {"kind": "file", "title": named, "location": f"/b.html#{place}"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("A [S1]. B [S2]. C [S1].", "A [1, “Wax”]. B [1, “Food”]. C [1, “Wax”]."),
        ("A [S1].\n\nB [S2].\n\nC [S1].", "A [1, “Wax”].\n\nB [1, “Food”].\n\nC [1, “Wax”]."),
        ("A [S1][S2]. B [S2].", "A [1, “Wax”, “Food”]. B [1, “Food”]."),
        ("A [S1][S2]. B [S2][S1].", "A [1, “Wax”, “Food”]. B [1, “Food”, “Wax”]."),
        ("A [S1].\n\n## More\n\nB [S1].", "A [1, “Wax”].\n\n## More\n\nB [1, “Wax”]."),
        ("A [S3]. B [S1]. C [S3].", "A [1]. B [1, “Wax”]. C [1, beginning]."),
        ("A [S1][S3]. B [S3].", "A [1, “Wax”, beginning]. B [1, beginning]."),
    ],
)
def test_a_number_alone_is_the_place_that_was_told_last(body: str, told: str):
    parts = [a_section(1, "Wax"), a_section(2, "Food"), a_section(3, "")]

    assert rendered(body, sources=parts) == told


def a_log(kind: str) -> tuple[list[str], str]:
    """Return the lines of a long file, and where it stands."""
    lines = [f"{n}: the valve of tank {n} was opened at {n % 24}:05." for n in range(12, 311)]
    return lines, {"lines": "/log.txt#L12-L310", "rows": "/t.csv#rows=12-310"}[kind]


@pytest.mark.parametrize("kind", ["lines", "rows"])
def test_of_a_long_place_only_what_is_cited_is_told(kind: str):
    lines, location = a_log(kind)
    log = source(1) | {"kind": "file", "location": location}
    said = (
        f'They <q s="S1">{lines[88][5:]} {lines[89][:20]}</q>. The valve of tank 250 opened [S1].'
    )
    shown = document(said, sources=[log], texts={"S1": "\n".join(lines)})

    assert f", {kind} 100–101]. The valve of tank 250 opened" in render_markdown(shown)
    assert f"{kind} 100\u2060–\u2060101]" in render_html(shown)
    one = kind.removesuffix("s")
    assert f"[1, {one} 250]" in render_markdown(shown)
    assert f'<p class="from">{one} 250</p>' in render_html(shown)


def test_of_a_long_place_whose_lines_were_joined_what_is_certain_is_told():
    texts = ["one " * 90, "Tank 7 leaks.", "", "two " * 90]
    log = source(1) | {"kind": "file", "location": "/log.txt#L1-L200"}
    shown = document("Tank 7 leaks [S1].", sources=[log], texts={"S1": "\n".join(texts)})

    assert "[1, lines 2–198]" in render_markdown(shown)


def test_a_place_whose_words_are_not_found_stays_as_it_is():
    lines, location = a_log("lines")
    log = source(1) | {"kind": "file", "location": location}
    shown = document("Nobody knows why [S1].", sources=[log], texts={"S1": "\n".join(lines)})

    assert "[1, lines 12–310]" in render_markdown(shown)


def test_the_list_of_doubts_holds_no_marks_of_code():
    doubted = [{"text": "The option `--fast` takes 9 s.", "reason": "number"}]

    assert (
        "`" not in rendered("The option `--fast` takes 9 s [S1].", doubted=doubted).split("##")[1]
    )


def test_a_statement_leads_to_the_sentences_that_are_nearest_to_it():
    texts = {"S1": "Hives are boxes. A queen lives for five years. She lays eggs. Wax is soft."}

    page = render_html(document("A queen lays eggs and lives five years [S1].", texts=texts))

    assert cited(page) == [
        "Hives are boxes. [A queen lives for five years. She lays eggs.] Wax is soft."
    ]


def test_the_same_words_of_a_source_are_shown_once_for_all_who_cite_them():
    texts = {"S1": "Bees dance.", "S2": "Wasps do not."}

    page = render_html(document('<q s="S1">Bees dance</q>. <q s="S1">Bees dance</q>.', texts=texts))

    assert cited(page) == ["[Bees dance]."]
    (uses,) = re.findall(r'<ul class="uses">(.*?)</ul>', page, re.DOTALL)
    assert re.findall('href="#(c.)"', uses) == ["c1", "c2"]


def test_of_a_long_page_only_the_neighbourhood_is_shown():
    texts = {"S1": "Wax is soft. " * 900 + "Bees dance. " + "Honey is sweet. " * 900}

    (shown,) = cited(render_html(document('<q s="S1">Bees dance</q>.', texts=texts)))

    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert "[Bees dance]" in shown
    assert 1_000 < len(shown) < 1_500


def test_a_whole_paragraph_is_shown_and_not_the_next():
    paragraph = "Wax is soft. " * 30 + "Bees dance. " + "Honey is sweet. " * 20
    texts = {"S1": f"Drones rest. {'Pollen. ' * 40}\n\n{paragraph}\n\nMites bite."}

    (shown,) = cited(render_html(document('<q s="S1">Bees dance</q>.', texts=texts)))

    assert shown == paragraph.replace("Bees dance", "[Bees dance]").strip()


def test_a_citation_of_a_page_that_is_gone_leads_to_the_source():
    page = render_html(document("Bees dance [S1]."))

    assert re.search(r'<a class="ref" id="c1" href="#s1"', page)
    assert "<blockquote>" not in page


def test_two_statements_with_one_number_lead_each_to_its_own_words():
    texts = {"S1": "Bees dance. Filler one. Filler two. Queens lay eggs."}
    table = "| a | b |\n|---|---|\n| Queens lay eggs [S1] | Bees dance [S1] |"

    page = render_html(document(table, texts=texts))

    assert led_to(page) == ["Queens lay eggs.", "Bees dance."]
    assert cited(page) == ["[Bees dance.] Filler one. Filler two. [Queens lay eggs.]"]


def test_a_statement_in_another_language_leads_to_its_names_and_numbers_with_no_word_marked():
    texts = {"S1": "Queens lay eggs. " * 90 + "Bees dance in 1927. " + "Wax is soft. " * 90}

    page = render_html(document("蜜蜂在1927年跳舞 [S1]。", texts=texts))

    assert re.search(r'<a class="ref" id="c1" href="#e1"', page)
    (shown,) = cited(page)
    assert "Bees dance in 1927." in shown
    assert "[" not in shown
    assert "the nearest part of the page" in page or "页面中最接近的部分" in page


def test_a_statement_leads_to_no_sentence_that_shares_but_a_word():
    texts = {"S1": "Bees are insects. Wax is soft."}

    page = render_html(
        document("The waggle dance of bees tells direction and distance [S1].", texts=texts)
    )

    assert cited(page) == ["Bees are insects. Wax is soft."]


MANUAL = """
       Colour=
\t   The colour of the box. It is painted before the first flight. Defaults to none.

       Warm=
\t   Takes a boolean argument. If true, the box is heated in winter. Defaults to none.

       FrostGuard=
\t   How many degrees the box is kept at. It might make sense to change this value from the
\t   default of 7 (which is mild). This setting takes values in the units "C" and "F".

       Delay=
\t   Delay the flight by an evenly distributed time. Defaults to 7 minutes.
"""


@pytest.mark.parametrize(
    ("body", "marked"),
    [
        ('No heat is given, as `Warm=` <q s="S1">Defaults to none</q> [S1].', "winter. [Defaults"),
        (
            'Boxes are bare at first. `Colour=` says which: <q s="S1">Defaults to none</q>.',
            "flight. [Defaults",
        ),
        ("| a | b |\n|---|---|\n| `FrostGuard=` | on by default, at 7 [S1] |", "[It might make"),
        ("| a | b |\n|---|---|\n| `Delay=` | 7 by default [S1] |", "[Defaults to 7 minutes.]"),
    ],
)
def test_what_stands_several_times_on_a_page_is_marked_under_the_name_of_its_sentence(
    body: str, marked: str
):
    page = render_html(document(body, texts={"S1": MANUAL}))

    (shown,) = cited(page)
    assert marked in shown
    assert shown.count("[") == 1


def test_numbers_that_a_page_does_not_have_mark_nothing():
    texts = {"S1": "The queen of a hive lives for five years. Drones live for weeks."}

    page = render_html(document("The queen of a hive lives for 12 years [S1].", texts=texts))

    assert cited(page) == ["The queen of a hive lives for five years. Drones live for weeks."]


def test_a_place_is_told_again_where_another_one_of_the_document_stood_between():
    section = {
        **source(1, location="/docs/bees.md#dance"),
        "kind": "file",
        "title": "Bees — The dance",
    }
    paper = {**source(2, location="/docs/bees.pdf#page=4"), "kind": "file"}

    other = paper | {"id": "S3", "page": "p3", "location": "/docs/bees.pdf#page=9"}
    shown = rendered("A [S1]. B [S2]. C [S3]. D [S2]. E [S2].", sources=[section, paper, other])

    assert shown == "A [1, “The dance”]. B [2, p. 4]. C [2, p. 9]. D [2, p. 4]. E [2]."


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("- A [S2].\n- B [S2].\n\nC [S2].", "- A [1, p. 4].\n- B [1].\n\nC [1, p. 4]."),
        ("| a [S2] | b [S2] |\n| c [S2] | d |", "| a [1, p. 4] | b [1] |\n| c [1] | d |"),
    ],
)
def test_a_place_is_told_once_in_a_list_or_a_table(body: str, shown: str):
    paper = {**source(2, location="/docs/bees.pdf#page=4"), "kind": "file"}

    assert rendered(body, sources=[paper]) == shown


def test_the_page_says_what_the_markdown_says():
    one = document("## A\n\n- x [S1]\n\n| a | b |\n|---|--:|\n| c | [S2] |", status="partial")

    assert words(render_html(one)).startswith(
        "Skip to the text partial 2026-01-12 2 sources Bees Why do bees dance? Partial: not "
        "everything could be done. A x [1] a b c [2, p. 4] Table as CSV Sources [1] Title 1 "
        "https://example.org/1 Cited for x ✓ Supported [2] Title 2 /home/ada/bees.pdf Cited for c "
        "✓ Supported What the checks found ✓ Supported 2 citations"
    )


def test_a_source_without_a_title_is_named_once_by_its_place():
    untitled = {**source(1, location="https://example.org/untitled"), "title": ""}

    page = render_html(document(sources=[untitled]))

    assert page.count(">https://example.org/untitled<") == 1


def test_a_web_source_is_a_link_and_a_file_is_not():
    page = render_html(document("A [S1]. B [S2]."))

    assert 'href="https://example.org/1" rel="noopener noreferrer nofollow">Title 1</a>' in page
    assert re.findall(r'href="(?!#)([^"]+)"', page) == ["https://example.org/1"]


@pytest.mark.parametrize(("language", "tag"), [("en", "en"), ("zh", "zh-CN"), ("zh-TW", "zh-CN")])
def test_the_page_names_its_language(language, tag):
    assert f'<html lang="{tag}">' in render_html(document(language=language))


def test_the_page_shows_the_status():
    page = render_html(document("", status="insufficient_evidence"))

    assert '<span class="badge insufficient_evidence">not enough evidence</span>' in page


def test_dollars_and_braces_are_only_words():
    assert "$title ${x} %s {y}" in render_html(document(title="$title ${x} %s {y}"))


def test_a_checked_report_is_rendered_without_a_trace_of_the_marks():
    texts = {"S1": "Bees dance in the dark.", "S2": "蜜蜂在黑暗中跳舞。"}
    said = 'A <q s="S1">Bees dance</q> [S1]. B [S2][S9]. 「蜜蜂在黑暗中跳舞」【S2】。 C [S9].'

    one = document(verify_citations(said, texts).body)

    for shown in (render_markdown(one), render_html(one).partition("<body>")[2]):
        assert not re.search(r"\[?S\d|<q\b|&lt;q|[\ue000-\ue004]", shown)


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "Not reviewed a second time: 2 of the results."), ("zh", "未经复核的结果：2 个。")],
)
def test_results_that_nobody_judged_are_told_in_one_last_line(language, told):
    shown = document(unreviewed=2, language=language)

    assert render_markdown(shown).rstrip().endswith(told)
    assert told in words(render_html(shown))
    assert told not in render_markdown(document(language=language))


DOUBTFUL = {"text": "Decay reached *97.3 %* in 2031.", "reason": "number"}


def test_a_doubted_sentence_is_marked_where_it_stands_and_told_above_the_sources():
    body = "Bees dance [S1]. Decay reached *97.3 %* in 2031 [S2]. So be it [S1]."

    shown = render_markdown(document(body, doubted=[DOUBTFUL]))

    assert "Decay reached *97.3 %* in 2031 [2, p. 4] (⚠ not found). So be it" in shown
    assert "> Sentences marked ⚠ could not be confirmed" in shown
    told = "## To be checked\n\n- ⚠ Not found: A number in it stands in none of the sources"
    assert told in shown
    assert shown.index(told) < shown.index("## Sources")


@pytest.mark.parametrize(
    ("reason", "language", "told"),
    [
        ("strength", "en", "Weak: It says more"),
        ("strange", "en", "Not found: The sources"),
        ("negation", "en", "Contradicted: Its sources"),
        ("strength", "zh", "依据不足：所说超出"),
        ("strange", "zh", "未找到依据：所引来源"),
        ("negation", "zh", "与来源矛盾：所引来源"),
    ],
)
def test_a_doubt_begins_with_its_grade_in_words(reason, language, told):
    doubted = {"text": DOUBTFUL["text"], "reason": reason}
    written = document(f"{doubted['text']} So it is [S1].", doubted=[doubted], language=language)

    assert f"- ⚠ {told}" in render_markdown(written)
    assert f'<li id="d1">{told}' in render_html(written)


@pytest.mark.parametrize(
    ("language", "reason", "marked", "drawn"),
    [
        ("en", "strength", "It fell [1] (⚠ weak). It", "⚠ weak</a>. It"),
        ("en", "other_number", "It fell [1] (⚠ contradicted). It", "⚠ contradicted</a>. It"),
        ("zh", "number", "It fell [1]（⚠ 未找到依据）. It", "⚠ 未找到依据</a>. It"),
        ("zh", "negation", "It fell [1]（⚠ 与来源矛盾）. It", "⚠ 与来源矛盾</a>. It"),
    ],
)
def test_a_doubted_sentence_has_its_grade_where_it_stands(language, reason, marked, drawn):
    doubted = [{"text": "It fell.", "reason": reason}]
    written = document("It fell [S1]. It rose [S1].", doubted=doubted, language=language)

    assert marked in render_markdown(written)
    assert drawn in render_html(written)


def test_a_page_with_a_doubt_is_not_green_and_leads_from_the_mark_to_the_reason_and_back():
    body = "Bees dance [S1]. Decay reached *97.3 %* in 2031 [S2]."

    page = render_html(document(body, doubted=[DOUBTFUL]))

    assert 'class="badge succeeded"' not in page
    assert "⚠ 1 to check" in page
    assert re.search(r'<a class="doubt" id="w1" href="#d1" title="Not found: A number in it', page)
    assert re.search(r'<li id="d1">Not found: A number in it .*href="#w1"', page)
    assert 'class="badge succeeded"' in render_html(document(body))


@pytest.mark.parametrize(
    ("body", "said", "marked"),
    [
        ("| a | b |\n|---|---|\n| x | 9 [S1] |", "x · 9", "| x | 9 [1] (⚠ not found) |"),
        (
            "蜜蜂在2031年跳舞 [S1]。它们停了。",
            "蜜蜂在2031年跳舞。",
            "蜜蜂在2031年跳舞 [1] (⚠ not found)。它们停了。",
        ),
        (
            'It says <q s="S1">dance 9</q>.',
            "It says “dance 9”.",
            "It says “dance 9” [1] (⚠ not found).",
        ),
    ],
)
def test_rows_quotations_and_chinese_sentences_are_marked_too(body, said, marked):
    assert marked in rendered(body, doubted=[{"text": said, "reason": "number"}])


def test_of_very_many_doubts_only_the_first_are_told():
    many = [DOUBTFUL | {"text": f"It was {number}."} for number in range(50, 70)]

    shown = render_markdown(document("It was 69 [S1].", doubted=many))

    assert "something is doubtful: 8." in shown
    assert "“It was 69.”" not in shown
    assert 'href="#d13"' in render_html(document("It was 69 [S1].", doubted=many))


def test_a_text_without_its_marks_has_its_quotations_and_no_ids():
    body = 'It was so [S1]. <q s="S2">Bees &amp; wasps dance.</q> Or not [S1][S2].'

    assert render_plain_text(body) == "It was so. “Bees & wasps dance.” Or not."


def a_file(number, title, place, path="/home/ada/bees.pdf"):
    return source(number, location=f"{path}#{place}") | {"title": title, "kind": "file"}


def test_a_document_is_one_source_and_each_citation_says_where_in_it():
    pages = [a_file(n, "Bees — Wax" if n > 1 else "Bees", f"page={n}") for n in (1, 2, 7)]

    shown = render_markdown(document("A [S1]. B [S2][S7]. C [S1].", sources=pages))

    assert "A [1, p. 1]. B [1, p. 2, p. 7]. C [1, p. 1]." in shown
    assert shown.endswith("## Sources\n\n[1] Bees — /home/ada/bees.pdf\n")


@pytest.mark.parametrize(
    ("place", "title", "english", "chinese"),
    [
        ("page=4-6", "Bees", "pp. 4–6", "第 4–6 页"),
        ("page=4&part=2", "Bees", "p. 4", "第 4 页"),
        ("slide=3", "Bees", "slide 3", "第 3 张幻灯片"),
        ("rows=2-30", "Bees", "rows 2–30", "第 2–30 行"),
        ("sheet=Hive%20A&rows=2-3", "Bees", "sheet Hive A, rows 2–3", "工作表 Hive A, 第 2–3 行"),
        ("L10", "Bees", "line 10", "第 10 行"),
        ("L10-L20", "Bees", "lines 10–20", "第 10–20 行"),
        ("wax", "Bees — How wax is made", "“How wax is made”", "“How wax is made”"),
        ("top", "Bees", "", ""),
    ],
)
def test_a_place_is_said_in_words(place, title, english, chinese):
    for language, words in (("en", english), ("zh", chinese)):
        shown = render_markdown(
            document("A [S1].", sources=[a_file(1, title, place)], language=language)
        )
        assert f"A [1, {words}]" in shown if words else "A [1]" in shown


def test_parts_of_a_web_page_are_one_source():
    address = "https://example.org/long"
    parts = [source(1, "Long", address), source(2, "Long (2)", f"{address}#part=2")]

    shown = render_markdown(document("A [S2]. B [S1].", sources=parts))

    assert "A [1, part 2]. B [1, beginning]." in shown
    assert shown.endswith(f"[1] Long — {address}\n")


@pytest.mark.parametrize(("language", "words"), [("en", "“4.3 Options”"), ("zh", "“4.3 Options”")])
def test_a_part_of_a_web_page_is_called_by_the_heading_above_what_is_cited(language, words):
    address = "https://example.org/long"
    parts = [source(1, "Long", address), source(2, "Long (2)", f"{address}#part=2")]
    told = [
        "It goes on.",
        "## 4.3 Options https://evil.example",
        "The option of leaks is off.",
        "## 4.4 Rules",
        "No.",
    ]
    body = 'Leaks: <q s="S2">The option of leaks is off.</q> <q s="S2">It goes on.</q>'

    shown = render_markdown(
        document(body, sources=parts, texts={"S2": "\n\n".join(told)}, language=language)
    )

    assert f"[1, {words}]" in shown
    assert "[1, part 2]" in shown or "[1, 第 2 部分]" in shown


def test_files_that_are_gone_are_not_taken_for_one():
    gone = [
        source(n, f"Title {n}", "a file that is no longer there") | {"kind": "file"} for n in (1, 2)
    ]

    assert rendered("A [S1]. B [S2].", sources=gone) == "A [1]. B [2]."


def test_a_name_of_a_section_is_no_markup():
    pages = [a_file(1, "Bees — *a*](https://evil.example) <b>", "wax")]

    shown = render_markdown(document("A [S1].", sources=pages))

    assert r"[1, “\*a\*\](https://evil.example) \<b\>”]" in shown
    assert 'evil.example"' not in render_html(document("A [S1].", sources=pages))


def test_a_quotation_is_shown_without_the_marks_of_emphasis_of_its_page():
    said = '<q s="S1">The *priority levels* are **known**; 2 * 3 * 4 and a*b* stay.</q>'

    assert "“The priority levels are known; 2 * 3 * 4 and a*b* stay.”" in render_html(
        document(said)
    )
    assert "“The priority levels are known; 2 \\* 3" in render_markdown(document(said))


def test_an_answer_in_data_quotes_in_words_and_names_the_source():
    body = (
        '# Bees\n\nIt says <q s="S3">a &lt; b</q>, and <q s="S1">they dance</q> [S1].'
        "\n\n## More\n\nNot this [S2]."
    )

    assert extract_answer(body) == "It says “a < b” [S3], and “they dance” [S1]."


def test_a_cited_passage_ends_with_a_sentence_where_one_ends_near_by():
    said = "Wax was first pressed in Merrin in 1904."
    after = f"It took {'very ' * 125}long, until the year 2024. Nobody knows why."
    page = render_html(
        document(f"{said[:-1]} [S1].", texts={"S1": f"{said} {after} {'So it is. ' * 40}"})
    )

    assert "until the year 2024. …" in words(page)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "say otherwise: “It holds ‘at most’ 6.”, wrong in it: “6” — the source says: “"),
        ("zh", "说法不同：“It holds ‘at most’ 6.”，有误之处：“6”——来源的原文是：“"),
    ],
)
def test_a_doubt_says_what_its_source_says_instead(language: str, expected: str):
    says = "up to <four> *and* more"
    one = {"text": "It holds “at most” 6.", "reason": "contradicted", "part": "6"}
    told = document(
        body="It holds “at most” 6 [S1].",
        doubted=[one | {"says": says, "source": "S1"}],
        texts={"S1": f"Here. It holds {says} cups."},
        language=language,
    )

    (line,) = [one for one in render_markdown(told).splitlines() if expected in one]
    assert line.endswith("up to \\<four\\> and more” [1]")
    page = render_html(told)
    shown = re.sub("<[^>]+>", "", page[page.index('<li id="d1">') :].partition("</li>")[0])
    assert "up to &lt;four&gt; and more” [1]" in shown.replace("\u00a0", " ")
    assert '<a class="ref" id="c2"' in page


def of_turn(turn, said, question, findings=None):
    """Return the document of a turn in which a person said something."""
    report = {"title": "Bees", "body": "Bees dance [S1].", "cited": ["S1"], "removed": []}
    messages = [HumanMessage("How do bees dance?"), AIMessage("So."), HumanMessage(said)]
    report |= {"notices": [], "language": "en", "asked": get_last_question(messages)}
    state = {"turn": turn, "question": question, "sources": {}, "findings": findings or {}}
    return build_document(state, report, "succeeded", "2026-01-12")


@pytest.mark.parametrize("turn", [1, 2])
def test_a_question_is_shown_in_the_words_of_the_person(turn: int):
    shown = of_turn(turn, "And do\nthey sing, too?", "Do honey bees sing, too?")

    md, page = render_markdown(shown), words(render_html(shown))
    assert "\n\n*And do they sing, too?*\n\n" in md
    assert "And do they sing, too?" in page
    assert ("\n\nResearched as: Do honey bees sing, too?\n\n" in md) == (turn == 2)
    assert ("Researched as: Do honey bees sing, too?" in page) == (turn == 2)


def test_a_question_that_was_researched_as_it_was_asked_is_told_once():
    shown = of_turn(2, "do bees sing", "Do bees sing?")

    assert "Researched" not in render_markdown(shown)


def test_a_file_that_was_sent_without_words_has_the_question_that_was_put_for_it():
    assert "*What does “a.pdf” say?*" in render_markdown(of_turn(1, " ", "What does “a.pdf” say?"))


def test_what_a_person_only_tells_of_themselves_is_not_in_the_report():
    shown = of_turn(1, "Remember that I live in Lund. How do bees dance?", "How do bees dance?")

    assert "*How do bees dance?*" in render_markdown(shown)
    assert "Lund" not in render_markdown(shown) + render_html(shown)


def of_files(*places, title="Bees"):
    return [
        {"id": f"S{at}", "page": f"p{at}", "kind": "file", "title": title, "location": place}
        for at, place in enumerate(places, start=1)
    ]


def test_documents_of_one_title_are_told_apart_by_their_files():
    sources = of_files("/docs/a.html#p", "/docs/b.html#p")

    shown = render_markdown(document("Bees dance [S1]. They sing [S2].", sources=sources))

    assert "[1] Bees (a.html) — /docs/a.html" in shown
    assert "[2] Bees (b.html) — /docs/b.html" in shown


def test_of_several_sections_the_one_is_named_whose_heading_is_above_what_is_cited():
    text = "### 1. Dances\n\nBees dance in the dark.\n\n### 2. Songs\n\nQueens pipe in the hive."
    sources = of_files("/docs/a.html#s", title="Bees — 1. Dances … 2. Songs")

    body = "Queens pipe in the hive [S1]. Snow falls [S1]."
    shown = render_markdown(document(body, sources=sources, texts={"S1": text}))

    assert "hive [1, “2. Songs”]" in shown


@pytest.mark.parametrize(
    ("body", "told"),
    [("Bees dance [S1]. They sing [S1].", True), ("Bees dance [S1].", False)],
)
def test_it_is_said_what_a_number_alone_stands_for(body: str, told: bool):
    one = document(body, sources=of_files("/docs/a.pdf#page=4"))

    assert ("A number without a place means" in render_markdown(one)) == told
    assert ("A number without a place means" in render_html(one)) == told


def test_numbers_of_sources_without_places_need_no_word():
    assert "A number without" not in render_markdown(document("Bees dance [S1]. They sing [S1]."))


def test_a_sentence_below_its_source_has_no_marks_of_emphasis():
    page = render_html(document("The *waggle* and the **round** dance [S1]."))

    assert 'href="#c1">The waggle and the round dance.</a>' in page


def test_a_report_may_have_hundreds_of_doubts_remarks_and_tables():
    count = 300
    sentences = [f"Bee number {at} dances alone [S1]." for at in range(count)]
    table = "| Hive | Told |\n|---|---|\n| one | dances |"
    report = document(
        "\n\n".join(f"{one}\n\n{table}" for one in sentences),
        doubted=[{"text": one, "reason": "numbers", "proof": ""} for one in sentences],
        standing=[{"text": one, "reason": "forum"} for one in sentences],
    )

    page, text = render_html(report), render_markdown(report)

    assert page.count('class="doubt"') == page.count('class="standing"') == count
    assert page.count("download=") == count
    assert text.count("(⚠ ") == text.count("*(") == count
