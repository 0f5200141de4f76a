from report.checks.numbers import normalize_numerals
from tests.cases import each_case


@each_case(
    [
        ("forty-two farms", "42 farms"),
        ("one hundred and ten years", "110 years"),
        ("three thousand two hundred", "3200"),
        ("the 4th of three", "the 4 of 3"),
        ("the Third man", "the 3 man"),
        ("a stone", "a stone"),
        ("3.4 million euros", "3400000 euros"),
        ("€1.25 billion in 12 months", "€1250000000 in 12 months"),
        ("two million and 3 hundred", "2000000 and 300"),
        ("3.4万人", "34000人"),
        ("3万5千人，另有2亿3000万元", "35000人，另有230000000元"),
        ("12,5 km, 4 millions", "12,5 km, 4 millions"),
        ("七十三个小项", "73个小项"),
        ("第十二届", "12届"),
        ("一九三二年", "1932年"),
        ("三万人", "30000人"),
        ("一般", "一般"),
        ("十五趟列车", "15趟列车"),
        ("第二层有三张床", "2层有3张床"),
        ("百分之三十五", "35%"),
    ]
)
def test_numbers_in_words_become_digits(spelt, digits):
    assert normalize_numerals(spelt) == digits
