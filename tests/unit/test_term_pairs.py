"""A question in the terms of the other language."""

from __future__ import annotations

import pytest

from text.pattern_files import read_packaged_toml
from text.script import detect_language, simplify_chinese
from text.term_pairs import restate_terms


@pytest.mark.parametrize(
    ("question", "restated", "names"),
    [
        ("systemd 的 KillMode=mixed 是什么意思？", "systemd KillMode=mixed", 2),
        ("Foo 的默认端口是多少？", "Foo default port", 1),
        ("預設的端口和權限", "port permission", 0),
        ("防火墙重启以后会怎样？", "firewall restart", 0),
        ("Which port does Foo use by default?", "端口 Foo 默认 缺省", 1),
        ("How is safe mode left?", "安全模式", 0),
        ("What does log.retention.hours mean?", "log.retention.hours", 1),
        ("Where is the beehive?", "", 0),
        ("蜜蜂怎样过冬？", "", 0),
    ],
)
def test_names_stay_and_terms_take_their_counterparts(question: str, restated: str, names: int):
    found = restate_terms(question)

    assert found.text == restated
    assert len(found.names) == names


def test_of_several_counterparts_one_is_taken_that_is_there():
    assert restate_terms("删除文件").text == "delete remove file"
    assert restate_terms("删除文件", {"remov", "file"}).text == "remove file"
    assert restate_terms("删除文件", {"other"}).text == "delete file"


def test_the_share_tells_how_much_of_a_question_is_said():
    assert restate_terms("备份的密码").share == 1.0
    assert restate_terms("量子的密码").share == 0.5
    assert restate_terms("蜜蜂怎样过冬？").share == 0.0
    assert restate_terms("delete the beehive").share == 0.5
    assert restate_terms("？").share == 0.0


def test_every_pair_has_both_languages_once_and_in_simplified_characters():
    text = read_packaged_toml("text", "term_pairs.toml")["pairs"]
    lines = [line.split("|") for line in text.strip().splitlines()]
    english = [word for one, _ in lines for word in one.split()]
    chinese = [word for _, other in lines for word in other.split()]

    assert all(len(line) == 2 and line[0].strip() and line[1].strip() for line in lines)
    assert len(english) == len(set(english))
    assert {detect_language(word) for word in english} == {"en"}
    assert {detect_language(word) for word in chinese} == {"zh"}
    assert [simplify_chinese(word) for word in chinese] == chinese
