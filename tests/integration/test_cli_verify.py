"""dossier verify: reports of this system and of others, on the command line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration

CARROW = Path(__file__).parent.parent / "data" / "carrow"
DOCUMENTS = str(CARROW / "documents")
GOOD = str(CARROW / "good" / "quotations.md")
WRONG = str(CARROW / "bad" / "C8-a-wrong-year.md")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Place:
    """A folder in which a question was asked of the files about bees."""
    place = Place(tmp_path_factory.mktemp("verify"))
    done = forks.run(place, "ask", WHO, "--docs", "bees", "--thread", "one", "--yes")
    assert done.status == 0, done.err
    return place


def statuses(told: dict[str, object]) -> dict[str, str]:
    checks = told["checks"]
    assert isinstance(checks, list)
    return {one["id"]: one["status"] for one in checks}


@pytest.mark.parametrize("name", ["one-1", "reports/one-1/report.md", "reports/one-1/report.html"])
def test_a_report_of_this_home_is_verified_against_its_own_sources(
    place: Place, forks: Forks, name: str
):
    done = forks.run(place, "verify", name, "--json")
    told = done.told

    assert done.status == 0, done.out
    assert told["matched"] == told["references"] > 0
    found = statuses(told)
    assert [found[one] for one in ("C1", "C2", "C6", "C11", "C12", "C19")] == ["ok"] * 6


def test_a_changed_report_fails_with_exit_status_1(place: Place, forks: Forks):
    report = place.folder / "reports" / "one-1" / "report.md"
    text = report.read_text("utf-8")
    sentence = next(one for one in text.split("“")[1:] if len(one.partition("”")[0]) > 30)
    words = sentence.partition("”")[0]
    changed = place.folder / "changed.md"
    changed.write_text(text.replace(words, f"{words[:20]}x{words[20:]}"), "utf-8")

    done = forks.run(place, "verify", "changed.md", "--docs", "bees", "--json")
    assert done.status == 1
    assert statuses(done.told)["C6"] == "failed"


def test_a_report_of_another_system_is_checked_against_a_folder(place: Place, forks: Forks):
    good = forks.run(place, "verify", GOOD, "--docs", DOCUMENTS)
    wrong = forks.run(place, "verify", WRONG, "--docs", DOCUMENTS)

    assert good.status == 0, good.out
    assert "2 of 2 sources given" in good.out
    assert wrong.status == 1
    assert "line 1: a number that no cited source has" in wrong.out
    assert "The mill was built in 1678 [1]." in wrong.out


def test_without_documents_it_says_what_was_not_checked_and_why(place: Place, forks: Forks):
    done = forks.run(place, "verify", GOOD)
    quotations = next(line for line in done.out.splitlines() if line.startswith("C6"))

    assert done.status == 0
    assert "not checked" in quotations
    assert "its document is not given" in quotations
    assert forks.run(place, "verify", GOOD, "--complete").status == 1


def test_a_page_of_the_home_is_found_by_the_path_of_its_file(place: Place, forks: Forks):
    dance = place.folder / "bees" / "dance.md"
    words = next(one for one in dance.read_text("utf-8").split("\n") if len(one) > 40)
    report = f"It says: “{words[:36].rsplit(' ', 1)[0]}” [1].\n\nSources:\n\n[1] Dance — {dance}\n"
    (place.folder / "mine.md").write_text(report, "utf-8")

    told = forks.run(place, "verify", "mine.md", "--json").told
    assert told["matched"] == 1
    assert statuses(told)["C6"] == "ok"


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_computed_answer_is_verified_with_the_file_or_the_home(
    place: Place, elsewhere: Place, forks: Forks, suffix: str
):
    tables = place.folder / "tables"
    tables.mkdir(exist_ok=True)
    (tables / "sales.csv").write_text("region,amount\nNorth,120\nSouth,95\nNorth,180\n", "utf-8")
    asked = "What is the total amount in sales.csv by region?"
    if not (place.folder / "reports" / "sums-1").is_dir():
        done = forks.run(place, "ask", asked, "--docs", "tables", "--thread", "sums", "--yes")
        assert done.status == 0, done.err
    text = (place.folder / "reports" / "sums-1" / f"report.{suffix}").read_text("utf-8")
    for folder in (place.folder, elsewhere.folder):
        (folder / f"sums.{suffix}").write_text(text, "utf-8")

    for there, more in ((place, []), (elsewhere, ["--docs", str(tables)])):
        told = forks.run(there, "verify", f"sums.{suffix}", *more, "--json").told
        assert (told["matched"], told["references"], told["failed"]) == (1, 1, False)
        assert [statuses(told)[one] for one in ("C2", "C7", "C8")] == ["ok"] * 3

    alone = forks.run(elsewhere, "verify", f"sums.{suffix}")
    assert "0 of 1 sources given" in alone.out
    assert "not computed again: sales.csv, computed: total of amount per region" in alone.err


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("nowhere.md", 4, "file_not_found"),
        ("nowhere/report", 4, "file_not_found"),
        ("bees", 4, "file_not_found"),
        ("nobody-1", 4, "run_not_found"),
        ("m" * 300 + ".md", 2, "file_unreadable"),
    ],
)
def test_a_report_that_is_not_there_is_told(
    place: Place, forks: Forks, name: str, status: int, code: str
):
    done = forks.run(place, "verify", name, "--json")
    assert done.status == status
    assert done.told["error"]["code"] == code


@pytest.fixture(scope="module")
def bundle(place: Place, forks: Forks) -> dict[str, Any]:
    """The bundle of the report, as data."""
    done = forks.run(place, "export", "one-1", "--format", "json", "--out", "one.json")
    assert done.status == 0, done.err
    data: dict[str, Any] = json.loads((place.folder / "one.json").read_text("utf-8"))
    return data


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Another machine, on which nothing is stored."""
    return Place(tmp_path_factory.mktemp("elsewhere"))


