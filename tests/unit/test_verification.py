import random

import pytest

from report.checks import quotation_search
from report.checks.attribution import enforce_citations
from report.checks.verification import verify_citations
from tests.cases import each_case

BEES = (
    "Honey bees dance in the dark of the hive. The waggle dance tells the direction of food, "
    "von Frisch wrote in 1967. A colony has about 30,000 bees\u2014sometimes more. "
    "inter-\nnational trade in honey rose by 12.5 % in 2019."
)
DANCE = (
    "蜜蜂在黑暗的蜂巢里跳舞。八字舞告诉同伴食物的方向，弗里施在1967年\n写道。出口额增长了3万吨。"
)
COLD = (
    "Bees cluster below 14 °C.[12] They shiver to keep warm. "
    "Read https://evil.test/a for <b>more</b> on AT&T."
)
TEXTS = {"S1": BEES, "S2": DANCE, "S3": COLD}


def body(text):
    return verify_citations(text, TEXTS).body


def reasons(text):
    return [one["reason"] for one in verify_citations(text, TEXTS).removed]


# --- markers


def test_a_text_that_is_right_stays_as_it_is():
    text = '## Dance\n\nBees dance <q s="S1">in the dark of the hive</q> [S1]. 蜜蜂会跳舞[S2]。'

    assert verify_citations(text, TEXTS) == (
        text,
        ["S1", "S2"],
        [{"source": "S1", "text": "in the dark of the hive"}],
        [],
    )


@each_case(
    [
        "[S1][S3]",
        "[S1, S3]",
        "[S1; S3]",
        "[S1，S3]",
        "[S1 and S3]",
        "【S1】【S3】",
        "【S1、S3】",
        "［S1］ [S3]",
        "[S1], [S3]",
        "([S1][S3])",
        "[^S1][^S3]",
        "[[S1]] [[S3]]",
        r"\[S1\] \[S3\]",
        "[Source S1] [source: S3]",
        "[S1, p. 4] [S3†L1-L9]",
        "[S1](https://evil.test) [S3](#a)",
        "`[S1]` [S03]",
    ]
)
def test_every_usual_way_to_write_markers_becomes_one(spelling):
    assert body(f"Bees dance {spelling}.") == "Bees dance [S1][S3]."


def test_a_marker_is_not_repeated_on_the_spot():
    assert body("Bees dance [S1][S1][S3] [S3].") == "Bees dance [S1][S3]."


def test_a_range_of_markers_names_every_source_in_it():
    assert body("Bees dance [S1-S3].") == "Bees dance [S1][S2][S3]."


def test_round_brackets_are_markers_where_nothing_else_is():
    assert (
        body("Bees dance (S1). They shiver (S1, S3).") == "Bees dance [S1]. They shiver [S1][S3]."
    )


def test_round_brackets_are_words_beside_real_markers():
    assert (
        body("The storage service (S3) is used [S1].") == "The storage service (S3) is used [S1]."
    )


def test_round_brackets_at_the_end_of_a_sentence_are_markers_beside_real_ones():
    assert body("Bees dance (S2). They shiver [S3].") == "Bees dance [S2]. They shiver [S3]."


def test_a_name_of_the_sources_in_round_brackets_is_no_marker_beside_real_ones():
    storage = {"S1": "Files lie in the storage service S3.", "S3": "Bees dance."}
    text = "Files lie in the storage service (S3). They are kept [S1]."

    assert "service (S3)" in verify_citations(text, storage).body


def test_a_sentence_that_cites_only_an_unknown_source_is_removed():
    checked = verify_citations("Bees dance [S1]. Bees sing [S9]. They shiver [S3].", TEXTS)

    assert checked.body == "Bees dance [S1]. They shiver [S3]."
    assert checked.removed == [{"text": "Bees sing [S9].", "reason": "unknown_source"}]


def test_an_unknown_marker_beside_a_known_one_is_removed_alone():
    assert body("Bees dance [S1][S9].") == "Bees dance [S1]."


