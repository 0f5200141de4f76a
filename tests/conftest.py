"""What every test may use: a home of its own, a scripted model, a thread to run."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import certifi
import pytest
from hypothesis import settings as Cases
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from graph.context import Context
from graph.session import ThreadSession, open_session
from runs.call_site import join_owner
from storage.engine import close_database
from tests.databases import POSTGRES, emptied, empty_schema, made_once, renamed, schema_with_tables
from tests.fake_model import Script, scripted
from tests.integration.command import Forks
from tests.places import new_process
from tools.folder_ingestion import ingest_folder
from tools.sandbox import sandbox

MEMORY = Path("/dev/shm")
"""Where a file system lies in memory, on Linux: nobody waits for a disk there."""

ROOM = 4 * 2**30
"""The bytes that all tests together may need there."""

OBJECTS = 10_000
"""How many new objects the collector waits for; a job makes as many, and few of them in rings."""

SHARING = {
    *("test_server", "test_server_access", "test_server_chat", "test_server_damage"),
    *("test_server_forgery", "test_server_tools", "test_console_in_browser"),
}
"""The files of tests that share a server, which takes seconds to start."""

LONG = (
    "test_server_users",
    "test_attribution",
    "test_verification_mutations",
    "test_linear",
    "test_owners",
)
"""The files that take longest; were one of them the last, only one core would work in the end."""

EXAMPLES = Path(__file__).parents[1] / "examples" / "docs"

BEES = {
    "dance.md": "# The dance\n\nThe waggle dance tells other bees the direction of food. "
    "Karl von Frisch described the waggle dance in 1927. "
    "A longer waggle run means that the food is farther away.",
    "winter.md": "# Winter\n\nBees form a winter cluster below 14 degrees. "
    "A winter cluster eats about 20 kilograms of honey.",
    "queen.txt": "The queen lays up to 2000 eggs a day in summer. Workers feed the queen.",
}
"""Three short files, by their names."""


class Files(LoadFileScheduling):
    """Gives a process one file after the other, and all that share a server to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "server" if Path(file).stem in SHARING else file


