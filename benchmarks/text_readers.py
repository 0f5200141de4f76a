"""Find every function of the program that reads text, and make its arguments of a text."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_type_hints

from lxml.etree import LxmlError

from config.errors import Problem
from graph.records import Objection, RemovedSentence, Source, SourceContradiction
from library.page_metadata import NO_METADATA, PageMetadata
from library.page_rows import NewPage
from models.extractive.prompt_parser import SourceQuote
from report.checks.printed_results import PrintedLine, split_printed_lines
from report.checks.quantities import SourceNumbers, extract_source_numbers
from report.checks.quotation_search import QuotablePages
from report.checks.source_text import SourceText, index_source
from report.evidence_spans import CitationUse
from report.pictures.report_tables import ReportTable, list_report_tables
from runs.lifecycle import MAX_QUESTION_CHARS
from text.answerability import SourcePassage
from text.dates import PartialDate, find_dates
from text.sentences import Span, split_sentences
from tools.files.file_reader import read_file
from tools.files.formats import FILE_READERS, FileContent, FileLimits, FileRefused

TITLE = 300
"""A title has at most so many characters."""

PLACES = (
    "app.cli.search",
    "config.key_masking",
    "graph.plan",
    "memory.self_questions",
    "memory.experience.utterances",
    "memory.experience.run_history",
    "memory.facts.fact",
    "memory.agents_md.edits",
    "memory.agents_md.proposals",
    "memory.agents_md.memory",
    "memory.agents_md.content",
    "privacy.erasure_target",
    "privacy.erasure",
    "memory.learning",
    "privacy.importer",
    "privacy.exporter",
    "library.page_rows",
    "library.page_sizing",
    "library.page_metadata",
    "memory.profile.store",
    "memory.profile.memory",
    "memory.reports",
    "models.extractive",
    "nodes.conversation",
    "calls.tool_requests",
    "tools.run_inputs",
    "nodes.direct",
    "prompts.data_blocks",
    "prompts.methods",
    "prompts.prompt_injection",
    "prompts.quotation_marks",
    "report",
    "library.page_scoring",
    "library.signals",
    "library.page_ranking",
    "library.spelling",
    "text",
    "tools.file_batches",
    "tools.computed_pages",
    "tools.files",
    "tools.passage_choice",
    "tools.overview",
    "tools.tables",
    "tools.web.fetch",
    "tools.web.page_text",
    "tools.web.transport",
    "tools.web.urls",
    "tools.unread_reasons",
)
"""The packages and modules whose functions read what persons, strangers and models write."""

SHORT = "The 12 bees of password Karl dance."
"""What stands in for the other texts of a function, while one of them is hostile."""

LONGEST = {
    "question": MAX_QUESTION_CHARS,
    "query": MAX_QUESTION_CHARS,
    "asked": MAX_QUESTION_CHARS,
    "title": TITLE,
}
"""How many characters some arguments have at most: questions, their parts, and titles."""

Make = Callable[[str], object]

EXAMPLES: dict[object, Make] = {
    str: lambda text: text,
    int: lambda _: 40,
    Callable[[str], str]: lambda _: str.strip,
    bool: lambda _: False,
    float: lambda _: 0.5,
    bytes: lambda text: text.encode(),
    Sequence[str]: lambda text: [text],
    Iterable[str]: lambda text: [text],
    Collection[str]: lambda text: [text],
    list[str]: lambda text: [text],
    Mapping[str, str]: lambda text: {"S1": text},
    Sequence[SourceText]: lambda text: [index_source(text)],
    list[SourceText]: lambda text: [index_source(text)],
    Sequence[SourceNumbers]: lambda text: [extract_source_numbers(text)],
    Sequence[Collection[PartialDate]]: lambda text: [list(find_dates(text))],
    SourceText: index_source,
    Sequence[PrintedLine]: split_printed_lines,
    Sequence[ReportTable]: list_report_tables,
    Sequence[SourcePassage]: lambda text: [SourcePassage("S1", "Bees", "", text)],
    SourceQuote: lambda text: SourceQuote("S1", text),
    Sequence[SourceQuote]: lambda text: [SourceQuote("S1", text)],
    Span: lambda text: Span(0, len(text), text),
    QuotablePages: lambda text: QuotablePages({"S1": text}),
    SourcePassage: lambda text: SourcePassage("S1", "Bees", "", text),
    NewPage: lambda text: NewPage(title="Bees", place="", text=text),
    Sequence[NewPage]: lambda text: [NewPage(title="Bees", place="", text=text)],
    CitationUse: lambda text: CitationUse(1, ("S1",), text, quoted=False),
    Sequence[int]: lambda _: [1, 2],
    Mapping[int, str]: lambda text: {1: text},
    Sequence[float]: lambda _: [1.0, 12.0],
    Sequence[Sequence[float]]: lambda _: [[1.0, 12.0]],
    object: lambda text: text,
    PageMetadata: lambda _: NO_METADATA,
    SourceContradiction: lambda text: SourceContradiction(
        about="bees", one="S1", one_says=text, other="S2", other_says=text, reason="number"
    ),
    Objection: lambda text: Objection(text=text, wrong=[text], feedback=text),
    Sequence[RemovedSentence]: lambda text: [RemovedSentence(text=text, reason="no_source")],
    Iterable[tuple[str, str]]: lambda text: [(text, "bees")],
    Mapping[str, Source]: lambda _: {
        "S1": Source(id="S1", page="p", title="Bees", location="/b.md", kind="file")
    },
    Iterable[Span]: lambda text: [Span(0, min(40, len(text)), text[:40])],
    Literal["zh", "en"]: lambda _: "en",
}
"""How an argument of each type is made of a text."""

OWN = {
    "assistant": "S1",
    "folder": "bees",
    "guide": "once",
    "hint": "S1",
    "item": "S1",
    "language": "en",
    "model": "S1",
    "name": "S1",
    "origin": "S1",
    "owner": "S1",
    "path": "bees.md",
    "place": "L1",
    "provenance": "web",
    "reason": "S1",
    "role": "reporter",
    "run": "t-1",
    "status": "ok",
    "suffix": ".md",
    "tag": "page",
    "thread": "t",
    "tongue": "en",
    "user": "S1",
    "variable": "S1",
    "where": "S1",
}
"""Arguments that the program itself gives: names, places and words that no stranger chooses."""

SENTENCES = frozenset(
    {"cell", "line", "part", "quote", "said", "sentence", "statement", "term", "word"}
)
"""Arguments that are a sentence, or a part of one: a text is given to them sentence by sentence."""

WITHOUT = (
    "library.chroma",
    "library.page_index",
    "tools.files.file_reader",
)
"""Modules in there that read no text, but do something with what has a name."""

OF_WORDS = frozenset({"library.spelling.edit_distance"})
"""Functions that compare single words of an index, which are never long."""

REFUSALS = (Problem, FileRefused, ValueError, LookupError, TypeError, LxmlError)
"""How functions say that a text is none for them."""

NO_TEXT = frozenset(
    {int, bool, float, Sequence[float], Sequence[Sequence[float]], Literal["zh", "en"]}
)

FILES = (".md", ".txt", ".html", ".csv", ".tsv", ".json", ".jsonl", ".ipynb", ".eml", ".rtf", ".py")
"""Types of files that a text may be the bytes of."""


class Reader(NamedTuple):
    """A function and how it is given a text."""

    name: str
    read: Callable[[str], object]
    most: int
    """The longest text that reaches it."""
    apart: bool = False
    """Whether it is given a text sentence by sentence."""


def readers() -> Iterator[Reader]:
    """Yield every public function whose arguments can be made of a text, once for each of them."""
    for module in chain.from_iterable(map(_modules, PLACES)):
        for name, function in vars(module).items():
            whole = f"{module.__name__}.{name}"
            if is_public(name, function, module) and whole not in OF_WORDS:
                yield from _readers(whole, function)

    for suffix in FILES:
        yield Reader(f"tools.files{suffix}", partial(_file, suffix), FileLimits.text)


def _file(suffix: str, text: str) -> object:
    try:
        return read_file(FILE_READERS[suffix], FileContent(text.encode(), suffix, FileLimits()))
    except FileRefused:
        return None


def _modules(place: str) -> Iterator[ModuleType]:
    """Yield a module, or all modules of a package."""
    module = import_module(place)
    path = getattr(module, "__path__", [])
    names = [found.name for found in pkgutil.walk_packages(path, f"{place}.")]
    yield from (import_module(name) for name in names if not name.startswith(WITHOUT))
    if not names:
        yield module


def is_public(name: str, function: object, module: ModuleType) -> bool:
    """Tell whether something in a module is a function of its own for others to call at once."""
    own = getattr(inspect.unwrap(function) if callable(function) else function, "__module__", "")
    return (
        not name.startswith("_")
        and inspect.isroutine(inspect.unwrap(function) if callable(function) else function)
        and own == module.__name__
        and not inspect.iscoroutinefunction(function)
        and not inspect.isasyncgenfunction(function)
    )


def _readers(name: str, function: Callable[..., object]) -> Iterator[Reader]:
    wanted = _wanted(function)
    if wanted is None:
        return
    texts = [one for one, kind in wanted.items() if kind not in NO_TEXT and one not in OWN]
    hostile = {f"({at})" if len(texts) > 1 else "": {at} for at in texts}
    if len(texts) > 1:
        hostile["(all)"] = set(texts)
    for at, names in hostile.items():
        most = min(LONGEST.get(one, FileLimits.text) for one in names)
        read = partial(_read, function, wanted, names)
        yield Reader(name + at, read, most, not SENTENCES.isdisjoint(names))


def _wanted(function: Callable[..., object]) -> dict[str, object] | None:
    """Return the types of the arguments that a function must have, if all of them can be made."""
    try:
        hints = get_type_hints(inspect.unwrap(function))
    except NameError:
        return None
    needed = {
        one.name: hints.get(one.name)
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }
    made = all(kind in EXAMPLES for kind in needed.values())
    return needed if made and set(needed.values()) - NO_TEXT else None


def _read(
    function: Callable[..., Any], wanted: Mapping[str, object], at: Collection[str], text: str
) -> object:
    """Call a function with a hostile text in one place, or in all of them."""
    if SENTENCES.intersection(at):
        return [_called(function, wanted, at, one.text) for one in split_sentences(text)]
    return _called(function, wanted, at, text)


def _called(
    function: Callable[..., Any], wanted: Mapping[str, object], at: Collection[str], text: str
) -> object:
    given = {
        name: EXAMPLES[kind](text if name in at else OWN.get(name, SHORT))
        for name, kind in wanted.items()
    }
    try:
        found = function(**given)
        return list(found) if inspect.isgenerator(found) else found
    except REFUSALS:
        return None