@pytest.mark.parametrize(
    "made_up", ["[1]", "[12]", "[1, 2]", "[^3]", "【4】", "[s1]", "[1](http://a.b)"]
)
def test_a_number_that_a_model_made_up_is_no_citation(made_up):
    assert reasons(f"Bees sing {made_up}.") == ["unknown_source"]


def test_a_marker_after_the_full_stop_belongs_to_the_sentence_before():
    assert body("Bees dance. [S1] Bees sing. [S9] They shiver. [S3]") == (
        "Bees dance. [S1] They shiver. [S3]"
    )


def test_chinese_sentences_are_judged_one_by_one():
    assert body("蜜蜂跳舞[S2]。蜜蜂唱歌。[S9]蜜蜂发抖。[S3]") == "蜜蜂跳舞[S2]。蜜蜂发抖。[S3]"


def test_a_sentence_without_citation_is_left_alone():
    assert body("Nothing was found about singing.") == "Nothing was found about singing."


# --- quotations


@pytest.mark.parametrize(
    "quote",
    [
        '<q s="S1">Bees sing in the hive</q>',
        '"Bees sing in the hive" [S1]',
        "“Bees sing in the hive” [S1]",
        "«Bees sing in the hive» [S1]",
        "「蜜蜂在蜂巢里唱歌」[S2]",
        "『蜜蜂在蜂巢里唱歌』[S2]",
        '"蜜蜂在蜂巢里唱歌"[S2]',
        "<q>Bees sing in the hive</q>",
    ],
)
def test_a_quotation_that_no_source_has_cannot_reach_the_report(quote):
    assert reasons(f"It says {quote}. Bees dance [S1].") == ["quote_not_found"]
    assert body(f"It says {quote}. Bees dance [S1].") == "Bees dance [S1]."


def test_a_quotation_differs_from_its_source_only_in_typography():
    said = '<q s="S1">international trade in honey rose by 12.5\u00a0% in 2019</q>.'

    assert body(said) == '<q s="S1">international trade in honey rose by 12.5 % in 2019</q>.'


def test_a_marked_quotation_gets_the_words_of_its_source():
    said = '<q s="S1">About 30,000 bees</q> and <q s="S1">30,000 bees-sometimes more</q>'

    assert body(said) == (
        '<q s="S1">about 30,000 bees</q> and <q s="S1">30,000 bees\u2014sometimes more</q>'
    )


def test_a_quotation_runs_over_the_lines_of_its_source():
    assert body('他<q s="S2">在1967年写道</q>。') == '他<q s="S2">在1967年写道</q>。'


def test_a_quotation_may_have_several_sentences():
    said = (
        'It says <q s="S3">Bees cluster below 14 °C.[12] They shiver to keep warm.</q> Good [S1].'
    )

    assert body(said) == said


def test_a_quotation_of_another_source_is_given_to_that_source():
    assert body('<q s="S1">They shiver to keep warm</q> [S1].') == (
        '<q s="S3">They shiver to keep warm</q> [S3].'
    )
    assert body('Bees "shiver to keep warm" [S1].') == 'Bees "shiver to keep warm" [S3].'
    assert body('Bees "shiver to keep warm" [S9].') == 'Bees "shiver to keep warm" [S3].'
    assert body("<q>They shiver to keep warm</q>.") == '<q s="S3">They shiver to keep warm</q>.'


def test_a_marker_that_another_quotation_needs_is_not_given_away():
    said = 'They "shiver to keep warm" and "dance in the dark of the hive" [S1].'

    assert body(said) == 'They "shiver to keep warm"[S3] and "dance in the dark of the hive" [S1].'


@pytest.mark.parametrize(
    "part", ["ees dance in the dark", "Honey bees danc", "0,000 bees", "about 30", "2.5 % in 2019"]
)
def test_a_part_of_a_word_or_number_is_no_quotation(part):
    assert reasons(f'It says <q s="S1">{part}</q>.') == ["quote_not_found"]


