"""Files by name, in a folder and in a bucket."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import fsspec
import pytest

from config.errors import ErrorCode, Problem
from storage.file_store import FileStore, file_store, find_local_file, open_file_store
from storage.permissions import find_exposed_files
from tests.cases import each_case
from tests.places import new_process


@pytest.fixture(params=["home", "folder", "bucket"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FileStore]:
    """The store of each kind in turn, empty."""
    url = {"folder": f"file://{tmp_path}/shared%20files", "bucket": "memory://dossier/files"}
    monkeypatch.setenv("DOSSIER_FILES_URL", url.get(request.param, ""))
    new_process()
    yield file_store()
    fsspec.filesystem("memory").store.clear()


def test_a_file_is_read_as_it_was_written_and_replaced_whole(store: FileStore):
    assert not store.exists("uploads/t1/a b/über.csv")

    store.write("uploads/t1/a b/über.csv", b"1")
    store.write("uploads/t1/a b/über.csv", b"two")

    assert store.exists("uploads/t1/a b/über.csv")
    assert store.size("uploads/t1/a b/über.csv") == 3
    assert store.read("uploads/t1/a b/über.csv") == b"two"
    with store.open("uploads/t1/a b/über.csv") as opened:
        assert (opened.read(1), opened.read()) == (b"t", b"wo")


def test_files_of_a_folder_are_listed_moved_and_removed(store: FileStore):
    for name in ("reports/r-1/report.md", "reports/r-1/pictures/1.svg", "reports/r-10/report.md"):
        store.write(name, name.encode())

    assert store.list("reports/r-1") == ["reports/r-1/pictures/1.svg", "reports/r-1/report.md"]
    store.move("reports/r-10/report.md", "reports/r-2/report.md")
    store.remove("reports/r-1")
    store.remove("reports/r-1")

    assert store.list("reports") == ["reports/r-2/report.md"]
    assert store.read("reports/r-2/report.md") == b"reports/r-10/report.md"
    assert store.list("nothing") == []


def test_what_is_not_there_is_not_found(store: FileStore):
    for work in (store.read, store.size, store.local_copy):
        with pytest.raises(FileNotFoundError):
            _read_all(work("uploads/none"))


def _read_all(found: object) -> None:
    # A folder gives the path of a file without looking for it.
    Path(str(found)).read_bytes()


def test_an_address_leads_back_to_its_file(store: FileStore):
    store.write("uploads/t1/x.csv", b"a,b")
    address = store.address("uploads/t1/x.csv")

    assert store.find_name(address) == "uploads/t1/x.csv"
    assert store.find_name("/etc/passwd") is None
    assert find_local_file(address).read_bytes() == b"a,b"
    assert find_local_file(address).name == "x.csv"
    assert find_local_file("/etc/passwd") == Path("/etc/passwd")


def test_a_local_copy_goes_with_its_file(store: FileStore):
    store.write("uploads/t1/x.csv", b"a,b")
    copy = store.local_copy("uploads/t1/x.csv")

    store.remove("uploads/t1")

    assert not copy.exists()


def test_a_file_that_was_filled_here_is_moved_in_and_leaves_nothing(
    store: FileStore, tmp_path: Path
):
    with suppress(RuntimeError), store.new_file() as given_up:
        given_up.write_bytes(b"half")
        raise RuntimeError
    with store.new_file() as part:
        part.write_bytes(b"all of it")
        store.add(part, "uploads/t1/x.txt")
    elsewhere = tmp_path / "other.txt"
    elsewhere.write_bytes(b"from elsewhere")
    store.add(elsewhere, "uploads/t1/y.txt")

    assert store.read("uploads/t1/x.txt") == b"all of it"
    assert store.read("uploads/t1/y.txt") == b"from elsewhere"
    assert not [one for one in (elsewhere, part, given_up) if one.exists()]


def test_files_and_folders_here_are_the_owners_alone(tmp_path: Path):
    for url in ("", f"file://{tmp_path}/shared"):
        store = open_file_store(url)
        store.write("reports/r-1/report.md", b"mine")
        found = Path(store.address("reports/r-1/report.md"))

        modes = [stat.S_IMODE(one.stat().st_mode) for one in (found, *list(found.parents)[:3])]
        assert modes == [0o600, 0o700, 0o700, 0o700]
    assert find_exposed_files() == []


@each_case(["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "a\\b", "a\0b", "."])
def test_a_name_leads_nowhere_else(name: str):
    with pytest.raises(Problem) as raised:
        file_store().read(name)

    assert raised.value.error == ErrorCode.BAD_FILE_NAME


@each_case(["files", "file:shared", "file://host/shared", "ftps2://x"])
def test_an_address_that_cannot_be_one_is_told(url: str):
    with pytest.raises(Problem) as raised:
        open_file_store(url)

    assert raised.value.error == ErrorCode.CONFIG_VALUE
    assert "DOSSIER_FILES_URL" in str(raised.value)


def test_a_bucket_that_fails_is_told_without_its_words(monkeypatch: pytest.MonkeyPatch):
    store = open_file_store("memory://dossier")

    def fail(*given: object, **more: object) -> None:
        raise PermissionError("AKIA-SECRET")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "put_file", fail)
    with pytest.raises(Problem) as raised:
        store.write("x", b"1")

    assert raised.value.error == ErrorCode.STORAGE_UNAVAILABLE
    assert "SECRET" not in str(raised.value)
