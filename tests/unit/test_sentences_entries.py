import pytest

from text.sentences import is_entry, is_heading, parse_section, parse_setting, split_sentences


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("port = 8443", "port", "8443"),
        ("  port: 8443", "port", "8443"),
        ('"port": 8443,', "port", "8443,"),
        ("MAX_ITEMS=512", "MAX_ITEMS", "512"),
        ("- name: build", "name", "build"),
        ("export PATH=/usr/bin", "PATH", "/usr/bin"),
        ("timeout: int = 30", "timeout", "30"),
        ("端口：8443", "端口", "8443"),
    ],
)
def test_a_line_with_a_key_and_a_value_is_a_setting(line, key, value):
    assert parse_setting(line) == (key, value)
    assert is_entry(line)
    assert not is_heading(line)


@pytest.mark.parametrize(
    "line",
    [
        "Chapter 1: What von Frisch saw",
        "Abstract: This review argues that memories which are not used lose strength with time",
        "The waggle dance",
        "Bees dance.",
        "class struggle in the hive",
        "if a == b then c",
    ],
)
def test_prose_and_headings_are_no_settings(line):
    assert parse_setting(line) is None
    assert not is_entry(line)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("[server]", "server"),
        ("[[tool.mypy.overrides]]", "tool.mypy.overrides"),
        ("queue:", "queue"),
        ('"engines": {', "engines"),
        ("server {", "server"),
        ("def batch_size(memory: int) -> int:", "batch_size"),
        ("class Limits(Model):", "Limits"),
        ("Please remember:", ""),
        ("port = 8443", ""),
    ],
)
def test_a_line_may_open_a_section(line, name):
    assert parse_section(line) == name
    assert bool(name) == (is_heading(line) and is_entry(line))


def test_lines_of_a_log_and_of_a_program_are_no_headings():
    lines = ["2024-05-01 12:00:03 INFO listening on 0.0.0.0:8443", "return min(ITEMS, memory)"]

    assert [sentence.text for sentence in split_sentences("\n".join(lines))] == lines
    assert not any(map(is_heading, lines))
