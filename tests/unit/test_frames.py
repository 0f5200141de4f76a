"""Whether a statement puts one thing of a source in the place of another."""

import pytest

from report.checks.source_text import index_source
from report.checks.substitutions import has_swapped_words

OBSERVATORY = (
    "原型望远镜现存放在临江市的自然科学馆，由助手柳青岩保管。《观星札记》中没有关于彗星的记载，"
    "有些学者因此认为它成书较早。《远山星图》由青崖书院刊行。东塔天文台由三江电气公司出资修建，"
    "西塔气象站由北湖航运局出资修建。"
)


@pytest.mark.parametrize(
    "said",
    [
        "原型望远镜现存放在临江市的青崖书院，由助手柳青岩保管",
        "《远山星图》中没有关于彗星的记载，有些学者因此认为它成书较早",
        "东塔天文台由北湖航运局出资修建",
        "原型望远镜现存放在临江市的北湖航运局，由助手柳青岩保管",
    ],
)
def test_another_chinese_name_in_a_copy_of_a_clause_is_noticed(said: str):
    assert has_swapped_words(said, [index_source(OBSERVATORY)])


@pytest.mark.parametrize(
    "said",
    [
        "原型望远镜现存放在临江市的自然科学馆，由助手柳青岩保管",
        "原型望远镜如今陈列在临江市的自然科学馆，由助手柳青岩保管",
        "有些学者据此推断它成书较早",
        "东塔天文台由三江公司出资修建",
    ],
)
def test_a_copy_with_a_word_of_the_same_meaning_is_no_other_name(said: str):
    assert not has_swapped_words(said, [index_source(OBSERVATORY)])
