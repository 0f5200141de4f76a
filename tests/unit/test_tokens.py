"""Tokens are counted exactly or estimated well, and nobody is ever asked for the vocabulary."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from langchain_core.messages import AIMessage

from app.cli import doctor, memory_items, runs
from calls.attempts import OPEN_STATUS, Attempt, list_attempts
from memory.registry import explain_recall
from runs.trace import read_trace
from tests.model_calls import asked, written
from text import tokens
from text.tokens import (
    PART,
    bytes_fit,
    count_tokens,
    estimate_tokens,
    is_count_exact,
    vocabulary_file,
)
from text.tokens import _parts as estimated_parts

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
FEWEST = 200
"""Shorter texts may be estimated worse."""

HERE = vocabulary_file()
"""The vocabulary of this machine, as far as it has one."""

ODD = ["<|endoftext|>", "<|fim_prefix|><|im_start|>", "", "\x00", "\ud800", "🐝" * 50, " " * 10]


ENGLISH = """\
Ebbinghaus learned lists of nonsense syllables until he could say them twice without a mistake, and
measured how much less time he needed to learn them again after twenty minutes, an hour, nine hours,
a day, two days, six days and thirty-one days. The curve falls steeply at first and then ever more
slowly; the savings method shows what is left even where nothing can be recalled. Murre and Dros
(2015) repeated the experiment with one subject over seventy hours and found nearly the same curve.
"""

CHINESE = """\
蜜蜂用舞蹈告诉同伴蜜源的方向和距离：摆尾舞的角度表示与太阳的夹角，摆动的时间越长，花就越远。卡尔·冯·弗里希在1927年描述了这种舞蹈，
后来因此获得诺贝尔奖。冬天蜂群在十四度以下结成蜂团，吃掉大约二十公斤蜂蜜；蜂王夏天每天产卵多达两千粒，工蜂负责喂养。
養蜂人在秋天檢查每一個蜂箱，確認蜂群的重量、蜂蟎的數量以及蜂王是否健康，並且把弱群合併到強群之中，以便順利度過寒冷的季節。
艾宾浩斯学习无意义音节，直到能不出错地背两遍，再测量过一段时间以后重新学会要少用多少时间。遗忘曲线开始下降得很快，后来越来越慢。
"""

PATTERNS = r"""
_LEAVES = re.compile(r"\b(?:depart\w*|flown|[Ss]warm(?:s|ed)?|vanish\w*|wander\w*|at large)"
    r"|(?:[Tt]hey|[Ww]e|[Hh]e|[Ss]he)[^\w\n]*?(?:'ve|'d)?\W+(?:gone|strayed|wintered)\b|[Ff]led\W*$"
_FENCED = re.compile(r"(?P<open>\[{2,}(?=[^\]\n]*$)|\({2,})[^)\n]*$(?:.*?^[ ]{0,3}(?P=open)[\])]*$)"
"""


def _rows() -> list[list[Any]]:
    chance = random.Random(4)
    names = ["hive", "weight", "蜂群", "Mites", "n/a", "2026-11-21"]
    numbers = [chance.randrange(10**6), chance.randrange(100), chance.uniform(0, 100)]
    return [
        [number, chance.choice(names), round(chance.uniform(0, 1e4), chance.randrange(4)), *numbers]
        for number in range(60)
    ]


def _tables() -> list[str]:
    out = io.StringIO()
    csv.writer(out).writerows(_rows())
    marked = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in _rows())
    data = [dict(zip("abcdef", row, strict=True)) for row in _rows()]
    spread = json.dumps(data, ensure_ascii=False, indent=2)
    return [out.getvalue(), marked, marked.replace(" ", ""), json.dumps(data), spread]


def _emoji() -> list[str]:
    some = ["🐝", "🍯", "😀", "👍🏽", "❤️", "👩‍👩‍👧", "🏳️‍🌈", "→", "✓"]
    chance = random.Random(5)
    return [
        between.join(chance.choice([*some, *words]) for _ in range(300))
        for between in ("", " ")
        for words in ([], ["bees", "dance", "蜜蜂"])
    ]


def _files(*patterns: str) -> list[str]:
    files = [file for pattern in patterns for file in sorted(ROOT.glob(pattern))]
    texts = [file.read_bytes().decode("utf-8", "replace") for file in files if file.is_file()]
    return [text for text in texts if "\ufffd" not in text]


def _shared(name: str) -> list[str]:
    file = SHARED / name
    if not file.exists():
        pytest.skip(f"there is no {file}")
    lines = file.read_text(encoding="utf-8").splitlines()
    return [" ".join(map(str, json.loads(line).values())) for line in lines[:2_000]]


SAMPLES = {
    "prose": lambda: [ENGLISH],
    "chinese": lambda: [CHINESE],
    "patterns": lambda: [PATTERNS],
    "tables": _tables,
    "emoji": _emoji,
    "examples": lambda: _files(
        *(f"examples/docs/*.{kind}" for kind in ("md", "txt", "csv", "html"))
    ),
    "sources": lambda: _files("memory/**/*.py", "retrieval/*.py", "nodes/**/*.py", "storage/*.py"),
    "settings": lambda: _files("*.toml", "config/*", "*.txt", "*.json", "Makefile", ".ci/*"),
    "papers": lambda: _files("*.md", "docs/**/*.md", "prompts/*.md"),
    "English encyclopedia": lambda: _shared("hotpotqa/corpus.jsonl"),
    "simplified Chinese": lambda: _shared("cmrc2018/corpus.jsonl"),
    "traditional Chinese": lambda: _shared("drcd/corpus.jsonl"),
}


def _parts(text: str) -> list[str]:
    """Cut a text into parts, so that no good part makes up for a bad one."""
    size = 2 * FEWEST
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return [part for part in parts if len(part) >= FEWEST]


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What was loaded and counted before the test is forgotten, and again behind it."""
    caches = (tokens._load_encoding, tokens._short, tokens._long)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every try to look up or reach anything, even this machine; each of them fails."""
    tries: list[Any] = []

    def refuse(*arguments: Any, **_: Any) -> Any:
        tries.append(arguments)
        raise OSError("no network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tries


@pytest.fixture
def nothing(forgetful: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the vocabulary, where there is none."""
    del forgetful
    folder = tmp_path / "vocabularies"
    folder.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return vocabulary_file()


@pytest.fixture
def known() -> tiktoken.Encoding:
    """The encoding, on machines that have its vocabulary."""
    encoding = tokens._encoding()
    if encoding is None:
        pytest.skip(
            f"there is no {vocabulary_file()}: set TIKTOKEN_CACHE_DIR to measure the estimate"
        )
    return encoding


def test_threads_that_count_at_once_load_the_vocabulary_once(
    forgetful: None, monkeypatch: pytest.MonkeyPatch
):
    del forgetful
    loads: list[Path] = []

    def read(file: Path) -> bytes:
        loads.append(file)
        time.sleep(0.05)
        return b""

    monkeypatch.setattr(tokens, "_read", read)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count_tokens, ["one", "two", "three", "four"]))

    assert len(loads) == 1