def test_a_part_of_a_word_does_not_hide_the_whole_word_after_it():
    page = {"S1": "Honeybees\ndance; then bees\ndance."}

    assert verify_citations('<q s="S1">bees dance</q>', page).removed == []


def test_a_chinese_number_keeps_its_scale():
    assert reasons('<q s="S2">出口额增长了3</q>。') == ["quote_not_found"]
    assert reasons('<q s="S2">出口额增长了3万</q>。') == []


def test_short_words_in_quotation_marks_are_no_quotation():
    assert reasons('The "round dance" is short [S1]. 所谓“圆舞”很短[S2]。') == []


def test_words_in_quotation_marks_are_not_checked_where_nothing_is_cited():
    assert body('You asked "why do bees sing in the hive?" and more.') == (
        'You asked "why do bees sing in the hive?" and more.'
    )


def test_a_full_stop_of_the_writer_stays_behind_the_quotation():
    assert body('It says <q s="S1">The waggle dance.</q> Bees shiver [S3].') == (
        'It says <q s="S1">The waggle dance</q>. Bees shiver [S3].'
    )


@pytest.mark.parametrize("words", ["It reads `[S1]` as a mark.", "The marks [S1][S1] are one."])
def test_what_looks_like_a_marker_inside_a_quotation_stays_and_cites_nothing(words):
    found = verify_citations(f'<q s="S2">{words}</q>', {"S1": "Other.", "S2": words})

    assert found.body == f'<q s="S2">{words}</q>'
    assert found.cited == ["S2"]


def test_an_address_inside_a_quotation_is_not_repeated():
    said = body(
        'It says <q s="S3">Read https://evil.test/a for &lt;b&gt;more&lt;/b&gt; on AT&amp;T</q>.'
    )

    assert said == 'It says <q s="S3">for &lt;b&gt;more&lt;/b&gt; on AT&amp;T</q>.'


def test_quotes_tell_what_was_proven_and_where():
    said = 'A "waggle dance tells the direction" [S1] and <q s="S3">They shiver</q>.'

    assert verify_citations(said, TEXTS).quotes == [
        {"source": "S1", "text": "waggle dance tells the direction"},
        {"source": "S3", "text": "They shiver"},
    ]


# --- what a model may not write


@each_case(
    [
        ("Bees dance (www.a.test/x) [S1].", "Bees dance [S1]."),
        ("Bees [dance](https://a.test/x_(y) 'title') [S1].", "Bees dance [S1]."),
        ("Bees dance [S1]. ![bee](data:image/png;base64,AA==)", "Bees dance [S1]."),
        ("Bees <b onclick='x()'>dance</b><br>well [S1].", "Bees dance well [S1]."),
        ("<img src=x onerror=y>Bees dance [S1].<!-- x -->", "Bees dance [S1]."),
        ("<think>Let me [S9] think</think>Bees dance [S1].", "Bees dance [S1]."),
        ("no opening tag</think>Bees dance [S1].", "Bees dance [S1]."),
        ("Bees dance [S1].\n\n[x]: https://a.test\n", "Bees dance [S1]."),
        ("见https://a.test/x的报告[S2]。", "见的报告[S2]。"),
        ("# My title\n\nBees dance [S1].", "Bees dance [S1]."),
        ("Bees dance [S1].\n\n## References\n\n[S1] A title, 1999", "Bees dance [S1]."),
        ("蜜蜂跳舞[S2]。\n\n**参考文献**\n\n1. 某书", "蜜蜂跳舞[S2]。"),
    ]
)
def test_what_a_model_may_not_write_is_stripped(written, left):
    assert (verify_citations(written, TEXTS).body, verify_citations(written, TEXTS).removed) == (
        left,
        [],
    )


# --- markdown


def test_a_removed_bullet_takes_its_line_and_an_empty_section_its_heading():
    text = (
        "## A\n\n- Bees sing [S9].\n- Bees dance [S1].\n\n### B\n\nBees sing [S9].\n\n## C\n\nEnd."
    )

    assert body(text) == "## A\n\n- Bees dance [S1].\n\n## C\n\nEnd."


