"""Read collections of texts with judged questions."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from config.errors import ErrorCode, Problem
from config.user_files import read_user_file
from text.dates import to_iso_timestamp

GROUP = "group"
"""The field that says within which pages a question is asked, where nothing else is said."""

CATEGORIES = ("category_name", "category", "type")
"""The fields that say of what kind a question is; the first that is there counts."""


class CorpusEntry(NamedTuple):
    """A page of a corpus; `said` is an ISO date or empty."""

    id: str
    title: str
    text: str
    group: str
    session: str
    speaker: str
    said: str


class JudgedQuestion(NamedTuple):
    """A question and the ids of the pages that answer it; `groups` has those of each fact."""

    id: str
    text: str
    gold: list[str]
    groups: list[list[str]]
    group: str
    category: str


def read_json_lines(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a file that has one on each line, and is known to have nothing else."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_corpus(file: Path, field: str | None = None) -> list[CorpusEntry]:
    """Read the pages of a corpus, one JSON object on a line.

    Args:
        file: Where they are.
        field: The field that divides them into groups; `group` where pages have it.

    Raises:
        Problem: `file_not_found`, `corpus_line` with its number, or `corpus_empty`.
    """
    entries: list[CorpusEntry] = []
    seen: set[str] = set()
    for where, line in iter_json_objects(file):
        name = _id(line, where)
        if name in seen:
            raise _wrong("another page has the same id", where)
        seen.add(name)
        entries.append(_entry(name, line, field or GROUP, where))
    if not entries:
        raise Problem(ErrorCode.CORPUS_EMPTY, "there is no page in it", where=str(file))
    if field and not any(entry.group for entry in entries):
        raise Problem(ErrorCode.CORPUS_LINE, f"no page has the field {field!r}", where=str(file))
    return entries


def read_questions(
    file: Path, corpus: Sequence[CorpusEntry], field: str | None = None, qrels: Path | None = None
) -> list[JudgedQuestion]:
    """Read the questions about a corpus; one without an answer in it is left out.

    Args:
        file: The questions, one JSON object on a line.
        corpus: What is searched.
        field: As in `read_corpus`.
        qrels: Which page answers which question, as BEIR says it; else the questions say so.

    Raises:
        Problem: `file_not_found`, `corpus_line` with its number, or `corpus_empty`.
    """
    judged = _judged(qrels) if qrels else None
    known = {entry.id for entry in corpus}
    groups = {entry.group for entry in corpus} - {""}
    questions: list[JudgedQuestion] = []
    for where, line in iter_json_objects(file):
        question = _question(line, field or GROUP, judged, where)
        if groups and question.group not in groups:
            raise _wrong("no page is in its group", where)
        kept = _known(question, known)
        if question.gold and not kept.gold:
            raise _wrong("the corpus has no page of its `gold`", where)
        if kept.gold:
            questions.append(kept if groups else kept._replace(group=""))
    if not questions:
        hint = "" if qrels else "name them in `gold`, or in a file with --qrels"
        what = "no question in it has pages that answer it"
        raise Problem(ErrorCode.CORPUS_EMPTY, what, where=str(file), hint=hint)
    return questions


def _entry(name: str, line: dict[str, Any], field: str, where: str) -> CorpusEntry:
    text = line.get("text")
    if not isinstance(text, str):
        raise _wrong("it has no `text`", where)
    group, session = (_text(line.get(one)) for one in (field, "session"))
    title, speaker, date = (_text(line.get(one)) for one in ("title", "speaker", "date"))
    return CorpusEntry(name, title, text, group, session, speaker, to_iso_timestamp(date))


def _question(
    line: dict[str, Any], field: str, judged: dict[str, list[str]] | None, where: str
) -> JudgedQuestion:
    name, text = _id(line, where), line.get("text")
    if not isinstance(text, str) or not text.strip():
        raise _wrong("it has no `text`", where)
    gold = line.get("gold", []) if judged is None else judged.get(name, [])
    groups = line.get("gold_groups") or []
    if not (_holds_texts(gold) and isinstance(groups, list) and all(map(_holds_texts, groups))):
        raise _wrong("`gold` is a list of ids, `gold_groups` a list of such lists", where)
    category = next((_text(line[one]) for one in CATEGORIES if line.get(one) is not None), "")
    return JudgedQuestion(name, text, gold, groups, _text(line.get(field)), category)


def _known(question: JudgedQuestion, known: Collection[str]) -> JudgedQuestion:
    """Leave out what is no page of the corpus."""
    gold = [one for one in dict.fromkeys(question.gold) if one in known]
    groups = [[one for one in group if one in known] for group in question.groups]
    return question._replace(gold=gold, groups=[group for group in groups if group])


def _judged(file: Path) -> dict[str, list[str]]:
    """Read BEIR's judgements: query-id, corpus-id and score between tabs, under a line of names."""
    judged: dict[str, list[str]] = {}
    for number, row in enumerate(csv.reader(_text_of(file).splitlines(), delimiter="\t"), 1):
        if number == 1 and row and not row[-1].strip().lstrip("-").isdecimal():
            continue
        # Four columns are those of TREC, with an unused one after the question.
        if len(row) not in (3, 4) or not row[-1].strip().lstrip("-").isdecimal():
            raise _wrong("it is not question, page and score between tabs", f"{file}:{number}")
        if int(row[-1]) > 0:
            judged.setdefault(row[0], []).append(row[-2])
    return judged


def iter_json_objects(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, each with its place.

    Raises:
        Problem: `file_not_found`, `corpus_unreadable`, or `corpus_line` with its number.
    """
    for number, line in enumerate(_text_of(file).split("\n"), start=1):
        if line.strip():
            where = f"{file}:{number}"
            try:
                read = json.loads(line)
            except (ValueError, RecursionError) as error:
                what = f"it is not JSON: {error}"
                raise _wrong(what, where) from error
            if not isinstance(read, dict):
                raise _wrong("it is no JSON object", where)
            yield where, read


def read_data_file(file: Path) -> str:
    """Return the text of a file of data that a person names.

    Raises:
        Problem: `file_not_found`.
        OSError: When it cannot be read otherwise.
        UnicodeDecodeError: When it is not UTF-8.
    """
    try:
        return read_user_file(file)
    except FileNotFoundError as error:
        what, hint = "there is no such file", "check the path"
        raise Problem(ErrorCode.FILE_NOT_FOUND, what, where=str(file), hint=hint) from error


def _text_of(file: Path) -> str:
    try:
        return read_data_file(file)
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem(ErrorCode.CORPUS_UNREADABLE, what, where=str(file)) from error
    except UnicodeDecodeError as error:
        raise Problem(ErrorCode.CORPUS_UNREADABLE, "it is not UTF-8", where=str(file)) from error


def _id(line: dict[str, Any], where: str) -> str:
    name = _text(line.get("id", line.get("_id")))
    if not name:
        raise _wrong("it has no `id`", where)
    return name


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _holds_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _wrong(what: str, where: str) -> Problem:
    return Problem(ErrorCode.CORPUS_LINE, what, where=where)
