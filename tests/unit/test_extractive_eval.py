import json

import pytest

from evals.extractive import OTHERS, _answered, main


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["evals.extractive", *map(str, words)])
    main()


def write(folder, pages, queries):
    folder.mkdir()
    for name, lines in (("corpus", pages), ("queries", queries)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def data(tmp_path):
    pages = [{"id": "p1", "title": "Zorba", "text": "The Zorba hive has 12 frames. It is old."}]
    asked = [{"id": "q", "text": "How many frames has the Zorba hive?", "answer": ["12"]}]
    for name in ("rgb_zh_int", "cmrc2018"):
        write(tmp_path / name, pages, [{**asked[0], "gold": ["p1"]}])
    return tmp_path


def test_every_set_can_be_asked_of_itself_and_of_another(data, monkeypatch, capsys):
    run(monkeypatch, "--data", data, "--sets", "rgb_zh_int")

    own, other = capsys.readouterr().out.splitlines()[1:]
    assert own.startswith("rgb_zh_int -> itself")
    assert other.startswith("rgb_zh_int -> cmrc2018")
    assert "100.0%" in own


def test_questions_can_be_left_out(data, monkeypatch, capsys):
    run(monkeypatch, "--data", data, "--sets", "rgb_zh_int", "--skip", 1)

    assert capsys.readouterr().out.splitlines()[1].split()[3] == "0"


@pytest.mark.parametrize(("name", "said"), [("zorba", "invalid choice"), ("drcd", "no pages")])
def test_a_set_that_cannot_be_asked_is_refused_in_one_line(data, monkeypatch, capsys, name, said):
    with pytest.raises(SystemExit):
        run(monkeypatch, "--data", data, "--sets", name)

    assert said in capsys.readouterr().err.splitlines()[-1]


def test_every_set_is_paired_with_another_set():
    assert all(other in OTHERS and other != name for name, other in OTHERS.items())


def test_an_answer_may_be_spelt_in_several_ways():
    asked = {"answer": [["1月3日", "1 January"], "yes"]}

    assert _answered(asked, ["It was on 1 january."])
    assert _answered(asked, ["yes"]) is False
    assert _answered({"answer": "yes"}, ["yes"]) is None
