import io
import sys

import pytest
from rich.console import Console
from rich.table import Column
from rich.text import Text

from app.cli.runner import WholeMarkdown
from app.cli.table import make_table, print_renderables

QUESTION = "How do the two papers disagree about forgetting?"


@pytest.fixture
def rows():
    rows = make_table("run", "status", Column("question"))
    rows.add_row("20260112-abcdef-1", "insufficient_evidence", cut(QUESTION))
    rows.add_row("bees-1", "failed", cut("Why?"))
    return rows


def cut(text):
    return Text(text, no_wrap=True, overflow="ellipsis")


def test_without_a_terminal_a_row_is_one_line_that_ends_with_its_last_word(rows, capsys):
    print_renderables(rows, "2 runs")

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", "20260112-abcdef-1", "bees-1", "2"]
    assert lines[1].endswith(QUESTION)
    assert not any(line.endswith(" ") for line in lines)


def test_on_a_narrow_terminal_names_are_whole_and_the_rest_is_cut(rows, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")

    print_renderables(rows)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "20260112-abcdef-1  insufficient_evidence" in lines[1]
    assert lines[1].endswith("…")
    assert all(len(line) <= 60 for line in lines[1:])


def test_a_cell_of_a_report_in_chinese_is_shown_whole():
    cell = "为零时总是返回被测进程的返回值；非零时返回所给的值，除非被测进程自己已经失败"
    console = Console(file=io.StringIO(), width=40)

    console.print(WholeMarkdown(f"| 选项 | 作用 |\n|---|---|\n| error-exitcode | {cell} |\n"))

    shown = console.file.getvalue()
    assert "…" not in shown
    assert set(cell) <= set(shown)
