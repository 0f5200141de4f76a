"""Start the command, and import what it needs without looking for garbage in it."""

from __future__ import annotations

import gc
import importlib
import os
from types import ModuleType


def main() -> None:
    """Run the command line."""
    # For its plugins, pydantic reads a file of every package that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    imported("app.cli.main").main()


def imported(name: str) -> ModuleType:
    """Import a module while the garbage collector rests, and keep it from the collector for good.

    A module lives until the end, so looking through it is in vain: while it is imported, at every
    collection after that, and once more when Python ends.
    """
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()
