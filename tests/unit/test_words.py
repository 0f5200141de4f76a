from text.words import query_terms, search_words


def test_english_words_are_stemmed_and_stopwords_left_out():
    assert search_words("The bees' dances are in the hive.") == ["bee", "danc", "hive"]


def test_words_that_were_changed_by_a_caller_are_the_same_for_the_next():
    search_words("Bees dance at noon").clear()
    query_terms("Do bees dance?").clear()

    assert search_words("Bees dance at noon") == ["bee", "danc", "noon"]
    assert query_terms("Do bees dance?") == ["bee", "danc"]


def test_accents_do_not_matter():
    assert search_words("Beyoncé") == search_words("Beyonce")


def test_a_name_in_capitals_is_no_stopword():
    assert search_words("the WHO and IT, if it is so") == ["who", "it"]


def test_chinese_becomes_pairs_of_characters_and_a_lone_one_stays():
    assert search_words("蜜蜂跳舞，花。") == ["蜜蜂", "蜂跳", "跳舞", "花"]


def test_kana_and_hangul_become_pairs_too():
    assert search_words("カタカナ 한국어") == ["カタ", "タカ", "カナ", "한국", "국어"]


def test_an_identifier_is_kept_whole_and_in_parts():
    assert search_words("get_userName") == ["get_username", "get", "user", "name"]
    assert search_words("HTTPServer") == ["httpserver", "http", "server"]
    assert search_words("PDFs") == ["pdfs", "pdf"]
    assert search_words("GPT-4 in C++") == ["gpt-4", "gpt", "4", "c++"]


def test_numbers_dates_and_shares_are_kept_whole():
    assert search_words("1,200 of 3.14 on 2024-01-05") == [
        "1200",
        "3.14",
        "2024-01-05",
        "2024",
        "01",
        "05",
    ]
    assert search_words("12%") == ["12%", "12"]
    assert search_words("1999年") == ["1999", "年"]


def test_full_width_letters_are_letters():
    assert search_words("ＧＰＴ４") == search_words("GPT4")


def test_the_words_of_a_question_are_not_its_terms():
    assert query_terms("Please tell me what HNSW is, and how the HNSW works?") == ["hnsw", "work"]
    assert query_terms("蜜蜂为什么跳舞？") == ["蜜蜂", "跳舞"]
    assert query_terms("該電影是什麼時候上映的呢？") == ["該電", "電影", "上映"]
    assert query_terms("请问这是由哪两个公司开发的？")[-2:] == ["司开", "开发"]


def test_a_question_word_inside_another_word_stays():
    assert query_terms("几何的目的") == ["几何", "目的"]
    assert query_terms("申请哪吒") == ["申请", "请哪", "哪吒"]
    assert query_terms("多伦多大学") == ["多伦", "伦多", "多大", "大学"]


def test_a_question_of_question_words_has_no_terms():
    assert query_terms("What is it?") == []
    assert query_terms("是什么呢？") == []


def test_what_stands_side_by_side_without_a_space_is_cut_as_it_is_apart():
    assert search_words("1-2.5kg and 1-2.5 kg") == [
        "1-2.5",
        "1",
        "2",
        "5",
        "kg",
        "1-2.5",
        "1",
        "2.5",
        "kg",
    ]
    assert search_words("xs.pile(x)/re-2.") == [*search_words("xs pile"), "x", "re-2", "2"]
    assert search_words("50%.C++,c#") == ["50%", "50", "c++", "c#"]
    assert search_words("カナ蜂v2.0蜜") == ["カナ", "ナ蜂", "v2", "v", "2", "0", "蜜"]
