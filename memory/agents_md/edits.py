"""Check an edit that an agent asks for, find whose words it has, and make a proposal of it."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import select

from config.errors import ErrorCode, Problem
from config.settings import settings
from library.tables import pages, sources
from memory.agents_md.content import (
    MAX_FILE_BYTES,
    decode_file,
    replace_learned,
    split_sections,
    strip_invisible,
)
from memory.agents_md.file_sources import FileSource
from memory.agents_md.proposals import Proposal, approve_proposal, save_proposal
from memory.experience.utterances import list_person_messages
from memory.learning.claim_checks import shares_word_family
from memory.learning.own_words import extract_own_words, is_instruction
from memory.learning.patterns import PHRASES, strip_matches
from storage.engine import read_rows
from text.normalization import normalize_text
from text.pattern_files import PatternFile
from text.secret_masking import list_secret_kinds
from text.sentences import split_sentences
from text.words import STOPWORDS

_PATTERNS = PatternFile(__package__, "edits.toml")

WORD_RUN = 5
"""The words, or Chinese characters, in a row that rarely agree by chance.

An edit that is wrongly suspected only waits for the person.
"""

CONTENT_WORD_RUN = 4
"""The same for words that all carry meaning."""

MIN_CONTENT = 4
"""The least content of a part that counts: a meaningful word has 2, a Chinese character 1."""

SHORT_SENTENCE = 80
"""The most characters of a sentence that may have no run of words; longer ones are found by one."""

ENDS = tuple(".!?。！？")

MAX_SENTENCE_LINES = 4
"""The most lines of a short sentence of a page."""

UNTRUSTED = frozenset(["tool", "web"])
"""The provenances of what strangers may have written."""


def has_copied_text(lines: Sequence[str], texts: Iterable[str]) -> bool:
    """Tell whether lines have words of any of some texts.

    These are a whole line, a part of a sentence with enough content, five words in a row, or four
    that carry meaning, also across lines, or a whole short sentence of a text. Spaces, marks,
    accents, case, invisible characters and look-alike forms of letters do not count.
    """
    single = (line for text in lines for line in normalize_text(text).split("\n"))
    plain = [_plain(_PATTERNS.item_mark.sub("", line)) for line in single]
    wanted = _Fingerprint.of(plain)
    return any(wanted.occurs_in(_plain(text)) for text in texts)


class _Fingerprint(NamedTuple):
    """The parts of lines in plain form that are searched for in pages."""

    whole: str
    """All words of the lines without spaces."""
    runs: frozenset[str]
    """Lines, parts of sentences and runs of words, each without spaces."""
    content: frozenset[str]
    """Runs of meaningful words, with a space before and after each."""

    @classmethod
    def of(cls, lines: Sequence[str]) -> _Fingerprint:
        """Return the parts of some lines."""
        words = _PATTERNS.word.findall("\n".join(lines))
        clauses = {
            _squeezed(strip_matches(_PATTERNS.frame, clause))
            for line in lines
            for clause in _PATTERNS.clause.split(line)
            if _content(strip_matches(_PATTERNS.frame, clause)) >= MIN_CONTENT
        }
        runs = {*map(_squeezed, lines), *clauses, *map("".join, _windows(words, WORD_RUN))} - {""}
        rows = _windows(list(filter(_is_meaningful, words)), CONTENT_WORD_RUN)
        content = {_spaced(row) for row in rows if all(len(one) > 1 for one in row)}
        return cls("".join(words), frozenset(runs), frozenset(content))

    def occurs_in(self, text: str) -> bool:
        """Tell whether a text has any of the parts, or the lines a short sentence of the text."""
        words = _PATTERNS.word.findall(text)
        squeezed = "".join(words)
        if any(one in squeezed for one in self.runs):
            return True
        content = _spaced(list(filter(_is_meaningful, words)))
        return any(one in content for one in self.content) or any(
            _squeezed(one) in self.whole for one in _short_sentences(text)
        )


class ReadHistory(NamedTuple):
    """What an agent has read, and what the person has said to it."""

    texts: Sequence[str] = ()
    untrusted: bool = False
    """Whether any of it is from the web or a tool."""
    user_messages: Sequence[str] = ()
    """The person's messages."""


