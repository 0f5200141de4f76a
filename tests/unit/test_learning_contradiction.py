"""What a person says now and what was known of them: which of it cannot both be so."""

from __future__ import annotations

import pytest

from memory.learning.contradiction import contradicts
from memory.learning.rules import stated

AGAINST = [
    ("I speak French", "I don't speak French"),
    ("我不在谷歌工作了", "我在谷歌工作"),
    ("Please answer in German from now on", "From now on answer in French"),
    ("以后请用德语回答", "以后请用中文回答"),
    ("I live in Paris", "I live in Berlin"),
    ("I'm not allergic to nuts", "I'm allergic to nuts"),
    ("I'm allergic to nuts", "I'm not allergic to nuts"),
    ("我不喜欢茶", "我喜欢茶"),
    ("我喜欢茶", "我不喜欢茶"),
    ("I no longer live in Paris.", "I live in Paris"),
    ("我不再住在巴黎", "我住在巴黎"),
    ("I am not a nurse, I am a welder", "I am a nurse"),
    ("Actually I prefer prose.", "I prefer tables, not prose"),
    ("I prefer prose", "I prefer tables"),
    ("No, that is wrong. My budget is 700 euros.", "My budget is 500 euros"),
    ("我对花粉不过敏", "我对花粉过敏"),
    ("I hate tea", "I love tea"),
    ("I no longer like tea", "I like tea and coffee"),
    ("I no longer work at Acme", "I work at Acme as a clerk"),
    ("Don't use tables in your answers.", "I prefer tables"),
    ("I prefer tables", "Don't use tables in your answers"),
    ("I'm a teacher now", "I am a nurse"),
    ("No, I am a doctor, not a nurse", "I am a nurse"),
    ("不对，我是医生，不是护士", "我是护士"),
    ("我不是护士", "我是护士"),
    ("Call me Ann", "My name is Bob"),
    ("Remember that my deadline is 6 May", "my deadline is 5 May"),
    ("I have moved to Rome", "I live in Paris"),
    ("我搬到上海了", "我住在北京"),
    ("不对。我的预算是700欧元。", "我的预算是500欧元"),
    ("我更喜欢段落", "我更喜欢表格"),
    ("My favourite colour is red", "my favourite colour is blue"),
    ("I am no longer diabetic", "I am diabetic"),
    ("我不再喜欢表格", "我更喜欢表格"),
    ("I don't have a dog", "I have a dog"),
    ("I used to live in Berlin", "I live in Berlin"),
    ("我以前住在柏林", "我住在柏林"),
    ("Now I live in Paris", "I live in Rome"),
    ("现在我住在罗马", "我住在柏林"),
]

BESIDE = [
    ("I no longer teach French", "I speak French"),
    ("我不在谷歌工作了", "我在阿里工作"),
    ("Never answer in German from now on", "From now on answer in French"),
    ("I am no longer a head nurse", "I am a nurse"),
    ("I am no longer in Oslo", "I am a nurse in Oslo"),
    ("I don't like tables in short answers.", "I prefer short answers"),
    ("I don't like reports without examples", "I prefer reports with examples"),
    ("我不再是护士长", "我是护士"),
    ("I live in Paris", "I like Berlin"),
    ("I no longer live in Paris", "I like Paris"),
    ("I like tea", "I like coffee"),
    ("I am a mother", "I am a nurse"),
    ("Actually, my hives are in Bergen, not Oslo", "I live in Oslo"),
    ("I don't like green tea", "I like tea"),
    ("I live in Rome", "I no longer live in Paris"),
    ("I prefer short answers", "I prefer tables"),
    ("Remember that my dog is brown", "my dog is old"),
    ("我喜欢咖啡", "我喜欢茶"),
    ("I'm not allergic to nuts", "I'm allergic to pollen"),
    ("I prefer tables", "I prefer tables, not prose"),
    ("I am no longer a welder", "I am a nurse"),
    ("Remember that my hive number 3 stands in field 3.", "my hive number 4 stands in field 4"),
]


@pytest.mark.parametrize(("said", "known"), AGAINST)
def test_what_is_said_now_and_what_was_known_cannot_both_be_so(said: str, known: str):
    assert any(contradicts(one, known) for one in stated(said))


@pytest.mark.parametrize(("said", "known"), BESIDE)
def test_what_can_be_so_beside_it_stays(said: str, known: str):
    assert stated(said)
    assert not any(contradicts(one, known) for one in stated(said))
