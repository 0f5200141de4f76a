"""Patterns in files beside the modules that use them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from tests.cases import each_case
from text import pattern_files
from text.pattern_files import PatternFile, read_packaged_text
from tools.tables.mentions import OPERATIONS, VOCABULARY

ROOT = Path(__file__).parents[2]
USE = re.compile(r'PatternFile\("([\w.]+)", "(\w+)\.toml"[,)]')
METHODS = {"any_found", "get", "get_rows", "get_text", "get_words"}
FILES = sorted(
    file
    for room in ("memory", "models", "report", "text", "tools")
    for file in (ROOT / room).rglob("*.py")
    if USE.search(file.read_text("utf-8"))
)


@pytest.fixture
def bees(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], PatternFile]:
    def written(toml: str) -> PatternFile:
        monkeypatch.setattr(pattern_files, "read_packaged_text", lambda *_: toml)
        return PatternFile("text", "bees.toml")

    return written


def test_the_lines_of_a_pattern_are_joined(bees: Callable[[str], PatternFile]):
    patterns = bees("bee = '''\n(?i)\nhoney\n bee|wasp'''")

    assert patterns.bee.fullmatch("Honey bee")
    assert patterns.bee.fullmatch("WASP")


def test_a_pattern_has_other_patterns_as_parts(bees: Callable[[str], PatternFile]):
    patterns = bees("kind = '(?:honey|carpenter)'\nbee = '{kind} bees{0,1}'\nzh = '^[{HAN}]+$'")

    assert patterns.bee.fullmatch("carpenter bee")
    assert patterns.get_text("bee") == "(?:honey|carpenter) bees{0,1}"
    assert patterns.zh.search("蜜蜂")


def test_one_of_several_patterns_is_found(bees: Callable[[str], PatternFile]):
    patterns = bees("bee = 'bee'\nwasp = 'wasp'")

    assert patterns.any_found("a wasp", "bee", "wasp")
    assert not patterns.any_found("a fly", "bee", "wasp")


def test_a_file_is_read_when_a_pattern_is_used(monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []

    def reading(package: str, name: str) -> str:
        read.append(name)
        return read_packaged_text(package, name)

    monkeypatch.setattr(pattern_files, "read_packaged_text", reading)
    patterns = PatternFile("report.checks", "claims.toml")

    assert read == []
    assert patterns.hedged.search("perhaps")
    assert patterns.hedged.search("maybe, or possibly")
    assert read == ["claims.toml"]


@each_case(FILES)
def test_a_module_uses_the_patterns_of_its_file_and_no_others(file: Path):
    code = file.read_text("utf-8")
    package, name = USE.findall(code)[0]
    beside = file.with_suffix(".toml").read_text("utf-8")
    known = tomllib.loads(beside).keys()
    named = set(re.findall(r"_PATTERNS\.(\w+)", code)) - METHODS
    given = re.findall(r"PatternFile\(([^)]*)", code)[0]
    parts = set(re.findall(r"\{([a-z]\w*)\}", beside)) - set(re.findall(r"(\w+)=", given))
    # A name may be made of a word and an ending, such as "date" and "_asked".
    words = set(re.findall(r'"(\w+)"', code))
    made = {
        f"{word}{end}"
        for word in words
        for end in ("", "_asked", "_given", "_likely", "_list", "_mark", "_said", "_sure")
    }

    assert (ROOT / package.replace(".", "/") / f"{name}.toml").samefile(file.with_suffix(".toml"))
    assert named | parts <= known
    assert known - named - parts - made == set()


@each_case(FILES)
def test_every_pattern_that_a_module_names_compiles(file: Path):
    module = import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    named = set(re.findall(r"_PATTERNS\.(\w+)", file.read_text("utf-8"))) - METHODS

    for name in named:
        assert isinstance(module._PATTERNS.get(name), re.Pattern)


def test_the_modules_about_tables_use_the_patterns_of_their_vocabulary_and_no_others():
    folder = ROOT / "tools" / "tables"
    code = "\n".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    beside = (folder / "vocabulary.toml").read_text("utf-8")
    words = set(re.findall(r'"(\w+)"', code))
    named = set(re.findall(r"VOCABULARY\.(\w+)", code)) - METHODS
    parts = set(re.findall(r"\{([a-z]\w*)\}", beside))
    made = {f"{kind}_{end}" for kind in ("filled", "empty") for end in ("before", "after")}
    made |= {f"text_{sign}" for sign in ("starts", "ends", "contains")}
    known = tomllib.loads(beside).keys()

    assert named | parts | made | set(OPERATIONS) <= known
    assert known - named - parts - made - words == set()
    for name in known - parts - {"fillers", "synonyms", "translations", "superlative_hints"}:
        assert isinstance(VOCABULARY.get(name), re.Pattern)


def test_a_list_has_the_words_between_its_spaces(bees: Callable[[str], PatternFile]):
    patterns = bees("bees = '''\nhoney carpenter\nmason'''")

    assert patterns.get_words("bees") == {"honey", "carpenter", "mason"}


def test_a_table_has_the_words_of_each_line(bees: Callable[[str], PatternFile]):
    patterns = bees("bees = '''\nhoney carpenter\nmason'''")

    assert patterns.get_rows("bees") == [["honey", "carpenter"], ["mason"]]


def test_a_module_may_give_parts_of_patterns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pattern_files, "read_packaged_text", lambda *_: "bees = '{bee}s'")

    assert PatternFile("text", "bees.toml", bee="wasp").bees.fullmatch("wasps")