@pytest.mark.parametrize("text", ODD)
def test_any_text_is_counted(text: str):
    assert count_tokens(text) >= bool(text)


@pytest.mark.parametrize(
    "text", ["Bees dance at noon. ", "蜜蜂在中午跳舞。", "x1 = f(y);\n", "\t \n"]
)
def test_a_long_text_is_estimated_in_parts_as_it_is_in_whole(
    monkeypatch: pytest.MonkeyPatch, text: str
):
    in_parts = estimate_tokens(text * 5_000)
    monkeypatch.setattr("text.tokens.PART", 10**9)

    assert in_parts == pytest.approx(estimate_tokens(text * 5_000), rel=0.001)


def test_no_more_than_a_part_of_a_long_text_is_read_at_a_time():
    parts = list(estimated_parts("Bees dance at noon. " * 5_000 + "x" * 50_000))

    assert max(map(len, parts)) <= PART
    assert "".join(parts) == "Bees dance at noon. " * 5_000 + "x" * 50_000


@pytest.mark.parametrize("text", ODD)
def test_any_text_is_estimated(nothing: Path, text: str):
    del nothing
    assert count_tokens(text) == estimate_tokens(text) >= bool(text)


@pytest.mark.parametrize("letter", [" ", "\n", "a", "中", "0", "🐝", "^"])
def test_a_text_without_end_is_counted(letter: str):
    most = 300_000
    started = time.process_time()

    assert count_tokens(letter * most) > most / 500
    assert estimate_tokens(letter * most) > most / 500
    assert time.process_time() - started < 30


def test_a_million_spaces_are_counted(known: tiktoken.Encoding):
    del known
    assert 1_000 < count_tokens(" " * 1_000_000) < 100_000


def test_without_a_vocabulary_nobody_is_asked_for_it(nothing: Path, offline: list[Any]):
    assert not is_count_exact()
    assert count_tokens("Bees dance.") == estimate_tokens("Bees dance.")
    assert not nothing.exists()
    assert offline == []


@pytest.mark.parametrize("data", [b"", b"Zm9v 1\n", b"\x00" * 3_613_922])
def test_a_file_that_is_no_vocabulary_is_left_alone(nothing: Path, offline: list[Any], data: bytes):
    nothing.write_bytes(data)

    assert not is_count_exact()
    assert count_tokens("Bees dance.") == estimate_tokens("Bees dance.")
    assert nothing.read_bytes() == data
    assert offline == []


def test_a_folder_in_the_place_of_the_vocabulary_is_none(nothing: Path, offline: list[Any]):
    nothing.mkdir()

    assert not is_count_exact()
    assert offline == []


