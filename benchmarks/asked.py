"""Ask questions of many kinds through the command line, and say how each was answered.

Run `python -m benchmarks.asked --documents FOLDER --out FILE`; the folder has documents of the
Debian packages bash-doc, debian-faq, debian-policy, debian-reference-en, debian-reference-zh-cn,
git-doc and sqlite3-doc. Two tables and a few notes about a person are made for the run. Each line
of `asked.jsonl` is a question with words that a right answer has, and none where there is no
answer. The words only sort the replies: whether one is right is for a reader of the file to say.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.extractive import read_lines

QUESTIONS = Path(__file__).with_name("asked.jsonl")
SHIPS = """name,port,built,tonnes,crew
Halcyon,Bergen,1987,4200,31
Marigold,Bergen,1994,1850,12
Northern Light,Hull,2003,6100,28
Petrel,Hull,1979,900,7
Saltire,Leith,2011,7350,24
Tern,Leith,1998,1200,9
Vesper,Cork,1991,2600,15
Wayfarer,Cork,2008,5400,22
"""
BOOKS = """书名,作者,年份,页数,价格
山中来信,林秋,1998,212,38
河流之上,周远,2005,340,52
旧城的雨,林秋,2011,276,45
北方的灯,韩雪,1987,198,29
海边的钟,周远,2019,420,68
"""
NOTES = (
    "My name is Tove Lind and I work as a beekeeper in Tromsø.",
    "I prefer short answers with examples.",
    "我最喜欢的编程语言是 Rust。",
)


def main() -> None:
    """Ask every question, write each reply to a file, and print how many came out how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, chosen.out.open("w", encoding="utf-8") as file:
        folder = _made(Path(home), chosen.documents)
        told: Counter[str] = Counter()
        for one in read_lines(chosen.questions):
            reply = _asked(one["text"], folder, Path(home))
            one |= {"outcome": _outcome(one["words"], reply), **reply}
            told[one["outcome"]] += 1
            print(json.dumps(one, ensure_ascii=False), file=file, flush=True)
    print("\n".join(f"{count:3} {name}" for name, count in told.most_common()))


def _outcome(wanted: Sequence[str], reply: Mapping[str, Any]) -> str:
    """Return what came of a question, as far as words tell."""
    called = reply["status"] == "succeeded"
    has = any(one.lower() in str(reply["answer"]).lower() for one in wanted)
    if called:
        return "answered, words there" if has else "answered, words missing"
    return "not called an answer, words there" if has else "not called an answer"


def _made(home: Path, documents: Path) -> Path:
    """Lay tables beside the documents and take notes about a person; return the folder."""
    folder = home / "docs"
    folder.mkdir()
    shutil.copytree(documents, folder / "manuals")
    (folder / "ships.csv").write_text(SHIPS, encoding="utf-8")
    (folder / "books.csv").write_text(BOOKS, encoding="utf-8")
    for note in NOTES:
        _run(home, "memory", "add", note)
    return folder


def _asked(question: str, folder: Path, home: Path) -> dict[str, Any]:
    done = _run(home, "ask", question, "--docs", str(folder), "--yes", "--json")
    last = (done.stdout.strip().splitlines() or [""])[-1]
    try:
        told = json.loads(last)
    except ValueError:
        told = {}
    return {
        "status": told.get("status", f"exit {done.returncode}"),
        "answer": told.get("answer") or done.stderr[-400:],
    }


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
    kept |= {"DOSSIER_HOME": str(home / "home"), "DOSSIER_MODEL": ""}
    command = [str(Path(sys.executable).with_name("dossier")), *arguments]
    return subprocess.run(  # noqa: S603
        command, env=kept, cwd=home, capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    main()
