from text.words import word_weight


def test_a_rare_word_says_more_than_a_common_one():
    assert word_weight("film") < word_weight("orchestra") < word_weight("xylophon") == 1.0
    assert word_weight("主要") < word_weight("战国") <= 1.0


def test_a_pair_with_a_character_of_grammar_says_little():
    assert word_weight("蜂的") == word_weight("了花") < word_weight("蜜蜂")
