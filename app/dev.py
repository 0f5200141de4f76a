"""Start LangGraph's development server, which would look for modules in the current folder.

The folder may be a stranger's, and a file in it may bear the name of a package that some library
looks for and does without.
"""

from __future__ import annotations

import os
import sys
from typing import Any


class Elsewhere(list[str]):
    """Where modules are looked for: anywhere but in one folder, which is never added."""

    def __init__(self, folders: list[str], without: str) -> None:
        self.without = os.path.realpath(without)
        super().__init__(one for one in folders if self._is_other(one))

    def append(self, folder: str, /) -> None:
        """Add a folder, unless it is the one."""
        if self._is_other(folder):
            super().append(folder)

    def insert(self, at: Any, folder: str, /) -> None:
        """Put a folder before others, unless it is the one."""
        if self._is_other(folder):
            super().insert(at, folder)

    def _is_other(self, folder: str) -> bool:
        return os.path.realpath(folder) != self.without


def main() -> None:
    """Run the server's own command line."""
    from langgraph_cli.cli import cli  # noqa: PLC0415 - first the path, then what is looked for there

    cli()


if __name__ == "__main__":
    sys.path = Elsewhere(sys.path, os.getcwd())
    main()
