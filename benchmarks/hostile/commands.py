"""Give every command hostile words, settings and streams."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import typer

from benchmarks.damage import COMMANDS, QUESTION
from benchmarks.forks import load_program
from benchmarks.hostile.homes import Trial, restore_home
from config.settings import ENV_PREFIX, Settings

VALUES = (
    "",
    " ",
    "-",
    "--",
    "-1",
    "0",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    str(2**31),
    str(2**63),
    "9" * 5_000,
    "\u0663",
    "\u200b\u200d",
    "\u3164",
    "a\u0000b".replace("\u0000", "\x01"),
    "\x1b[2J\x1b]0;x\x07",
    "\u202etxt.exe",
    os.fsdecode(b"\xff\xfe"),
    "\U0001f41d" * 40,
    "x" * 100_000,
    "a\nb",
    "%s%n{}{0}",
    "'; DROP TABLE runs; --",
    "../../../../etc/passwd",
    "/",
    ".",
    "bees",
    "bees/dance.md",
    "bees/dance.md/below",
    "nowhere/at/all",
    "empty",
    "zeros",
    "loop",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/urandom",
    "name=value",
    "max_steps=" + "9" * 400,
    "max_cost=nan",
    '{"a": ' * 2_000,
)
"""What is given in the place of every argument and option."""

USUAL: dict[str, list[str]] = {
    "ask": [QUESTION],
    "resume": ["waits-1"],
    "feedback": ["over-1", "up"],
    "runs show": ["over-1"],
    "ingest": ["bees"],
    "search": ["waggle dance"],
    "recall": [QUESTION],
    "pages show": ["f23a9f3a8e44dda121b4234e"],
    "pages search": ["waggle"],
    "pages remove": ["f23a9f3a8e44dda121b4234e"],
    "pages forget": ["f23a9f3a8e44dda121b4234e", "--dry-run"],
    "memory show": ["profile"],
    "memory search": ["bees"],
    "memory add": ["Keeps bees in Oslo"],
    "memory edit": ["1f0c9a2b", "Keeps goats"],
    "memory forget": ["1f0c9a2b", "--dry-run"],
    "memory why": ["over-1"],
    "memory diff": ["1"],
    "memory undo": ["1"],
    "memory export": ["out.json"],
    "memory import": ["words.json"],
    "memory import-runs": ["words.json"],
    "memory approve": ["3c1d"],
    "memory reject": ["3c1d"],
    "settings import": ["words.env"],
    "trust": ["bees"],
    "eval retrieval": ["--corpus", "words.json", "--queries", "words.json"],
    "eval locomo": ["words.json"],
}
"""The arguments that a command needs."""

LEFT_OUT = ("serve",)
"""What becomes another program."""


def word_trials() -> Iterator[Trial]:
    """Give every argument and every option of every command every value."""
    for name, command in _commands(typer.main.get_command(load_program().app)):
        usual = USUAL.get(name, [])
        for at in range(len([one for one in usual if not one.startswith("--")])):
            for value in VALUES:
                words = [*name.split(), *usual[:at], value, *usual[at + 1 :]]
                yield Trial(f"{name} #{at}", words, restore_home, {})
        for option in command.params:
            for value in VALUES if not getattr(option, "is_flag", True) else ():
                words = [*name.split(), *usual, option.opts[0], value]
                yield Trial(f"{name} {option.opts[0]}", words, restore_home, {})


def _commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if path and not below and path not in LEFT_OUT:
        yield path, command
    for name, one in below.items():
        yield from _commands(one, f"{path} {name}".strip())


def setting_trials() -> Iterator[Trial]:
    """Give every setting every value."""
    for one in fields(Settings):
        name = ENV_PREFIX + one.name.upper()
        for value in VALUES:
            if one.name != "home" and len(value) < 10_000:
                for command in ("runs", "search"):
                    yield Trial(name, COMMANDS[command], restore_home, {name: value})


def stream_trials() -> Iterator[Trial]:
    """Close the streams of every command, or let them be full."""
    for words in (*COMMANDS.values(), ["memory", "export"], ["ask", "-"], ["pages", "list"]):
        for closed in ("0", "1", "2", "01", "02", "12", "012", "full"):
            for more in ([], ["--json"]):
                yield Trial(f"streams {closed}", [*words, *more], restore_home, {}, closed)
