"""Write pages and their vectors in a process of its own, as another process tells it.

Each line of standard input is a JSON object: `{"keep": [texts]}` keeps pages, `{"work": true}` does
what is due of their vectors. Each is answered by a line: the ids, or how many pages there were.
While it works, it writes a line with a full stop after every batch.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from memory.pages.store import NewPage, keep
from memory.pages.worker import keep_up
from retrieval import vector

OWNER, KIND = "me/", "web"


class Writer:
    """Another process over the same pages, for as long as a `with` block lasts.

    Args:
        home: The data directory.
        exact: How many vectors are searched without a collection.
        embedder: What makes the vectors.
    """

    def __init__(self, home: Path, exact: int, embedder: str = "hashing") -> None:
        root = Path(__file__).parents[1]
        env = {**os.environ, "DOSSIER_HOME": str(home), "DOSSIER_EMBEDDINGS": embedder}
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "evals.vector_work", "--exact", str(exact)],
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
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """Return the next line: an answer, or a full stop; empty when the process has ended."""
        assert self._process.stdout is not None  # noqa: S101
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


async def write(texts: list[str]) -> list[str]:
    """Keep each text as a page; return the ids."""
    new = [NewPage(title="", place="", text=text) for text in texts]
    return await keep(OWNER, KIND, texts[0], new)


async def obey(order: dict[str, Any]) -> Any:
    """Do what an order says and return the answer."""
    if "keep" in order:
        return await write(order["keep"])
    return (await keep_up(lambda _: print(".", flush=True))).pages


async def main() -> None:
    """Obey until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exact", type=int, default=vector.EXACT)
    vector.EXACT = parser.parse_args().exact
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
