import re

import pytest

from models.extractive import writing
from models.extractive.prompt_parser import ParsedPrompt, PromptFinding, SourceQuote
from report.checks.verification import verify_citations
from text.answerability import SourcePassage


def finding(prompt: ParsedPrompt) -> str:
    return writing.write_finding(prompt).text


def report(prompt: ParsedPrompt) -> str:
    return writing.write_report(prompt).text


PAGES = (
    SourcePassage(
        "S1", "Bees", "", "Honey bees dance to tell others where flowers are. They heat the hive."
    ),
    SourcePassage(
        "S2", "Wasps", "", "Wasps & hornets die in autumn. Only their queens survive the winter."
    ),
)
FINDINGS = (
    PromptFinding(
        "s1",
        "Why do bees dance?",
        "ok",
        '- <q s="S1">Bees dance.</q>\n- <q s="S1">Bees dance for flowers.</q>',
    ),
    PromptFinding(
        "s2", "Wasps in winter", "ok", '- <q s="S2">Wasps &amp; hornets die in winter.</q>'
    ),
)


def test_a_finding_is_nothing_but_quotes_of_its_pages():
    text = finding(
        ParsedPrompt(question="Why do bees dance?", step=("Why do bees dance?", ""), pages=PAGES)
    )

    assert text.startswith('- <q s="S1">Honey bees dance to tell others where flowers are.')
    assert not re.sub(r'- <q s="S\d">.*?</q>\n?', "", text, flags=re.DOTALL)


def test_a_step_decides_what_is_quoted_for_a_wider_question():
    step = ("Wasps in winter", "What becomes of the wasps?")
    text = finding(
        ParsedPrompt(question="Compare bees and wasps in winter", step=step, pages=PAGES)
    )

    assert text.startswith('- <q s="S2">')


def test_a_step_that_no_page_answers_has_a_finding_without_a_citation():
    asked = "Who won the football world cup?"

    assert (
        finding(ParsedPrompt(question=asked, step=(asked, ""), pages=PAGES))
        == "No passage answers this."
    )
    assert (
        finding(ParsedPrompt(question="谁赢了足球赛？", step=("谁赢了足球赛？", "")))
        == "没有段落能回答这个问题。"
    )


def test_what_was_missing_steers_the_next_attempt():
    page = SourcePassage(
        "S1", "", "", "Bees dance all day. Bees dance. The queen Zorba never dances."
    )
    prompt = ParsedPrompt(question="bees dance", step=("bees dance", ""), pages=(page,))

    again = finding(prompt._replace(feedback="Not covered yet: queen Zorba never"))

    assert "Zorba" not in finding(prompt).splitlines()[0]
    assert "Zorba" in again.splitlines()[0]


def test_a_report_begins_with_the_answer_and_goes_on_step_by_step():
    text = report(
        ParsedPrompt(question="Why do bees dance and wasps die in winter?", findings=FINDINGS)
    )

    assert text == (
        'The sources put it this way: <q s="S2">Wasps & hornets die in winter.</q> '
        '<q s="S1">Bees dance.</q>\n\n## Why do bees dance?\n\n'
        '- <q s="S1">Bees dance for flowers.</q>'
    )


def test_without_findings_a_report_quotes_the_pages():
    text = report(ParsedPrompt(question="Why do honey bees dance?", pages=PAGES))

    assert '<q s="S1">Honey bees dance to tell others where flowers are.' in text


def test_without_evidence_a_report_says_so():
    nothing = (PromptFinding("s1", "t", "failed", "no_evidence"),)

    assert (
        report(ParsedPrompt(question="Why?", findings=nothing))
        == "No evidence was found for this question."
    )
    assert report(ParsedPrompt(question="为什么？")) == "没有找到能回答这个问题的证据。"


def test_a_chinese_report_is_chinese():
    found = (
        PromptFinding(
            "s1", "跳舞", "ok", '<q s="S1">蜜蜂跳舞。</q><q s="S1">蜜蜂找花。</q><q s="S1">蜂。</q>'
        ),
    )

    text = report(ParsedPrompt(question="蜜蜂为什么跳舞？", findings=found))

    assert text.startswith('资料是这样说的：<q s="S1">蜜蜂跳舞。</q>')
    assert "## 跳舞" in text


def test_words_that_look_like_markup_come_back_as_they_were():
    page = SourcePassage("S1", "AT&T", "", "AT&amp;T sold <q>bees</q> that dance.")
    asked = "AT&T bees dance"

    text = finding(ParsedPrompt(question=asked, step=(asked, ""), pages=(page,)))

    assert PromptFinding("s1", "", "ok", text).quotes == [SourceQuote("S1", page.text)]


