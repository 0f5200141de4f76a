"""Every function that reads text takes a time that grows with the text, whatever it says.

`python -m benchmarks.text_time` measures the same over more texts and sizes. What takes the square
of the length is found here by how much longer it takes for eight times the text; short times, and
what is only half as bad, are let be, so that a busy machine makes no difference.
"""

from __future__ import annotations

import inspect
import pkgutil
import resource
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import text_readers, text_time
from benchmarks.text_readers import Reader, readers
from benchmarks.text_time import estimate_growth, hostile_texts, measure_seconds

TEXTS = ("open quotations", "spaces")
SHORT, TIMES = 250, 8
SECONDS = 1.0
"""What takes fewer is let be."""

READERS = list(readers())

ROOMS = (
    "calls",
    "config",
    "graph",
    "library",
    "memory",
    "models",
    "privacy",
    "prompts",
    "report",
    "runs",
    "text",
    "tools",
)

TEXT = {"text", "body", "sentence", "statement", "markdown", "message", "line"}
"""What arguments are called that hold what somebody wrote."""

NOT_MEASURED = frozenset(
    {
        "report.exports.docx_parts.add_link",
        "report.exports.docx_parts.add_words",
        "report.computed_results.add_doubts",
        "tools.computations.digest_output",
        "tools.mcp.server_config.expand_variables",
        "tools.web.providers.hit_parsing.make_hit",
        "library.page_embedding.embedding_text",
        "privacy.erasure.redact_json",
        "memory.learning.patterns.strip_matches",
        "memory.text_vectors.supports_language",
        "text.definitions.score_definition",
        "text.manuals.setting_coverage",
        "text.manuals.list_section_paths",
        "text.topics.topic_coverage",
        "report.citations.narrow_place",
        "report.markdown.code.map_inline_code",
        "report.document.list_gaps",
        "report.document.list_report_gaps",
        "report.document.has_gaps",
        "report.citations.build_excerpt",
        "report.citations.find_paragraph",
        "report.citations.group_spans",
        "report.markdown.markers.map_matches",
        "report.rendering.numbering.number_citations",
        "report.checks.second_reader.list_claims",
        "text.private_words.find_telltale_words",
        "text.regex.replace_spans",
        "calls.compaction.summary_of_message",
        "calls.streaming.show_progress_message",
        "calls.streaming.show_text",
        "calls.replies.reply_problem",
        "calls.replies.finish_reason",
        "library.uploads.is_upload_id",
        "calls.replies.reply_text",
        "runs.lifecycle.check_question",
        "runs.masking.mask_message",
        "tools.files.text_files.join_wrapped_line",
        "tools.message_uploads.list_message_uploads",
        "tools.web.query_redaction.note_shown",
    }
)
"""Functions whose other arguments cannot be made of a text, and what is never given a long one."""


@pytest.mark.parametrize("room", ROOMS)
def test_eight_times_the_text_takes_no_multiple_of_eight_times_as_long(room: str):
    steep = []
    for reader in (one for one in READERS if one.name.startswith(f"{room}.")):
        for name in TEXTS:
            long = measure_seconds(reader, hostile_texts(name, SHORT * TIMES), 20)
            if long > SECONDS:
                short = measure_seconds(reader, hostile_texts(name, SHORT), 20)
                if long >= 3 * TIMES * max(short, 0.01):
                    steep.append(f"{reader.name}, {name}: {short:.2f} s, then {long:.2f} s")

    assert not steep, "\n".join(steep)


def test_every_function_that_reads_a_text_is_measured():
    measured = {one.name.partition("(")[0] for one in READERS}
    left = {name for name in _named() if name not in measured}

    assert not left - NOT_MEASURED, (
        f"nobody measures {sorted(left - NOT_MEASURED)}: say how its arguments are made of it in"
        " benchmarks.text_readers.EXAMPLES, or name it in NOT_MEASURED if it never gets a long one"
    )
    assert not NOT_MEASURED - left, f"measured or gone: {sorted(NOT_MEASURED - left)}"


def test_the_time_of_a_function_that_takes_the_square_of_the_length_is_called_steep():
    reader = Reader("pairs", lambda text: [one == two for one in text for two in text], 20_000)

    assert estimate_growth(reader, "spaces", (2_000, 8_000), 2.0).steep


def test_the_time_of_a_function_that_takes_its_length_is_not_called_steep():
    reader = Reader("letters", lambda text: [one.lower() for one in 30 * text], 10_000_000)

    assert not estimate_growth(reader, "spaces", (10_000, 100_000), 4.0).steep


def test_a_function_that_takes_too_long_is_not_given_more_and_the_guess_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    slow = Reader("slow", lambda text: [one.upper() for one in 40 * text], 10_000_000)
    monkeypatch.setattr(text_time, "readers", lambda: [slow])
    monkeypatch.setattr(text_time, "TEXTS", {"sentences": text_time.TEXTS["sentences"]})
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    kept = tmp_path / "kept"
    monkeypatch.setattr("sys.argv", ["text_time", "--seconds", "0.1", "--kept", str(kept)])

    text_time.main()
    text_time.main()

    assert "~" in capsys.readouterr().out
    assert len(kept.read_text().splitlines()) == 1


def _named() -> set[str]:
    """Return the public functions that have an argument called like a text."""
    return {
        f"{module.__name__}.{name}"
        for module in map(import_module, _modules())
        for name, function in vars(module).items()
        if text_readers.is_public(name, function, module)
        and not TEXT.isdisjoint(inspect.signature(function).parameters)
    }


def _modules() -> list[str]:
    return [
        found.name
        for room in ROOMS
        for found in pkgutil.walk_packages(import_module(room).__path__, f"{room}.")
    ]
