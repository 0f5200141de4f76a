"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from retrieval.regex import regex


def test_a_pattern_is_compiled_once_and_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch):
    compiled: list[str] = []
    real = re.compile

    def counting(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return real(text, flags)

    monkeypatch.setattr(re, "compile", counting)
    bee = regex(r"bees?")
    before = list(compiled)
    found = [bee.search(text) for text in ("a bee", "wasps", "bees")]

    assert before == []
    assert [one and one[0] for one in found] == ["bee", None, "bees"]
    assert compiled == ["bees?"]


def test_a_pattern_keeps_its_flags_and_its_text():
    name = regex(r"(?P<who>[a-z]+)", re.IGNORECASE)

    assert name.pattern == r"(?P<who>[a-z]+)"
    assert name.sub("x", "KARL") == "x"
    assert name.groupindex["who"] == 1


def test_a_pattern_that_is_none_is_told_when_it_is_used():
    broken = regex("(")

    with pytest.raises(re.error):
        broken.search("text")
