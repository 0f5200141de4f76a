"""A model is told in plain words of its own language what is wrong with its answer."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field, ValidationError

from calls.replies import UnreadableAnswer, explain_invalid_answer, parse_answer
from tests.cases import each_case


class Hive(BaseModel):
    frames: int
    colour: Literal["red", "green"]


class Bee(BaseModel):
    title: str
    wings: list[str]
    old: bool
    weight: float = Field(gt=0)
    hive: Hive


GOOD = '"title": "Maya", "wings": [], "old": true, "weight": 1'
HIVE = '"hive": {"frames": 3, "colour": "red"}'

WRONG = [
    ("no object at all", "no JSON object", "没有 JSON 对象"),
    ('{"a":' * 10_000 + "1" + "}" * 10_000, "", ""),
    ("[1, 2]", "", ""),
    ("{" + GOOD + "}", "`hive` is missing", "`hive` 缺失"),
    (
        "{" + GOOD.replace('"Maya"', "[]") + "," + HIVE + "}",
        "`title` has to be",
        "`title` 必须是文本",
    ),
    ("{" + GOOD.replace("[]", "5") + "," + HIVE + "}", "`wings` has to be a list", "必须是列表"),
    ("{" + GOOD.replace("true", '"perhaps"') + "," + HIVE + "}", "true or false", "true 或 false"),
    ("{" + GOOD.replace("1", '"much"') + "," + HIVE + "}", "a number", "数字"),
    ("{" + GOOD.replace("1", "-1") + "," + HIVE + "}", "not allowed", "不符合要求"),
    ("{" + GOOD + ', "hive": 7}', "an object", "对象"),
    ("{" + GOOD + ', "hive": {"frames": 1.5, "colour": "red"}}', "`hive.frames`", "整数"),
    ("{" + GOOD + ', "hive": {"frames": 1, "colour": "blue"}}', "one of 'red', 'green'", "'red'"),
]

PYDANTIC = re.compile(r"pydantic|validation error|Input should|Field required|type=|For further")


@each_case(WRONG)
def test_what_is_wrong_is_said_in_the_language_of_the_prompt(text: str, english: str, chinese: str):
    with pytest.raises((UnreadableAnswer, ValidationError)) as refused:
        parse_answer(AIMessage(text), Bee)

    told = {tongue: explain_invalid_answer(refused.value, tongue) for tongue in ("en", "zh")}

    assert english in told["en"]
    assert chinese in told["zh"]
    assert not PYDANTIC.search(f"{told['en']} {told['zh']}")
    assert (
        re.findall(r"[A-Za-z]{2,}", re.sub(r"`[^`]*`|'[^']*'|JSON|true|false", "", told["zh"]))
        == []
    )
