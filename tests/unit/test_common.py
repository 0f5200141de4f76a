from retrieval.common import weight


def test_a_rare_word_says_more_than_a_common_one():
    assert weight("film") < weight("orchestra") < weight("xylophon") == 1.0
    assert weight("主要") < weight("战国") <= 1.0


def test_a_pair_with_a_character_of_grammar_says_little():
    assert weight("蜂的") == weight("了花") < weight("蜜蜂")