def test_the_answer_speaks_for_more_than_one_step():
    bees = '<q s="S1">Bees dance for flowers in winter.</q> <q s="S1">Bees dance in winter.</q>'
    steps = (
        PromptFinding("s1", "Bees", "ok", bees),
        PromptFinding("s2", "Wasps", "ok", '<q s="S2">Wasps dance in winter too.</q>'),
    )

    answer = report(ParsedPrompt(question="Do bees dance in winter?", findings=steps)).split("##")[
        0
    ]

    assert 'S1">Bees dance' in answer
    assert "Wasps dance" in answer


def test_a_section_that_would_repeat_the_question_is_headed_evidence():
    asked = "Why do bees dance?"
    quotes = "".join(f'<q s="S1">{who} bees dance.</q>' for who in ("Old", "Young", "All"))
    text = report(
        ParsedPrompt(question=asked, findings=(PromptFinding("s1", asked, "ok", quotes),))
    )

    assert "## Evidence" in text
    assert asked not in text
    assert text.count("<q") == 3


def test_a_section_without_a_quote_left_is_left_out():
    found = PromptFinding("s1", "Bees", "ok", '<q s="S1">Bees dance for flowers.</q>')

    assert "##" not in report(ParsedPrompt(question="Why do bees dance?", findings=(found,)))


def test_a_quote_far_below_the_best_does_not_pad_the_report():
    quotes = '<q s="S1">Honey bees dance in winter.</q> <q s="S1">Rent is high.</q>'
    found = PromptFinding("s1", "Honey bees dance in winter", "ok", quotes)

    assert "Rent" not in report(ParsedPrompt(question="Do honey bees dance?", findings=(found,)))


DEBATE = (
    SourcePassage(
        "S1", "Decay — page 1", "", "I conclude that forgetting is decay. Forgetting is old."
    ),
    SourcePassage(
        "S2", "Interference", "", "We claim that forgetting is interference. Forgetting is new."
    ),
)


def test_a_disagreement_sets_thesis_against_thesis_under_the_titles_of_the_documents():
    asked = "How do the two papers disagree about forgetting?"
    text = finding(ParsedPrompt(question=asked, step=(asked, ""), pages=DEBATE))
    said = report(ParsedPrompt(question=asked, findings=(PromptFinding("s1", asked, "ok", text),)))

    assert said.startswith(
        'Set side by side, the documents say: *Decay*: <q s="S1">I conclude that forgetting is '
        'decay.</q> *Interference*: <q s="S2">We claim that forgetting is interference.</q>'
    )
    assert "### Decay\n\n- <q" in said
    assert "### Interference\n\n- <q" in said


def test_a_disagreement_that_one_document_speaks_of_is_no_sure_answer():
    asked = "How do the two papers disagree about forgetting?"
    prompt = ParsedPrompt(question=asked, step=(asked, ""), pages=DEBATE[:1])

    assert writing.write_finding(prompt).unsure is not None


def test_a_definition_is_not_followed_by_an_aside():
    asked = "What is a drone?"
    quotes = '<q s="S1">A drone is a male bee.</q> <q s="S1">We saw a drone.</q>'
    text = report(
        ParsedPrompt(question=asked, findings=(PromptFinding("s1", asked, "ok", quotes),))
    )

    assert "We saw" not in text.split("##")[0]


def test_a_setting_is_shown_with_its_section_in_the_finding_and_in_the_report():
    asked = "Which port does the server listen on?"
    page = SourcePassage("S1", "server", "", "[server]\nport = 8443")
    text = finding(ParsedPrompt(question=asked, step=(asked, ""), pages=(page,)))

    assert text == '- *server*: <q s="S1">port = 8443</q>'
    assert '*server*: <q s="S1">port = 8443</q>' in report(
        ParsedPrompt(question=asked, findings=(PromptFinding("s1", asked, "ok", text),))
    )


@pytest.mark.parametrize(
    "said", ["The parser reads [S1] twice.", 'The parser reads <q s="S2">x y</q> twice.']
)
def test_what_looks_like_a_citation_is_quoted_and_cites_nothing(said):
    asked = "What does the parser read twice?"
    page = SourcePassage("S7", "", "", said)
    text = finding(ParsedPrompt(question=asked, step=(asked, ""), pages=(page,)))
    checked = verify_citations(text, {"S7": said, "S1": "Other.", "S2": "x y"})

    assert checked.cited == ["S7"]
    assert [quote["text"] for quote in checked.quotes] == [said]