def test_a_bundle_is_verified_elsewhere_against_its_own_evidence(
    bundle: dict[str, Any], elsewhere: Place, forks: Forks
):
    (elsewhere.folder / "one.json").write_text(json.dumps(bundle), "utf-8")
    done = forks.run(elsewhere, "verify", "one.json", "--json")
    found = statuses(done.told)

    assert done.status == 0, done.out
    assert [found[one] for one in ("C1", "C2", "C4", "C6", "C8", "C19")] == ["ok"] * 6


def _evidence(data: dict[str, Any], *, hashed: bool) -> None:
    for one in data["evidence"]:
        one["text"] = one["text"].replace("1927", "1937")
        digest = sha256(one["text"].encode()).hexdigest()
        one["sha256"] = digest if hashed else one["sha256"]


def _body(data: dict[str, Any]) -> None:
    data["document"]["body"] = data["document"]["body"].replace("1927", "1937")


def _hash(data: dict[str, Any]) -> None:
    data["evidence"][0]["sha256"] = "0" * 64


def _title(data: dict[str, Any]) -> None:
    data["document"]["title"] = "Another title"


@pytest.mark.parametrize(
    ("tamper", "check"),
    [
        (partial(_evidence, hashed=False), "C2"),
        (partial(_evidence, hashed=True), "C6"),
        (partial(_evidence, hashed=True), "C19"),
        (_body, "C6"),
        (_hash, "C2"),
        (_title, "C19"),
    ],
)
def test_a_bundle_that_was_tampered_with_fails(
    bundle: dict[str, Any],
    elsewhere: Place,
    forks: Forks,
    tamper: Callable[[dict[str, Any]], None],
    check: str,
):
    data = copy.deepcopy(bundle)
    tamper(data)
    (elsewhere.folder / "bad.json").write_text(json.dumps(data), "utf-8")

    done = forks.run(elsewhere, "verify", "bad.json", "--json")
    assert done.status == 1
    assert statuses(done.told)[check] == "failed"


def test_the_hashes_of_another_version_are_not_compared(
    bundle: dict[str, Any], elsewhere: Place, forks: Forks
):
    data = bundle | {"generator": "dossier 0.0.1", "files": {"report.md": "0" * 64}}
    (elsewhere.folder / "old.json").write_text(json.dumps(data), "utf-8")

    done = forks.run(elsewhere, "verify", "old.json", "--json")
    assert done.status == 0
    assert statuses(done.told)["C19"] == "partly"


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b'{"format": "other"}',
        b"{" * 5_000,
        b"\xff\xfe{",
        b"{}",
        b"[1, 2]",
        b"3",
        b"PK\x03\x04",
    ],
)
def test_what_is_no_bundle_is_told(elsewhere: Place, forks: Forks, data: bytes):
    (elsewhere.folder / "no.json").write_bytes(data)
    done = forks.run(elsewhere, "verify", "no.json")
    assert done.status == 2
    assert "export_invalid" in done.problem


def test_a_bundle_of_another_shape_is_told(bundle: dict[str, Any], elsewhere: Place, forks: Forks):
    for part in ({"document": {}}, {"evidence": [{}]}, {"citations": [1]}, {"document": []}):
        (elsewhere.folder / "odd.json").write_text(json.dumps(bundle | part), "utf-8")
        done = forks.run(elsewhere, "verify", "odd.json")
        assert (done.status, "export_invalid" in done.problem) == (2, True), part