async def load_read_history(owner: str, thread: str, run: str) -> ReadHistory:
    """Return the pages that a run, or an earlier one of its thread, has read."""
    shown = select(sources.c.page).filter_by(thread=thread)
    wanted = pages.c.id.in_(shown) | (pages.c.run == run)
    asked = select(pages.c.text, pages.c.provenance).where(pages.c.owner == owner, wanted)
    rows = (await read_rows(asked)).all()
    untrusted = any(row.provenance in UNTRUSTED for row in rows)
    said = await list_person_messages(owner, [thread])
    return ReadHistory([row.text for row in rows], untrusted, said)


def is_requested_by_user(added: Sequence[str], removed: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether a person has asked for an edit in their own words.

    Each new line must be one of their whole instructions, or of their statements about themselves;
    old lines are removed only if new ones on the same subject replace them.
    """
    wishes = {plain for message in said for plain in _instructions(message)}
    worded = filter(_PATTERNS.word.search, added)
    lines = [_PATTERNS.item_mark.sub("", line).strip() for line in worded]
    if not lines or not all(_bare(line) in wishes for line in lines):
        return False
    gone = filter(_PATTERNS.word.search, removed)
    return all(any(shares_word_family(line, one) for one in lines) for line in gone)


def _instructions(message: str) -> Iterator[str]:
    """Yield a person's instructions, sentence by sentence, without polite words.

    The parts of a sentence count by themselves only if each is an instruction.
    """
    for sentence in split_sentences(extract_own_words(message)):
        said = strip_matches(PHRASES.lead, sentence.text)
        rest = strip_matches(_PATTERNS.frame, PHRASES.note.sub("", said, count=1))
        if PHRASES.note.match(said) or is_instruction(rest):
            yield _bare(rest)
        parts = [strip_matches(_PATTERNS.frame, one) for one in _PATTERNS.part.split(rest)]
        if len(parts) > 1 and all(map(is_instruction, parts)):
            yield from map(_bare, parts)


def _bare(text: str) -> str:
    """Return the words of an instruction without those around it, joined by spaces."""
    return " ".join(_PATTERNS.word.findall(_plain(strip_matches(_PATTERNS.frame, text))))


def _windows(words: Sequence[str], size: int) -> list[Sequence[str]]:
    """Return all runs of words of a length."""
    return [words[at : at + size] for at in range(len(words) - size + 1)]


def _short_sentences(text: str) -> Iterator[str]:
    """Yield the short sentences of a page in plain form that have enough content.

    A sentence may begin at any of its last lines: the lines above may be a heading.
    """
    for one in _PATTERNS.sentence.split(text):
        sentence = one.rstrip("\"'”’)*_ \n")
        lines = sentence.split("\n")[-MAX_SENTENCE_LINES:] if sentence.endswith(ENDS) else []
        for at in range(len(lines)):
            part = "\n".join(lines[at:])
            if len(part) <= SHORT_SENTENCE and _content(part) >= MIN_CONTENT:
                yield part


def _content(text: str) -> int:
    words = filter(_is_meaningful, _PATTERNS.word.findall(text))
    return sum(1 if _PATTERNS.character.match(one) else 2 for one in words)


def _is_meaningful(word: str) -> bool:
    return word not in STOPWORDS


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _squeezed(text: str) -> str:
    return "".join(_PATTERNS.word.findall(text))


def _plain(text: str) -> str:
    """Return a text in lower case, without accents and invisible characters."""
    seen = unicodedata.normalize("NFKD", strip_invisible(normalize_text(text)))
    return unicodedata.normalize("NFKC", _PATTERNS.marks.sub("", seen)).casefold()


MAX_EDIT_CHARS = 2_000
"""The most characters that one edit may add."""

MAX_REASON_CHARS = 500
"""The most characters of a stored reason."""

NOTHING_READ = ReadHistory()


class FileEdit(NamedTuple):
    """An edit that an agent asks for."""

    new: str
    """The new lines; empty to delete the old ones."""
    why: str
    old: str = ""
    """The words of the agents' section that they replace; empty to append them."""
    path: str = ""
    """The file; the person's own if empty."""


class EditRequester(NamedTuple):
    """The owner, run and step of the agent that asks."""

    owner: str
    run: str = ""
    step: str = ""


async def propose_edit(
    asker: EditRequester,
    sources: Sequence[FileSource],
    edit: FileEdit,
    read: ReadHistory = NOTHING_READ,
) -> Proposal:
    """Propose an edit; it is applied at once if the installation allows that.

    Only what agents wrote can be changed. An edit is applied at once only if the person has said
    its words and nothing that the agent has read contains them; every other edit waits for the
    person, since a stranger's text may have caused it, however it is worded.

    Args:
        asker: Who asks.
        sources: The files; the first is the person's.
        edit: The edit.
        read: What the agent has read.

    Raises:
        Problem: `edit_refused`, or what is wrong with the file.
    """
    source = _source(sources, edit.path)
    new = _clean(edit)
    text = decode_file(await source.files.read(source.path) or b"", source.path)
    before, inside, after = split_sections(text, source.path)
    wanted = _edited(inside, edit.old.replace("\r\n", "\n"), new, outside=before + after)
    if len(replace_learned(text, wanted, source.path).encode()) > MAX_FILE_BYTES:
        raise _refused("the file would be too large", "take out what matters no more")
    asked = Proposal(asker.owner, source.path, inside, wanted, edit.why.strip()[:MAX_REASON_CHARS])
    own = is_requested_by_user(asked.added, asked.removed, read.user_messages)
    if await asyncio.to_thread(has_copied_text, asked.added, read.texts) or (
        read.untrusted and not own
    ):
        asked = asked._replace(provenance="web")
    kept = await save_proposal(asked._replace(run=asker.run, step=asker.step))
    if own and kept.provenance != "web" and settings().memory_edits == "allow":
        await approve_proposal(kept.owner, kept.id, source.files, status="allowed")
        return kept._replace(status="allowed")
    return kept


def _source(sources: Sequence[FileSource], path: str) -> FileSource:
    for source in sources:
        if path in ("", source.path):
            return source
    known = ", ".join(source.path for source in sources)
    what = f"{path!r} is no memory file"
    raise _refused(what, f"one of: {known}" if known else "there is none")


def _clean(edit: FileEdit) -> str:
    """Return the new lines with plain line breaks and without invisible characters."""
    new = strip_invisible(normalize_text(edit.new)).strip("\n")
    if not edit.why.strip():
        raise _refused("no reason is given", "say why it should be kept")
    if not (new.strip() or edit.old):
        raise _refused("there is nothing to write")
    if len(new) > MAX_EDIT_CHARS:
        what = f"it has {len(new)} characters, the most is {MAX_EDIT_CHARS}"
        raise _refused(what, "keep what matters")
    if list_secret_kinds(new):
        raise _refused("it holds what looks like a password, a key or the number of a card")
    if "<!--" in new or "-->" in new:
        raise _refused("comments may not be written")
    return new


def _edited(inside: str, old: str, new: str, *, outside: str) -> str:
    """Return the agents' lines after an edit."""
    if not old:
        edited = f"{inside}{new}"
    elif inside.count(old) == 1:
        edited = inside.replace(old, new)
    elif old in inside:
        raise _refused("the old words stand there more than once", "give more of them")
    elif old in outside.replace("\r\n", "\n"):
        raise _refused("the person wrote that, and only they change it")
    else:
        raise _refused("the old words do not stand in what agents wrote")
    lines = edited.strip("\n")
    edited = f"{lines}\n" if lines.strip() else ""
    if edited == inside:
        raise _refused("that changes nothing")
    return edited


def _refused(what: str, hint: str = "") -> Problem:
    return Problem(ErrorCode.EDIT_REFUSED, what, hint=hint)
