"""A file that a person names may be a file or a pipe, and is no device without an end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from app.cli.review import read_plan_edit
from config.errors import Problem
from config.model_table import _read_model_table
from config.user_files import read_user_file, write_user_file
from evals.datasets import read_corpus, read_questions
from evals.locomo import read_locomo
from memory.experience.run_log import read_run_log
from nodes.ingest import read_chat_messages
from privacy.importer import read_export_file
from tests.cases import each_case

DEVICES = ("/dev/zero", "/dev/full", "/dev/urandom")

READERS: dict[str, Callable[[Path], object]] = {
    "a corpus": read_corpus,
    "questions": lambda file: read_questions(file, []),
    "LoCoMo": read_locomo,
    "an export": read_export_file,
    "a log of runs": lambda file: list(read_run_log(file)),
    "a chat": read_chat_messages,
    "a plan": read_plan_edit,
    "models": _read_model_table,
}


@each_case(product(READERS, DEVICES))
def test_a_device_is_refused_by_name(reader: str, device: str):
    with pytest.raises(Problem, match="it is a device") as failure:
        READERS[reader](Path(device))

    assert failure.value.where == device
    assert failure.value.exit_status != 1


def test_a_link_to_a_device_is_refused_too(tmp_path: Path):
    (tmp_path / "corpus.jsonl").symlink_to("/dev/zero")

    with pytest.raises(Problem, match="it is a device"):
        read_corpus(tmp_path / "corpus.jsonl")


def piped(content: bytes) -> Path:
    """Return what a shell hands over for `<(command)`."""
    read, write = os.pipe()

    def fill() -> None:
        with open(write, "wb") as stream:
            stream.write(content)

    threading.Thread(target=fill, daemon=True).start()
    return Path(f"/dev/fd/{read}")


def test_a_pipe_is_read_to_its_end():
    assert read_user_file(piped(b"\xef\xbb\xbfone\r\ntwo\n")) == "one\ntwo\n"
    assert [one.id for one in read_corpus(piped(b'{"id": "1", "text": "bees"}\n'))] == ["1"]


def test_a_pipe_that_brings_too_much_is_refused():
    assert read_user_file(piped(b"x" * 1_000), most=1_000) == "x" * 1_000
    with pytest.raises(OSError, match="it has more than 1,000 bytes"):
        read_user_file(piped(b"x" * 1_001), most=1_000)


def test_a_file_is_read_whole_however_long_it_is(tmp_path: Path):
    (tmp_path / "long").write_text("x" * 2_000)

    assert len(read_user_file(tmp_path / "long", most=1_000)) == 2_000


def test_the_null_device_is_an_empty_file():
    assert read_user_file(Path(os.devnull)) == ""


def test_an_export_replaces_files_alone(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(Problem, match="ever replaced") as failure:
        write_user_file(tmp_path / "pipe", "{}", force=True)

    assert failure.value.code == "output_not_writable"
    assert (tmp_path / "pipe").is_fifo()