def test_what_stands_below_a_removed_bullet_moves_to_the_left():
    text = "- Bees sing [S9].\n    - Bees dance [S1].\n        - In the dark [S1].\n- Last [S3]."

    assert body(text) == "- Bees dance [S1].\n    - In the dark [S1].\n- Last [S3]."


def test_a_table_loses_rows_and_then_itself():
    head = "| What | Source |\n|---|---|"

    assert body(f"{head}\n| dance | [S1] |\n| song | [S9] |") == f"{head}\n| dance | [S1] |"
    assert body(f"Bees dance [S1].\n\n{head}\n| song | [S9] |") == "Bees dance [S1]."


def test_a_quoted_line_stays_quoted():
    assert body("> Bees sing [S9]. Bees dance [S1]\n> in the dark.") == (
        "> Bees dance [S1]\n> in the dark."
    )


def test_code_is_not_read_as_text_but_has_no_addresses():
    text = '```python\nx = a[1]  # "a long comment here" https://a.co/\n```\n\nBees dance [S1].'

    assert body(text) == text.replace(" https://a.co/", "")


@pytest.mark.parametrize(
    "address",
    ["https://www.example.com/", "http://HOST:80/a", "http://192.0.2.7/x", "http://localhost:8080"],
)
def test_an_address_in_code_that_leads_nowhere_stays(address: str):
    text = f'Bees dance: `Redirect "/" "{address}"` [S1].\n\n```\nget {address} now\n```'

    assert body(text) == text


def test_a_fence_around_prose_is_no_code():
    assert body("```markdown\nBees sing [S9]. Bees dance [S1].\n```") == "Bees dance [S1]."


def test_an_open_fence_hides_nothing():
    assert body("Bees dance [S1].\n\n```\nBees sing [S9].") == "Bees dance [S1]."


def test_bold_type_stays_whole():
    assert body("**Bees sing. They hum.** [S9] Bees dance [S1].") == "Bees dance [S1]."


@pytest.mark.parametrize(
    ("broken", "left"),
    [
        ('Bees <q s="S3">shiver to keep warm. [S3] Or so.', "shiver to keep warm.</q> [S3]"),
        ('Bees <q s="S3">shiver to keep warm', '<q s="S3">shiver to keep warm</q>'),
        (
            '<q s="S3">They <q s="S3">shiver to keep</q> warm</q> [S3].',
            '<q s="S3">shiver to keep</q>',
        ),
        ("Bees <q>shiver to keep warm</q>.", '<q s="S3">shiver to keep warm</q>'),
        ("Bees <Q S='S3'>shiver to keep warm</Q>.", '<q s="S3">shiver to keep warm</q>'),
        ('Bees "<q s="S3">shiver to keep warm</q>".', 'Bees <q s="S3">shiver to keep warm</q>.'),
        ('Bees <q s="S3"></q> shiver.', "Bees [S3] shiver."),
        ("Bees shiver</q> [S3].", "Bees shiver [S3]."),
        ("<q", "<q"),
    ],
)
def test_broken_quotations_are_mended(broken, left):
    assert left in body(broken)


def test_nothing_is_left_of_a_text_without_sources():
    assert verify_citations("Bees dance [S1].", {}).body == ""
    assert verify_citations("", TEXTS) == ("", [], [], [])


PIECES = [
    *(
        '<q s="S1">',
        '<q s="S2">',
        "<q>",
        "</q>",
        "<Q source=S3>",
        "<q",
        "[S1]",
        "[S9]",
        "[1]",
        "(S3)",
    ),
    *(
        "[S1, S3]",
        "【S2】",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "  - ",
        "> ",
        "| ",
        " |",
        "|---|\n",
        "## ",
        "# ",
    ),
    *(
        "```",
        "~~~",
        "**",
        "*",
        "`",
        '"',
        "“",
        "”",
        "「",
        "」",
        "«",
        "»",
        ". ",
        "。",
        "！",
        "\\",
        "\0",
    ),
    *(
        "in the dark of the hive",
        "They shiver to keep warm",
        "蜜蜂在黑暗的蜂巢里跳舞",
        "never said so",
    ),
    *(
        "http://evil.test/x",
        "[a](http://x.y)",
        "![i](data:image/png,x)",
        "<script>",
        "<think>",
        "&lt;",
    ),
    *(
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "&",
        "[S1]: x\n",
        "References",
        "12 %",
        " bees ",
        "é",
        "\u00ad",
    ),
    *(
        "about 30,000 bees\u2014sometimes more",
        "https://evil.test/a",
        "<b>",
        "\t",
        "[S1](",
        "\r\n",
        "---",
    ),
]


