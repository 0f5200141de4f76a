"""Write vectors in a process of its own: `python -m tests.integration.vector_writer EXACT`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from library import query_vectors
from library.page_rows import NewPage
from library.store import store_pages
from library.vector_upkeep import update_vectors

OWNER, KIND = "me/", "web"


class VectorWriter:
    """Another process over the same pages, for as long as a `with` block lasts.

    Args:
        home: The data directory.
        exact: How many vectors are searched without a collection.
    """

    def __init__(self, home: Path, exact: int) -> None:
        root = Path(__file__).parents[2]
        env = {**os.environ, "DOSSIER_HOME": str(home), "DOSSIER_EMBEDDINGS": "hashing"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.vector_writer", str(exact)],
            cwd=root,
            env=env | {"PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()

    def tell(self, **order: Any) -> None:
        """Send an order without waiting for the answer."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """Return the next line: an answer, or a full stop; empty when the process has ended."""
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def answer(self) -> Any:
        """Wait for the answer to the oldest order that has none."""
        line = self.line()
        while line == ".":
            line = self.line()
        return json.loads(line)

    def do(self, **order: Any) -> Any:
        """Send an order and return its answer."""
        self.tell(**order)
        return self.answer()

    def kill(self) -> None:
        """End the process as the kernel does when memory is out."""
        self._process.kill()
        self._process.communicate()


async def _write(texts: list[str]) -> list[str]:
    """Keep each text as a page; return the ids."""
    new = [NewPage(title="", place="", text=text) for text in texts]
    return await store_pages(OWNER, KIND, texts[0], new)


async def _obey(order: dict[str, Any]) -> Any:
    """Do what an order says and return the answer."""
    if "keep" in order:
        return await _write(order["keep"])
    return (await update_vectors(lambda _: print(".", flush=True))).pages


async def _main() -> None:
    """Obey until the input ends."""
    query_vectors.EXACT = int(sys.argv[1])
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await _obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(_main())
