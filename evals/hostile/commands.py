"""Hostile words, settings and streams for every command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import typer

from config.settings import PREFIX, Settings
from evals.damage import COMMANDS, QUESTION
from evals.forks import program
from evals.hostile.trial import Trial, unspoilt
from evals.hostile.values import VALUES

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


def of_words() -> Iterator[Trial]:
    """Give every argument and every option of every command every value."""
    for name, command in _commands(typer.main.get_command(program().app)):
        usual = USUAL.get(name, [])
        for at in range(len([one for one in usual if not one.startswith("--")])):
            for value in VALUES:
                words = [*name.split(), *usual[:at], value, *usual[at + 1 :]]
                yield Trial(f"{name} #{at}", words, unspoilt, {})
        for option in command.params:
            for value in VALUES if not getattr(option, "is_flag", True) else ():
                words = [*name.split(), *usual, option.opts[0], value]
                yield Trial(f"{name} {option.opts[0]}", words, unspoilt, {})


def _commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if path and not below and path not in LEFT_OUT:
        yield path, command
    for name, one in below.items():
        yield from _commands(one, f"{path} {name}".strip())


def of_settings() -> Iterator[Trial]:
    """Give every setting every value."""
    for one in fields(Settings):
        name = PREFIX + one.name.upper()
        for value in VALUES:
            if one.name != "home" and len(value) < 10_000:
                for command in ("runs", "search"):
                    yield Trial(name, COMMANDS[command], unspoilt, {name: value})


def of_streams() -> Iterator[Trial]:
    """Close the streams of every command, or let them be full."""
    for words in (*COMMANDS.values(), ["memory", "export"], ["ask", "-"], ["pages", "list"]):
        for closed in ("0", "1", "2", "01", "02", "12", "012", "full"):
            for more in ([], ["--json"]):
                yield Trial(f"streams {closed}", [*words, *more], unspoilt, {}, closed)
