"""A file that a person names may be a file or a pipe, and is no device without an end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.files import write_file
from app.cli.review import edit_from
from config.errors import Problem
from config.models import _read
from config.named_files import read_text
from evals.judged import read_corpus, read_questions
from evals.locomo import read_locomo
from memory.experience.importing import read_log
from memory.moving.arriving import read_document
from tools.messages import messages

DEVICES = ("/dev/zero", "/dev/full", "/dev/urandom")

READERS: dict[str, Callable[[Path], object]] = {
    "a corpus": read_corpus,
    "questions": lambda file: read_questions(file, []),
    "LoCoMo": read_locomo,
    "an export": read_document,
    "a log of runs": lambda file: list(read_log(file)),
    "a chat": messages,
    "a plan": edit_from,
    "models": _read,
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reader", READERS)
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
    assert read_text(piped(b"\xef\xbb\xbfone\r\ntwo\n")) == "one\ntwo\n"
    assert [one.id for one in read_corpus(piped(b'{"id": "1", "text": "bees"}\n'))] == ["1"]


def test_a_pipe_that_brings_too_much_is_refused():
    assert read_text(piped(b"x" * 1_000), most=1_000) == "x" * 1_000
    with pytest.raises(OSError, match="it has more than 1,000 bytes"):
        read_text(piped(b"x" * 1_001), most=1_000)


def test_a_file_is_read_whole_however_long_it_is(tmp_path: Path):
    (tmp_path / "long").write_text("x" * 2_000)

    assert len(read_text(tmp_path / "long", most=1_000)) == 2_000


def test_the_null_device_is_an_empty_file():
    assert read_text(Path(os.devnull)) == ""


def test_an_export_replaces_files_alone(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(Problem, match="ever replaced") as failure:
        write_file(tmp_path / "pipe", "{}", force=True)

    assert failure.value.code == "output_not_writable"
    assert (tmp_path / "pipe").is_fifo()