@each_case(range(40))
def test_checking_twice_changes_nothing_whatever_a_model_writes(seed):
    chance = random.Random(seed)
    for _ in range(25):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 50)))
        once = verify_citations(text, TEXTS)
        assert verify_citations(once.body, TEXTS) == (once.body, once.cited, once.quotes, []), text
        assert set(once.cited) <= set(TEXTS)


def test_each_page_is_prepared_at_most_once(monkeypatch):
    prepared = []
    skeleton = quotation_search.build_skeleton
    monkeypatch.setattr(
        quotation_search, "build_skeleton", lambda page: prepared.append(page) or skeleton(page)
    )
    text = "\n".join(f'- It says <q s="S1">nobody says number {n}</q>.' for n in range(50))

    verify_citations(text, TEXTS)

    assert sorted(prepared) == sorted(TEXTS.values())


@pytest.mark.parametrize(("letters", "joint"), [("abcdefgh", " "), ("山水风云春秋江河", "")])
def test_a_quotation_is_found_anywhere_in_a_long_page(letters, joint):
    chance = random.Random(7)
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(20_000)]
    page = joint.join(words)
    for start in range(0, len(words) - 40, 400):
        quote = f"\u00a0 {joint}".join(words[start : start + 30])
        assert verify_citations(f'<q s="S1">{quote}</q>', {"S1": page}).removed == []


# --- numbers


@pytest.mark.parametrize(
    "sentence",
    [
        "A colony has 30,000 bees [S1].",
        "A colony has 30 thousand bees [S1].",
        "蜂群有3万只蜜蜂[S1]。",
        "Trade rose by 12.5 percent [S1].",
        "Trade rose by 13 % [S1].",
        "Exports rose by 30,000 tonnes [S2].",
        "It was in 1967 [S1][S3].",
        'It was <q s="S1">in 2019</q>.',
        "There are 3 dances [S1].",
    ],
)
def test_a_number_that_a_cited_source_has_is_supported(sentence):
    assert enforce_citations(sentence, TEXTS).doubted == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Trade rose by 12.6 % [S1].",
        "It was in 1968 [S2].",
        "Bees cluster below 14 °C [S1].",
        "It costs $7 [S1].",
        "出口额增长了4万吨[S2]。",
    ],
)
def test_a_number_that_no_cited_source_has_is_reported(sentence):
    doubted = enforce_citations(f"Bees dance [S1]. {sentence}", {"S1": BEES, "S2": DANCE}).doubted

    assert doubted == [{"text": sentence, "reason": "number"}]


def test_a_number_in_place_of_another_one_of_the_source_is_reported_as_such():
    said = "A colony has 31,000 bees [S1]."

    assert enforce_citations(said, {"S1": BEES}).doubted == [
        {"text": said, "reason": "other_number"}
    ]


def test_a_mere_quotation_cites_only_the_sources_that_have_it():
    texts = {
        "S1": "In summer bees dance to tell where the flowers are.",
        "S2": "Wasps sting people in autumn.",
        "S3": "He wrote that bees dance to tell where the flowers are.",
    }
    for quotation in ("“bees dance to tell where the flowers are”", '<q s="S1">bees dance</q>'):
        assert verify_citations(f"{quotation} [S1][S2][S3]", texts).cited == ["S1", "S3"]
    own = "They differ: “bees dance to tell where the flowers are” [S1][S2]."
    assert verify_citations(own, texts).cited == ["S1", "S2"]
