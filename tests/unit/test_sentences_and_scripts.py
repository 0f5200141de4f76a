from hypothesis import given
from hypothesis import strategies as st

from text.normalization import find_quote, fold_text, normalize_text
from text.script import detect_language
from text.sentences import LONGEST_SENTENCE, is_heading, split_sentences


def texts(text):
    return [sentence.text for sentence in split_sentences(text)]


def test_line_ends_become_one_kind():
    assert normalize_text("a\r\nb\rc\u2028d\x0ce") == "a\nb\nc\nd\ne"


def test_characters_nobody_sees_are_dropped_and_tabs_stay():
    assert normalize_text("\ufeffa\x00b\x9fc\u202ed\u2066e\ud800\tf") == "abcde\tf"


def test_an_accent_written_apart_joins_its_letter():
    assert normalize_text("cafe\u0301") == "café"


@given(st.text())
def test_clean_text_stays_as_it_is(text):
    once = normalize_text(text)

    assert normalize_text(once) == once
    once.encode()


def test_language_is_told_by_the_script():
    assert detect_language("Why do bees dance?") == "en"
    assert detect_language("蜜蜂为什么跳舞？") == "zh"
    assert detect_language("") == "en"


def test_names_in_letters_do_not_make_a_chinese_question_english():
    assert detect_language("如何用 Kubernetes Cluster Autoscaler 做弹性扩容") == "zh"
    assert detect_language("What does the word 蜜蜂 mean in English?") == "en"


def test_a_full_stop_ends_a_sentence_only_where_it_does():
    text = (
        "Dr. Smith et al. (2019) paid 3.5 dollars, e.g. to J. K. Rowling, as in Fig. 3. He lives "
        'in the U.S. The firm Acme Inc. of Ohio is big. "Really?" he asked. Bees dance.[1] Yes!'
    )

    assert texts(text) == [
        "Dr. Smith et al. (2019) paid 3.5 dollars, e.g. to J. K. Rowling, as in Fig. 3.",
        "He lives in the U.S.",
        "The firm Acme Inc. of Ohio is big.",
        '"Really?" he asked.',
        "Bees dance.[1]",
        "Yes!",
    ]


def test_an_initial_is_not_the_short_form_of_page():
    assert len(texts("They met on the Alfred P. Murrah square. See p. 5 for it.")) == 2


def test_the_answer_no_is_not_the_short_form_of_number():
    assert texts("The answer is no. We left with No. 7 bus.") == [
        "The answer is no.",
        "We left with No. 7 bus.",
    ]


def test_letters_with_full_stops_are_one_short_form():
    assert texts("The F.I.R. No. 12 was filed by A.P.J. Kalam. It names nobody.") == [
        "The F.I.R. No. 12 was filed by A.P.J. Kalam.",
        "It names nobody.",
    ]


def test_half_a_million_short_forms_are_read_as_fast_as_other_words():
    assert max(map(len, texts("Mr. Smith saw J. K. Moon " * 20_000))) > 1_900


def test_what_is_too_long_for_a_sentence_is_cut_at_white_space_and_loses_nothing():
    long = "bees " * 1_000 + "蜂" * 5_000

    found = texts(long)

    assert max(map(len, found)) <= LONGEST_SENTENCE
    assert found[0].endswith(" bees")
    assert "".join(found).replace(" ", "") == long.replace(" ", "")


def test_chinese_marks_end_a_sentence_together_with_the_quote_they_close():
    assert texts("蜜蜂跳舞。「為什麼？」因為……有花；他说“好！”，走了。真的！") == [
        "蜜蜂跳舞。",
        "「為什麼？」",
        "因為……",
        "有花；",
        "他说“好！”，走了。",
        "真的！",
    ]


def test_the_mark_of_a_name_ends_no_chinese_sentence():
    assert texts("它不支持 3DNow! 指令；也不支持Yahoo!邮箱。Hello! 你好。") == [
        "它不支持 3DNow! 指令；",
        "也不支持Yahoo!邮箱。",
        "Hello!",
        "你好。",
    ]
    assert texts("真好! 走吧。") == ["真好!", "走吧。"]


def test_bold_type_ends_with_its_sentence():
    assert texts("**先后。** 同一个锁。**后来。**走了。**重要**的是锁。") == [
        "**先后。**",
        "同一个锁。",
        "**后来。**",
        "走了。",
        "**重要**的是锁。",
    ]


def test_headings_bullets_and_rows_are_sentences_of_their_own():
    text = "# Bees\nBees dance.\n- one\n- two\n1. First\n| a | b |\n| c | d |\n小标题\n\n第二章。"

    assert texts(text) == [
        "# Bees",
        "Bees dance.",
        "- one",
        "- two",
        "1. First",
        "| a | b |",
        "| c | d |",
        "小标题",
        "第二章。",
    ]


def test_a_line_that_was_only_wrapped_goes_on():
    text = "Bees dance in the hive because they want to tell\nthe others where the flowers are. So."

    assert len(texts(text)) == 2


def test_a_short_line_is_not_taken_for_a_wrapped_one():
    assert texts("roses are red\nviolets are blue") == ["roses are red", "violets are blue"]


@given(st.text(alphabet='aB .!?。；\n"”#-1蜂、,', max_size=80))
def test_sentences_are_pieces_of_the_text_and_miss_only_white_space(text):
    found = split_sentences(text)

    assert all(text[span.start : span.end] == span.text for span in found)
    assert "".join("".join(span.text.split()) for span in found) == "".join(text.split())


def test_a_heading_is_short_and_has_no_end_mark():
    assert is_heading("## Bees.")
    assert is_heading("1.2 The waggle dance")
    assert not is_heading("Bees dance.")
    assert not is_heading("- a bullet")
    assert not is_heading("| a | b |")


def test_typography_does_not_matter_to_a_quote():
    assert fold_text("“Bees”  —\nit‘s ﬁne, soft\u00adly…") == '"Bees" - it\'s fine, softly...'


def test_case_matters_to_a_quote():
    assert fold_text("US") != fold_text("us")


def test_spaces_beside_chinese_characters_do_not_matter():
    assert fold_text("蜜蜂 ， 用 AI 跳舞") == fold_text("蜜蜂，用AI跳舞")


def test_a_quote_is_found_where_it_stands_unfolded():
    text = "He said:  “Bees\u00a0are inter-\nnational” — 蜜蜂 会跳舞。"

    assert (
        find_quote('"Bees are international" - 蜜蜂会', text).text
        == "“Bees\u00a0are inter-\nnational” — 蜜蜂 会"
    )
    assert text[slice(*find_quote("蜜蜂会跳舞", text)[:2])] == "蜜蜂 会跳舞"


def test_a_hyphen_at_a_line_end_may_belong_to_the_word():
    assert find_quote("a well-known bee", "It is a well-\nknown bee.").text == "a well-\nknown bee"


def test_what_is_not_there_is_not_found():
    assert find_quote("wasps", "Bees dance.") is None
    assert find_quote("", "Bees dance.") is None
    assert find_quote(" \n", "Bees dance.") is None


@given(st.text(alphabet="aé -\n“”…—蜂，ﬁ\u00ad\u0301", min_size=1), st.data())
def test_every_piece_of_a_text_is_found_in_it(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]

    if fold_text(piece):
        assert fold_text(find_quote(piece, text).text) == fold_text(piece)
