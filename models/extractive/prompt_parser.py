"""Parse the marked blocks of a prompt back into what they were made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape, unescape
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from config.errors import Problem
from graph.plan import parse_plan
from prompts.data_blocks import QUOTATION_BODY, unescape_attribute, unescape_tags
from prompts.loader import render_prompt
from prompts.prompt_injection import INSTRUCTION_CUT
from text.answerability import SourcePassage
from text.pattern_files import read_packaged_toml
from text.regex import regex
from text.script import detect_language

_NAMES = (
    "question|conversation|count|queries|pages|page|step|needs|findings|finding|draft|feedback"
    "|plan|limit|gaps|request|notes|earlier|open|talk|outline|version|change"
)
_BLOCK = regex(rf'<({_NAMES})((?: [\w-]+="[^"]*")*)>\n?(.*?)\n?</\1>', re.DOTALL)
_ATTRIBUTE = regex(r'([\w-]+)="([^"]*)"')
_WISH = regex(r"<wish>\n(.*?)\n</wish>", re.DOTALL)
_QUOTE = regex(rf'(?:\*([^*\n]{{1,200}})\*[:：] ?)?<q s="(S\d+)">({QUOTATION_BODY})</q>')
_ITEM = regex(r"\n  - \Z")
"""What stands before a quote that is an item of the list that the quote above announces."""
_UNDER = regex(r'^### (?P<title>.+)$|<q s="(?P<source>S\d+)">', re.MULTILINE)

_CONCISE = regex(
    r"^<profile>\n(?:- .*\n)*- (?:Prefers concise answers\.|希望回答的详略：简洁。)\n"
    r"(?:- .*\n)*</profile>$",
    re.MULTILINE,
)
"""What the memory tells of a person who likes short answers (`[profile]` in `phrases.toml`)."""

LEAST_INSTRUCTIONS = 100
"""What a system message begins with, in characters, tells its language; a shorter one does not."""


class SourceQuote(NamedTuple):
    """Words that stand in a source exactly so."""

    source: str
    text: str
    section: str = ""
    """The sections of a configuration that they stand in."""
    items: tuple[str, ...] = ()
    """The items of the list that they announce."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The words and the items below them."""
        return (self.text, *self.items)


class PromptFinding(NamedTuple):
    """A finding as a prompt shows it."""

    id: str
    title: str
    status: str
    text: str

    @property
    def quotes(self) -> list[SourceQuote]:
        """The quotes of the finding, in its order, as they stand in their sources."""
        quotes: list[SourceQuote] = []
        for found in _QUOTE.finditer(self.text):
            text = unescape(found[3])
            if quotes and _ITEM.search(self.text, 0, found.start()):
                quotes[-1] = quotes[-1]._replace(items=(*quotes[-1].items, text))
            else:
                quotes.append(SourceQuote(found[2], text, found[1] or ""))
        return quotes

    @property
    def document_titles(self) -> dict[str, str]:
        """The title that each source is quoted under, where the finding is set out by document."""
        titles: dict[str, str] = {}
        title = ""
        for found in _UNDER.finditer(self.text):
            title = found["title"] or title
            if found["source"] and title:
                titles.setdefault(found["source"], title)
        return titles


class ParsedPrompt(NamedTuple):
    """What a prompt says; what it does not say is empty."""

    question: str = ""
    conversation: str = ""
    query_count: int = 0
    """How many queries are wanted."""
    step_limit: int = 4
    queries: tuple[str, ...] = ()
    pages: tuple[SourcePassage, ...] = ()
    step: tuple[str, str] | None = None
    """The title and the description of the step."""
    findings: tuple[PromptFinding, ...] = ()
    earlier_findings: tuple[PromptFinding, ...] = ()
    """What was found out for earlier questions of the thread; what it quotes is in `pages` too."""
    plan: Mapping[str, Any] = MappingProxyType({})
    feedback: str = ""
    gaps: tuple[str, ...] = ()
    request: str = ""
    """What memory is asked for."""
    notes: str = ""
    """What is known already."""
    version: str = ""
    """The report so far, of which the next version is to be written."""
    version_kind: str = ""
    """How it is to be changed (`graph.records.Revision`)."""
    topic: str = ""
    """The section that is to be deepened, or what is to be added."""
    transcript: str = ""
    """A conversation that is to be shortened."""
    last_message: str = ""
    """The newest words of the person, whole."""
    earlier_messages: tuple[str, ...] = ()
    """What the person said before them, oldest first."""
    prompt_language: Literal["zh", "en", ""] = ""
    """The language of the instructions, in which the report is written."""
    wishes: tuple[str, ...] = ()
    """What the person said against plans, oldest first."""
    source_languages: tuple[str, ...] = ()
    """The codes of the languages that the outline of the sources names."""
    concise: bool = False
    """Whether the person is known to like short answers."""

    @property
    def language(self) -> Literal["zh", "en"]:
        """The language to write in: that of the instructions, or else of the question."""
        asked = self.question or self.last_message or " ".join(self.step or ())
        return self.prompt_language or detect_language(asked)

    @property
    def words(self) -> Mapping[str, str]:
        """What the model says of its own, in the language to write in."""
        return _wording()[self.language]


@cache
def _wording() -> dict[str, dict[str, str]]:
    return read_packaged_toml("models.extractive", "wording.toml")