async def test_a_whole_call_without_a_vocabulary_asks_nobody_for_it(
    nothing: Path, offline: list[Any], script: Any
):
    script.on("Bee", {"title": "Maya"})
    script.on("reporter", "Bees dance.")

    assert await asked() == "Maya"
    assert (await written()).text == "Bees dance."
    assert not os.listdir(nothing.parent)
    assert offline == []


def test_the_vocabulary_is_looked_for_where_the_variable_says(
    known: tiktoken.Encoding, nothing: Path, offline: list[Any]
):
    text = "Bees dance in the summer."
    shutil.copy(HERE, nothing)

    assert is_count_exact()
    assert count_tokens(text) == len(known.encode_ordinary(text))
    assert offline == []


async def test_the_doctor_says_that_counts_are_estimated_and_which_file_is_missing(nothing: Path):
    said = await doctor._tokens()

    assert said.startswith("estimated")
    assert str(nothing) in said


async def test_a_call_that_was_counted_by_estimate_says_so(
    nothing: Path, script: Any, database: None
):
    del nothing, database
    script.on("Bee", AIMessage('{"title": "Maya"}', response_metadata={"finish_reason": "stop"}))
    script.on("reporter", "Bees dance.")

    await asked()
    await written()

    counted, told = await read_trace("t1-1")
    assert counted["estimated"] is True
    assert "estimated" not in told
    made = await list_attempts("t1-1")
    assert runs._sums(made, [counted, told], {}).startswith("2 model calls, ~")


def test_what_a_run_spent_is_shown_beside_what_was_estimated_and_reserved():
    used = {"kind": "model", "status": "ok", "tokens_in": 10, "tokens_out": 5}
    calls = [
        {**used, "dollars": 0.1, "estimate": 0.2, "reserved": 0.2},
        {**used, "dollars": 0.05, "estimate": 0.25, "reserved": 0.45},
        {**used, "status": "budget_spent", "dollars": 0.0, "estimate": 0.3, "reserved": 0.0},
    ]

    made = [attempt(0.1, "ok"), attempt(0.05, "answer_empty")]
    told = runs._sums(made, calls, {"max_cost": 0.4})

    assert told.startswith("2 model calls, 20 tokens read, 10 written, $0.1500 of $0.4 spent")
    assert "estimated at most $0.4500; reserved at once at most $0.4500" in told


def attempt(cost: float, status: str) -> Attempt:
    return Attempt("a", "planner", "", "one", "a:b", status, 10, 5, cost, 1.0, 2.0)


def test_a_call_that_never_ended_is_told_and_counted_as_the_worst():
    told = runs._sums([attempt(0.1, "ok"), attempt(0.3, OPEN_STATUS)], [], {})

    assert "~20 tokens read, ~10 written, $0.4000 of $0.5 spent" in told
    assert told.endswith("\n1 call with an unknown end, counted with the maximum")


def _directions(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "AGENTS.md").write_text("Use metric units.")


async def test_what_a_run_was_told_is_said_to_be_estimated_too(
    nothing: Path, script: Any, home: Path, database: None
):
    del nothing, database
    _directions(home)
    script.on("reporter", "Bees dance.")
    await written()

    told = await explain_recall("local/", "t1-1")
    assert (told.calls, told.estimated) == (1, True)
    assert "with about " in memory_items.summarize_recalled_notes(told)


def test_the_encoding_is_the_one_of_tiktoken(known: tiktoken.Encoding):
    # tiktoken finds the same file, which is as it should be: nothing is fetched.
    theirs = tiktoken.get_encoding(tokens.ENCODING)

    assert known._pat_str == theirs._pat_str
    assert known.token_byte_values() == theirs.token_byte_values()


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_estimate_is_never_far_under_the_truth(kind: str, known: tiktoken.Encoding):
    parts = [part for text in SAMPLES[kind]() for part in _parts(text)]
    assert parts, f"there are no samples of {kind}"

    worst = min(parts, key=lambda part: estimate_tokens(part) / len(known.encode_ordinary(part)))

    assert estimate_tokens(worst) >= 0.85 * len(known.encode_ordinary(worst)), worst


@pytest.mark.parametrize("kind", ["prose", "chinese", "tables", "sources"])
def test_an_estimate_is_not_far_over_the_truth_either(kind: str, known: tiktoken.Encoding):
    parts = [part for text in SAMPLES[kind]() for part in _parts(text)]

    right = sum(len(known.encode_ordinary(part)) for part in parts)
    assert sum(map(estimate_tokens, parts)) <= 1.3 * right


def test_what_has_few_bytes_fits_without_the_vocabulary(monkeypatch: pytest.MonkeyPatch):
    def refuse() -> None:
        raise AssertionError("the vocabulary is loaded")

    monkeypatch.setattr(tokens, "_encoding", refuse)

    assert bytes_fit(["bees", "蜂"], 7)
    assert not bytes_fit(["bees", "蜂"], 6)
    assert bytes_fit(["\ud800"], 3)
