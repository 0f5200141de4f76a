"""The measurement of questions across languages."""

from __future__ import annotations

import pytest

from evals import cross_language
from text.pattern_files import read_packaged_toml
from text.script import detect_language

DATA = read_packaged_toml("evals", "cross_language.toml")


def test_every_question_is_in_the_other_language_than_its_page():
    languages = {page["id"]: page["language"] for page in DATA["pages"]}
    texts = {page["id"]: page["text"] for page in DATA["pages"]}

    assert len(languages) == len(DATA["pages"])
    for question in DATA["questions"]:
        page = question.get("page")
        if page:
            assert detect_language(question["text"]) != languages[page]
            assert any(answer in texts[page] for answer in question["answers"])


def test_the_ways_are_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    wanted = ("en-killmode", "zh-process")
    some = {
        "pages": [one for one in DATA["pages"] if one["id"] in wanted],
        "questions": [one for one in DATA["questions"] if one.get("page") in ("en-killmode", None)],
    }
    monkeypatch.setattr(cross_language, "read_packaged_toml", lambda *_: some)
    monkeypatch.setattr("sys.argv", ["evals.cross_language"])

    cross_language.main()

    head, found, none = capsys.readouterr().out.splitlines()
    assert head.split()[2:] == list(cross_language.COLUMNS)
    assert found.startswith("latin -> en")
    assert found.split()[4:8] == ["100%", "100%", "100%", "100%"]
    assert none.split()[:3] == ["no", "answer", "10"]