def test_a_step_that_asks_for_a_part_is_not_answered_by_another_part():
    asked = "What is the waggle dance, and who founded the club?"
    pages = (
        SourcePassage("S1", "", "", "The waggle dance is a signal. Bees do the waggle dance. "),
        SourcePassage("S2", "", "", "The club was founded by Maria Keller."),
    )
    text = finding(ParsedPrompt(question=asked, step=("Who founded the club", ""), pages=pages))

    assert text == '- <q s="S2">The club was founded by Maria Keller.</q>'


def test_the_answer_has_the_best_quote_of_each_sub_question():
    asked = "What is the waggle dance, and who founded the club?"
    findings = (
        PromptFinding(
            "s1",
            "What is the waggle dance",
            "ok",
            '<q s="S1">The waggle dance is a signal.</q>'
            '<q s="S1">The waggle dance is a long waggle dance.</q>',
        ),
        PromptFinding("s2", "Who founded the club", "ok", '<q s="S2">Maria Keller did it.</q>'),
    )
    answer = report(ParsedPrompt(question=asked, findings=findings)).split("##")[0]

    assert re.findall("<q.*?>(.*?)</q>", answer) == [
        "The waggle dance is a signal.",
        "Maria Keller did it.",
    ]


def test_the_frame_of_a_report_is_in_the_language_that_is_wanted():
    asked = "Why do bees dance and wasps die in winter?"
    text = report(ParsedPrompt(question=asked, findings=FINDINGS, prompt_language="zh"))

    assert text.startswith("资料是这样说的：<q")
    assert "## 关于“bees dance”" in text


def test_what_no_quote_can_give_is_not_answered():
    asked = "Write a haiku about honey bees that dance"

    assert finding(ParsedPrompt(question=asked, step=(asked, ""), pages=PAGES)) == (
        "No passage answers this."
    )


def test_the_answer_to_a_comparison_has_the_best_quote_of_each_side():
    asked = "Compare bees and wasps"
    findings = (
        PromptFinding(
            "s1", "Bees", "ok", '<q s="S1">Bees store honey.</q><q s="S1">Bees dance, and bees.</q>'
        ),
        PromptFinding("s2", "Wasps", "ok", '<q s="S2">Hornets are large.</q>'),
        PromptFinding("s3", asked, "ok", '<q s="S2">Bees and wasps sting.</q>'),
    )
    answer = report(ParsedPrompt(question=asked, findings=findings)).split("##")[0]

    assert re.findall("<q.*?>(.*?)</q>", answer) == ["Bees store honey.", "Hornets are large."]


def test_nothing_is_quoted_twice_not_even_as_a_part_or_in_almost_the_same_words():
    asked = "Why do bees dance?"
    said = [
        "Bees dance for flowers.",
        "It is so. Bees dance for flowers.",
        "Old bees dance at noon in May.",
        "Old bees dance at noon in May too.",
    ]
    quotes = "".join(f'<q s="S1">{one}</q>' for one in said)
    text = report(
        ParsedPrompt(question=asked, findings=(PromptFinding("s1", asked, "ok", quotes),))
    )

    assert text.count("<q") == 2


def test_a_report_for_somebody_who_likes_it_short_has_one_quote_of_each_source_in_a_section():
    said = ("Bees dance for flowers.", "Bees dance in a hive.", "A bee dances in the dark.")
    quotes = "\n".join(f'- <q s="S1">{one}</q>' for one in (*said, "Dancing bees shake."))
    finding = PromptFinding("s1", "Where bees dance", "ok", quotes)
    prompt = ParsedPrompt(question="Why do bees dance?", findings=(finding,))

    section = report(prompt._replace(concise=True)).split("## ")[1]

    assert report(prompt).split("## ")[1].count("<q ") > 1
    assert section.count("<q ") == 1


def test_a_quote_that_has_all_of_a_question_and_what_it_asks_for_is_an_answer():
    page = SourcePassage("S1", "The Zeta pump", "", "The Zeta pump was built by Ada Brook in 1931.")
    asked = "Who built the Zeta pump?"

    written = writing.write_finding(
        ParsedPrompt(question=asked, step=(asked, asked), pages=(page,))
    )

    assert written.unsure is None
    assert report(ParsedPrompt(question=asked, pages=(page,))).startswith(
        "The sources put it this way:"
    )


@pytest.mark.parametrize(
    ("asked", "lacking"),
    [
        ("Who is the owner of the Zeta pump?", "owner"),
        ("When was the Zeta pump painted?", "painted"),
        ("How is the Zeta pump built?", ""),
        ("How much water does the Zeta pump lift?", "water, lift"),
    ],
)
def test_a_related_quote_that_lacks_what_is_asked_is_no_sure_answer(asked, lacking):
    text = (
        "The Zeta pump stands in the old mill. The Zeta pump was built for the mill by Ada Brook."
    )
    page = SourcePassage("S1", "The Zeta pump", "", text)
    written = writing.write_finding(
        ParsedPrompt(question=asked, step=(asked, asked), pages=(page,))
    )

    assert written.text.startswith("- <q")
    assert written.unsure == lacking
    said = writing.write_report(ParsedPrompt(question=asked, pages=(page,)))
    assert said.text.startswith("These passages are related, but it is not certain")
    assert said.unsure == lacking


