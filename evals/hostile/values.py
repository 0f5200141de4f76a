"""Values of every wrong kind: words, stored values and lines of traces."""

from __future__ import annotations

import os
from typing import Any

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

FORGED: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63 - 1,
    1.5e308,
    float("nan"),
    "",
    "x" * 10_000,
    "\x00\u202e",
    b"\xff",
    [],
    [None],
    [[[[1]]]],
    {},
    {"": None},
    {"id": 1, "steps": "none", "title": []},
)
"""What is put in the place of a value of a checkpoint."""

LINES: tuple[Any, ...] = (
    *FORGED[:9],
    *FORGED[10:],
    {"kind": 1},
    {"kind": "model", "role": "a", "step": "", "status": "ok", "at": "x"},
)
"""What stands on a line of a trace, and in the place of each of its fields."""