def pytest_xdist_auto_num_workers() -> int:
    """Let one process more than there are cores run tests: many wait for what they started."""
    return (os.cpu_count() or 1) + 1


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Files | None:
    """Let the tests that share a server run in one process."""
    return Files(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    items.sort(key=lambda item: item.path.stem not in LONG)


def pytest_collection_finish() -> None:
    """Spare the collector what is imported by now, and let it go over the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS)


def pytest_configure(config: pytest.Config) -> None:
    """Put the folders of tests into memory where there is room, and let no test fail for slowness.

    How long a case takes says how much else the machine has to do.
    """
    Cases.register_profile("patient", deadline=None)
    Cases.load_profile("patient")
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if config.getoption("numprocesses", None) and not sys.dont_write_bytecode:
        _compile_tests()


def _compile_tests() -> None:
    """Compile what is not compiled yet, each file once: every worker would compile every file.

    A file that cannot be imported is left to the workers, which report it.
    """
    folder = Path(__file__).parent
    files = [
        file
        for file in sorted(folder.rglob("test_*.py"))
        if not any((file.parent / "__pycache__").glob(f"{file.stem}.*-pytest-*.pyc"))
    ]
    cores = os.cpu_count() or 1
    shares = [files[core::cores] for core in range(cores) if files[core::cores]]
    for child in [_import_in_child(share, folder.parent) for share in shares]:
        os.waitpid(child, 0)


def _import_in_child(files: Iterable[Path], root: Path) -> int:
    """Import tests in a fork, with which pytest compiles them; return its process number."""
    child = os.fork()
    if not child:
        for file in files:
            with suppress(BaseException):
                import_module(".".join(file.relative_to(root).with_suffix("").parts))
        os._exit(0)
    return child


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data directory that ends with the test, and an environment without keys."""
    for name in os.environ:
        ours = name.startswith(("DOSSIER_", "OPENAI_", "LANGSMITH_", "OTEL_"))
        if ours or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("DOSSIER_HOME", str(folder))
    monkeypatch.setenv("DOSSIER_RETRY_SECONDS", "0")
    # Tests that name no provider shall not ask those of the open web.
    monkeypatch.setenv("DOSSIER_KEYLESS_SEARCH", "false")
    monkeypatch.chdir(tmp_path)
    new_process()
    yield folder
    new_process()


@pytest.fixture
async def database() -> AsyncIterator[None]:
    """The database of the test's home, closed behind it."""
    yield
    await close_database()


@pytest.fixture(scope="session", autouse=True)
def quick_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Databases that need not make their tables anew."""
    with made_once(tmp_path_factory.mktemp("tables")):
        yield


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Trust one authority alone: to load all of them takes 30 ms for each client."""
    whole = Path(certifi.where()).read_text("utf-8")
    end = "-----END CERTIFICATE-----\n"
    file = tmp_path_factory.mktemp("trust") / "one.pem"
    file.write_text(whole.partition(end)[0] + end, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        # Clients that do not trust the environment ask certifi.
        patch.setattr(certifi, "where", lambda: str(file))
        yield


@pytest.fixture(scope="session", autouse=True)
def sandbox_found_once() -> Iterator[None]:
    """Try the sandbox of this machine once: each process with a plan would, in 0.1 s."""
    known: dict[str, sandbox.SandboxStatus] = {}
    look_for, path = sandbox._look_for, os.environ.get("PATH")

    async def remembered(wanted: str) -> sandbox.SandboxStatus:
        if os.environ.get("PATH") != path:
            return await look_for(wanted)
        if wanted not in known:
            known[wanted] = await look_for(wanted)
        return known[wanted]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "_look_for", remembered)
        yield


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """What runs commands in processes that need not import anything."""
    with Forks() as forks:
        yield forks


@pytest.fixture(scope="session")
def server_wanted() -> None:
    """A PostgreSQL server, or no test."""
    if not POSTGRES:
        pytest.skip("DOSSIER_TEST_POSTGRES names no PostgreSQL server")


@pytest.fixture
def postgres(server_wanted: None) -> Iterator[str]:
    """The URL of an empty place on the PostgreSQL server of the tests, gone after the test."""
    with empty_schema() as url:
        yield url


@pytest.fixture(scope="session")
def tables(server_wanted: None) -> Iterator[str]:
    """The URL of a place with all tables on the PostgreSQL server of the tests."""
    with schema_with_tables() as url:
        yield url


@pytest.fixture
def emptied_tables(tables: str) -> Iterator[str]:
    """The URL of a place with all tables, empty, on the PostgreSQL server of the tests."""
    url = renamed(tables)
    yield url
    emptied(url)


@pytest.fixture(params=["sqlite", "postgresql"])
async def either(
    request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[str]:
    """An empty database of each kind in turn, closed behind the test; which kind it is."""
    url, bare = "", request.node.get_closest_marker("bare")
    if request.param == "postgresql":
        url = renamed(request.getfixturevalue("postgres" if bare else "tables"))
        monkeypatch.setenv("DOSSIER_DATABASE_URL", url)
        new_process()
    yield request.param
    await close_database()
    if url and not bare:
        await asyncio.to_thread(emptied, url)


@pytest.fixture
def script(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """The script of the model that is named `fake:`; a call without a rule fails the test.

    `pytest.mark.extractive` names the schemas and roles that are left to the extractive model.
    """
    marked = request.node.iter_markers("extractive")
    with scripted(monkeypatch, *(name for marker in marked for name in marker.args)) as script:
        yield script


@pytest.fixture
async def thread() -> AsyncIterator[ThreadSession]:
    """A new thread, opened for work."""
    async with open_session("t1") as opened:
        yield opened


@pytest.fixture
async def bees(tmp_path: Path, thread: ThreadSession) -> str:
    """A folder with three short files, read in; its root."""
    folder = tmp_path / "bees"
    folder.mkdir()
    for name, text in BEES.items():
        (folder / name).write_text(text, encoding="utf-8")
    library = await ingest_folder(join_owner("local", ""), folder, lambda _: None)
    return library.root


@pytest.fixture
def choices(bees: str, script: Script) -> dict[str, object]:
    """The choices of a run over the three files with the scripted model, without a review."""
    del script
    return {"models": {"default": "fake:any"}, "files": [bees], "auto_accept": True}


def make(choices: dict[str, object], **more: object) -> Context:
    """Make a context of choices."""
    return Context(**{**choices, **more})