def test_a_report_begins_with_what_is_sure():
    unsure = PromptFinding("s1", "Wasps", "partial", '- <q s="S2">Wasps die in autumn.</q>')
    sure = PromptFinding("s2", "Bees", "ok", '- <q s="S1">Bees die in winter.</q>')
    asked = "When do bees and wasps die?"

    written = writing.write_report(ParsedPrompt(question=asked, findings=(unsure, sure)))

    assert written.unsure is None
    assert "Bees" in written.text.split("##")[0]
    assert "Wasps" not in written.text.split("##")[0]
    assert writing.write_report(ParsedPrompt(question=asked, findings=(unsure,))).unsure == "bees"


def test_evidence_has_one_heading_and_names_what_the_question_names():
    bees = SourcePassage(
        "S1", "Zeta pumps", "", "The Zeta pump lifts water. The Zeta pump lifts water fast."
    )
    other = SourcePassage("S2", "Kites", "", "A pump of another make lifts water too, and mud.")
    asked = "How does the Zeta pump lift water?"
    prompt = ParsedPrompt(question=asked, step=(asked, asked), pages=(bees, other))
    told = PromptFinding("s1", asked, "ok", '- <q s="S1">The Zeta pump lifts water.</q>')

    assert "S2" not in finding(prompt)
    assert report(prompt._replace(findings=(told,))).count("## ") <= 1


def test_a_row_of_json_is_not_quoted():
    text = '{"pump": "Zeta", "lifts": "water", "year": 1931}\nThe Zeta pump lifts water.'
    asked = "What does the Zeta pump lift?"
    prompt = ParsedPrompt(
        question=asked, step=(asked, asked), pages=(SourcePassage("S1", "", "", text),)
    )

    assert '"pump"' not in finding(prompt)
    assert "The Zeta pump lifts water." in finding(prompt)


def test_what_a_report_is_said_to_lack_is_lacking_in_what_it_shows():
    asked = "Was the heating pipe of the library moved in April?"
    moved = PromptFinding(
        "s1",
        asked,
        "insufficient_evidence",
        '- <q s="S1">The heating pipe was moved out of the lower stacks in April.</q>',
    )
    other = SourcePassage(
        "S2", "Minutes of the library", "", "The heating of the library was repaired in April."
    )

    written = writing.write_report(ParsedPrompt(question=asked, findings=(moved,), pages=(other,)))

    assert "The heating pipe was moved" in written.text.split("\n")[0]
    assert "pipe" not in str(written.unsure)


def test_quotes_in_another_language_are_not_said_to_lack_the_words_of_the_question():
    quoted = '- <q s="S1">The purge command of apt removes a package with its configuration.</q>'
    asked = "怎样用 apt 删除一个软件包？"
    found = PromptFinding("s1", asked, "insufficient_evidence", quoted)

    assert writing.write_report(ParsedPrompt(question=asked, findings=(found,))).unsure == ""


WALL = (
    SourcePassage("S1", "History of the wall", "", "The flood wall stands here since 1931."),
    SourcePassage("S2", "Survey", "", "The wall is 212 metres long and 4 metres high."),
)


@pytest.mark.parametrize("asked", ["the length of the wall", "The height of the flood wall"])
def test_a_dimension_is_found_where_a_source_gives_it_by_its_unit(asked: str):
    text = finding(ParsedPrompt(question="The wall", step=(asked, ""), pages=WALL))

    assert '<q s="S2">The wall is 212 metres long and 4 metres high.</q>' in text


def test_a_dimension_that_no_source_gives_is_not_answered():
    asked = "the width of the wall"

    assert finding(ParsedPrompt(question="The wall", step=(asked, ""), pages=WALL)) == (
        "No passage answers this."
    )


def test_a_word_that_any_quote_has_is_not_missing():
    text = (
        "Studies in Yunnan showed that bees raise the harvest of apples by 20 per cent. In Kent, a"
        " study of 40 orchards found that bees doubled the harvest of cherries."
    )
    asked = "What did studies in Yunnan and Kent find about bees?"
    pages = (SourcePassage("S1", "Bees and farming", "", text),)
    prompt = ParsedPrompt(question=asked, step=(asked, ""), pages=pages)

    for written in (writing.write_finding(prompt), writing.write_report(prompt)):
        assert "Kent" in written.text
        assert "Kent" not in (written.unsure or "")
