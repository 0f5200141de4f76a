"""dossier doctor: check this installation."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from rich.table import Column, Table
from rich.text import Text

from app.cli.ask import LONG, OWN
from app.cli.folders import ignored
from app.cli.output import one_line, print_json
from app.cli.table import show
from config import environment, packages
from config.errors import Problem
from config.models import ROLES
from config.settings import settings
from graph.context import Context
from memory.experience.checking import dangling
from memory.files.reading import above
from models.embeddings import embedder, paid
from models.load import has_key, model_name, playing, without_price
from models.offered import check_server
from retrieval.tokens import ENCODING, exact, vocabulary
from runs.place import owned
from storage.engine import close, database
from storage.private import is_read_only, open_to_others, secure
from tools.search import available

PACKAGES = ("langgraph", "langchain", "langchain-openai", "langgraph-checkpoint-sqlite", "chromadb")


def main(*, as_json: bool) -> int:
    """Print every check; return 0 if all are well, else 7."""
    rows = asyncio.run(_checks())
    if as_json:
        print_json([{"check": name, "ok": ok, "says": says} for name, ok, says in rows])
    else:
        shown = Table.grid(Column(no_wrap=True), Column(no_wrap=True), padding=(0, 2))
        for name, ok, says in rows:
            mark = "[green]ok[/green]" if ok else "[bold red]MEND[/bold red]"
            shown.add_row(mark, name, Text(one_line(says), overflow="fold"))
        show(shown)
    return 0 if all(ok for _, ok, _ in rows) else 7


async def _checks() -> list[tuple[str, bool, str]]:
    checks: dict[str, Callable[[], Awaitable[str]]] = {
        "packages": _packages,
        "versions": _versions,
        "settings": _settings,
        "tracing": _tracing,
        "storage": _storage,
        "privacy": _privacy,
        "experience": _experience,
        "instructions": _instructions,
        "strict checkpoints": _strict,
        "models": _models,
        "embeddings": _embeddings,
        "web search": _search,
        "token counts": _tokens,
        "sandbox": _sandbox,
    }
    rows = []
    for name, check in checks.items():
        try:
            rows.append((name, True, await check()))
        except Problem as problem:
            rows.append((name, False, str(problem)))
    await close()
    return rows


async def _packages() -> str:
    packages.check()
    return f"all {len(packages.required())} that are needed are installed"


async def _versions() -> str:
    python = ".".join(str(part) for part in sys.version_info[:3])
    named = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"python {python}, sqlite {sqlite3.sqlite_version}, {named}"


async def _settings() -> str:
    own = environment.own_file()
    read = "read" if await asyncio.to_thread(os.path.isfile, own) else "not there"
    left = await asyncio.to_thread(environment.of_folder)
    told = f"{own} is {read}"
    return f"{told}; {ignored(left)}" if left else told


async def _tracing() -> str:
    if environment.traced():
        return "every run is sent to LangSmith, as the environment or your settings say"
    return "runs are not sent to LangSmith"


async def _storage() -> str:
    engine = await database()
    told = engine.url.render_as_string(hide_password=True)
    file = Path(engine.url.database or "")
    if engine.dialect.name == "sqlite" and await asyncio.to_thread(is_read_only, file):
        return f"{told} (read-only: no questions can be asked and nothing is learnt)"
    return told


def _open(left: Sequence[Path]) -> tuple[str, str]:
    """Return what others may read, and what can be done about it."""
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    first, place = left[0].resolve(), settings().home
    led = "" if left[0] == first else f", which is a link to {first}"
    where = first if led else place
    hint = f"chmod -R go= {where}, as its owner, on a file system with permissions"
    return f"others may read {left[0]}{led}{more}", hint


async def _privacy() -> str:
    await asyncio.to_thread(secure, again=True)
    left = await asyncio.to_thread(open_to_others)
    if left:
        what, hint = await asyncio.to_thread(_open, left)
        raise Problem("home_not_private", what, hint=hint)
    return f"nobody else reads {settings().home}"


async def _instructions() -> str:
    long = await above(owned(settings().user, ""), OWN)
    told = [f"{path} {LONG.format(tokens=tokens)}" for path, tokens in long]
    return "; ".join(told) or f"AGENTS.md fits into the {OWN:,} tokens that it has in each call"


async def _experience() -> str:
    wrong = await dangling()
    if wrong:
        what = ", ".join(f"{count} of {name}" for name, count in wrong.items())
        hint = "restore the database from a backup"
        raise Problem("storage_corrupt", f"edges lead nowhere: {what}", hint=hint)
    return "every edge has both its ends"


async def _strict() -> str:
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    forged = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(["os", "getpid", []])))
    if serde.loads_typed(("msgpack", forged)) == os.getpid():
        raise Problem("checkpoints_unsafe", "a forged checkpoint can run code")
    return "a forged checkpoint cannot run code"


async def _models() -> str:
    names = {role: model_name(role, Context()) for role in ROLES}
    if any(name.startswith("openai:") and has_key(name) for name in names.values()):
        await check_server()
    playing_now = [
        str(((await playing(role, Context())).metadata or {})["model"]) for role in names
    ]
    told = ", ".join(dict.fromkeys(playing_now))
    if unknown := without_price([*playing_now, *paid()]):
        listed = ", ".join(unknown)
        price = f"no price is known for {listed}: max_cost cannot be enforced; add it to [prices]"
        return f"{told}; {price}"
    return f"{told} (no key is set)" if told == "extractive:" else told


async def _embeddings() -> str:
    made = await asyncio.to_thread(embedder)
    return made.name if made else "none: pages are found by their words only"


async def _search() -> str:
    names = available(os.environ)
    return ", ".join(names) or "none (set SEARXNG_URL, TAVILY_API_KEY or BRAVE_API_KEY for the web)"


async def _tokens() -> str:
    if await asyncio.to_thread(exact):
        return "exact"
    file = vocabulary()
    return (
        f"estimated: {file} is not the vocabulary {ENCODING} (TIKTOKEN_CACHE_DIR names its folder)"
    )


async def _sandbox() -> str:
    return "none: steps that compute are answered from sources"