def parse_prompt(messages: Sequence[BaseMessage]) -> ParsedPrompt:
    """Read the newest message that has blocks, and the pages that tools returned."""
    asked = [message.text for message in messages if isinstance(message, HumanMessage)]
    marked = next((text for text in reversed(asked) if _BLOCK.search(text)), "")
    spoken = _spoken(messages, asked)
    if not marked:
        return spoken
    blocks = list(_blocks(marked))
    named = {tag: attributes for tag, attributes, _ in blocks}
    inside = {tag: text for tag, _, text in blocks}
    texts = {tag: unescape_tags(text) for tag, text in inside.items()}
    shown = [text for tag, _, text in blocks if tag == "pages"]
    shown += [message.text for message in messages if isinstance(message, ToolMessage)]
    pages = [page for text in shown for page in _pages(text)]
    earlier = tuple(_findings(inside.get("earlier", "")))
    step = texts.get("step", "")
    return spoken._replace(
        question=texts.get("question", ""),
        conversation=texts.get("conversation", ""),
        query_count=_number(texts.get("count"), 0),
        step_limit=_number(texts.get("limit"), 4),
        queries=_lines(texts.get("queries", "")),
        pages=(*pages, *_quoted(earlier, pages)),
        earlier_findings=earlier,
        step=(named["step"].get("title", step), step) if "step" in named else None,
        findings=tuple(_findings(inside.get("findings", marked))),
        plan=_plan(texts.get("plan", "")),
        feedback=texts.get("feedback", ""),
        gaps=_lines(texts.get("gaps", "")),
        request=texts.get("request", ""),
        notes=texts.get("notes", ""),
        version=_checked(inside.get("version", "")),
        version_kind=named.get("version", {}).get("kind", ""),
        topic=named.get("change", {}).get("topic", ""),
        transcript=texts.get("talk", ""),
        source_languages=tuple(named.get("outline", {}).get("languages", "").split()),
    )


def _spoken(messages: Sequence[BaseMessage], asked: Sequence[str]) -> ParsedPrompt:
    """Return what a conversation says outside of blocks.

    Args:
        messages: The conversation.
        asked: The texts of the person's messages in it.
    """
    return ParsedPrompt(
        last_message=asked[-1] if asked else "",
        earlier_messages=tuple(asked[:-1]),
        prompt_language=_tongue(messages),
        wishes=tuple(_wishes(messages)),
        concise=any(_CONCISE.search(one.text) for one in messages if one.type == "system"),
    )


def _tongue(messages: Sequence[BaseMessage]) -> Literal["zh", "en", ""]:
    """Return the language of the instructions; a few words of them do not tell it."""
    told = next((one.text for one in messages if isinstance(one, SystemMessage)), "")
    return detect_language(told[:LEAST_INSTRUCTIONS]) if len(told) >= LEAST_INSTRUCTIONS else ""


def _wishes(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """Yield the wishes that the instructions end in."""
    for one in messages:
        if isinstance(one, SystemMessage):
            yield from (unescape_tags(wish) for wish in _WISH.findall(one.text))


def _blocks(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the name, the attributes and the still guarded inside of each outermost block."""
    for block in _BLOCK.finditer(text):
        named = {name: unescape_attribute(value) for name, value in _ATTRIBUTE.findall(block[2])}
        yield block[1], named, block[3]


def _pages(text: str) -> Iterator[SourcePassage]:
    for tag, named, inside in _blocks(text):
        if tag == "pages":
            yield from _pages(inside)
        elif tag == "page" and named.get("id"):
            place = named.get("place", "")
            computed = named.get("kind") == "computed"
            said = unescape_tags(inside).replace(INSTRUCTION_CUT, "\n\n")
            if computed and _is_of_program(said):
                computed, said = False, said.partition("\n\n")[2]
            yield SourcePassage(named["id"], named.get("title", ""), place, said, computed)


def _is_of_program(text: str) -> bool:
    """Tell whether a program printed a text: it is evidence, and answered another question."""
    heads = [
        render_prompt(name, language=language, inputs="\0").partition("\0")[0]
        for name in ("computed", "computed_from")
        for language in ("en", "zh")
    ]
    return text.startswith(tuple(heads))


def _findings(text: str) -> Iterator[PromptFinding]:
    for tag, named, inside in _blocks(text):
        if tag == "finding":
            title, status = named.get("title", ""), named.get("status", "")
            yield PromptFinding(named.get("id", ""), title, status, _checked(inside))


def _checked(inside: str) -> str:
    """Return a checked text as it was: the words of its quotations are escaped."""
    parts = [
        unescape_tags(part) for part in re.split(rf'(<q s="S\d+">)({QUOTATION_BODY})(</q>)', inside)
    ]
    return "".join(
        escape(part, quote=False) if at % 4 == 2 else part for at, part in enumerate(parts)
    )


def _quoted(
    findings: Sequence[PromptFinding], pages: Sequence[SourcePassage]
) -> Iterator[SourcePassage]:
    """Yield what findings quote as pages of its own, without what stands on other pages."""
    for quote in (quote for found in findings for quote in found.quotes):
        if not any(page.id == quote.source and quote.text in page.text for page in pages):
            yield SourcePassage(quote.source, "", "", "\n".join(quote.parts))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.strip().isdigit() else default


def _plan(text: str) -> dict[str, Any]:
    try:
        return dict(parse_plan(text)) if text else {}
    except Problem:
        return {}
