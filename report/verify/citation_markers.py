"""Find the citations of a text, however a system spells them, and spell them `[S1]`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from report.markdown.code import mask_code, unmask_code
from report.verify.reference_list import LINK, WEB_ADDRESS, ListedReference, trim_address
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("report.verify", "citation_markers.toml", address=WEB_ADDRESS.pattern)

FIRST_NAMED_ID = 1001
"""The number of the first id for what has no number: named footnotes, links, entries of lists."""

_MAX_RANGE = 20
_KEEP = "\ue010{}\ue011"  # around an id, between private-use characters, until a line is done


class WrittenCitation(NamedTuple):
    """A citation in the text of a report."""

    id: str
    label: str
    """As its reader sees it: a number, the name of a footnote, or an address."""
    line: int
    address: str = ""
    """Where its link leads; empty for one without."""
    linked: bool = False
    """Whether it is a link or an address, and neither a number nor a footnote."""


class CitationSpeller:
    """Spells the citations of one report `[S1]`, line by line.

    Args:
        references: Its references, as they are listed.
        notes: The number of the list to which a footnote leads, by the name of the footnote.
        canonicalise: Returns the one form of a web address.
    """

    def __init__(
        self,
        references: Sequence[ListedReference],
        notes: Mapping[str, str],
        canonicalise: Callable[[str], str],
    ) -> None:
        self.canonicalise, self.notes = canonicalise, notes
        self.uses: list[WrittenCitation] = []
        self.ids: dict[str, str] = {}
        """The id of each label, number and canonical address."""
        self.addresses: dict[str, str] = {}
        """The canonical address of each id whose marker is a link, as first written."""
        self._line = self._named = 0
        self._unnumbered = [one for one in references if not one.label]
        self._numbered = any(one.label for one in references)
        for one in references:
            name = self.get_id(one.key)
            if one.address:
                self.ids.setdefault(canonicalise(one.address), name)
        self._authors = _list_authors(self._unnumbered, self.ids)
        self._labels = _list_labels(self._unnumbered, self.ids)
        self._round = False
        self._raised = False

    def choose_styles(self, lines: Sequence[str]) -> None:
        """Decide whether `(1)` and `¹` are citations: only where a numbered list has no others."""
        text = "\n".join(lines)
        if self._numbered and not _PATTERNS.marker.search(text):
            self._raised = bool(_PATTERNS.superscript.search(text))
            self._round = not self._raised

    def get_id(self, label: str) -> str:
        """Return the id of a label; a new one gets the next free id."""
        if label not in self.ids:
            has_number = label.isdigit() and int(label)
            number = int(label) if has_number else FIRST_NAMED_ID + self._named
            self._named += not has_number
            self.ids[label] = f"S{number}"
        return self.ids[label]

    def spell_line(self, line: str, number: int) -> str:
        """Return a line with its citations as `[S1]`, and record them."""
        self._line = number
        bare, kept = mask_code(line)
        text = _PATTERNS.image.sub("", bare)
        text = _PATTERNS.marker.sub(self._spell_marker, text)
        text = LINK.sub(self._spell_link, text)
        text = _PATTERNS.bare.sub(self._spell_address, text)
        if self._raised:
            text = _PATTERNS.superscript.sub(self._spell_raised, text)
        if self._round:
            text = _PATTERNS.round.sub(lambda one: self._spell_numbers(one["numbers"]), text)
        if self._labels:
            text = _PATTERNS.bracketed.sub(self._spell_labels, text)
        if self._authors:
            text = _PATTERNS.author_year.sub(self._spell_authors, text)
            text = _PATTERNS.narrative.sub(self._spell_narrative, text)
        text = text.replace("\ue010", "[").replace("\ue011", "]")
        text = _PATTERNS.behind_end.sub(r"\g<marks>\g<end>", text)
        return unmask_code(text, kept)

    def _cite(self, label: str, address: str = "", *, linked: bool = False) -> str:
        name = self.get_id(label)
        self.uses.append(WrittenCitation(name, label, self._line, address, linked))
        return _KEEP.format(name)

    def _spell_marker(self, found: re.Match[str]) -> str:
        for name in ("nested", "linked"):
            if found[name]:
                address = trim_address(found[f"{name}_address"])
                if not address.startswith("#"):
                    self._note_address(str(int(found[name])), address)
                return self._cite(str(int(found[name])), address)
        if found["note"]:
            label = self.notes.get(found["note"], found["note"])
            return self._cite(str(int(label)) if label.isdigit() else label)
        kinds = ("plain", "worded", "wide", "raised", "full")
        kind = next(name for name in kinds if found[name])
        where = found["where"] if kind == "plain" else ""
        return self._spell_numbers(found[kind], where or "") or found[0]

    def _note_address(self, label: str, address: str) -> None:
        """Keep the address of a marker that is a link."""
        self.addresses.setdefault(self.get_id(label), address)

    def _spell_numbers(self, numbers: str, places: str = "") -> str:
        """Return the ids of some numbers, and of those behind places: "1, p. 3; 2, beginning"."""
        labels = [*_expand(numbers)]
        for part in re.split(r"[;；]", places)[1:]:
            labels += [str(int(one[1])) for one in [re.match(r"\s*(\d{1,3})(?!\d)", part)] if one]
        return "".join(self._cite(label) for label in labels)

    def _spell_raised(self, found: re.Match[str]) -> str:
        word = re.search(r"\S*$", found.string[: found.start()])
        if word and _PATTERNS.unit_before.search(" " + word[0]):
            return found[0]
        return self._spell_numbers(unicodedata.normalize("NFKC", found["digits"]))

    def _spell_link(self, found: re.Match[str]) -> str:
        """Return the words of a link with the citation of its address behind them."""
        address = found["address"]
        title = found["title"].strip()
        if not address or address.startswith("#"):
            return title
        key = self.canonicalise(trim_address(address))
        shown = "" if WEB_ADDRESS.fullmatch(title) else title
        return f"{shown} {self._cite(key, trim_address(address), linked=True)}".strip()

    def _spell_address(self, found: re.Match[str]) -> str:
        written = found["angled"] or found["address"]
        address = trim_address(written)
        rest = "" if found["angled"] else written[len(address) :]
        cited = self._cite(self.canonicalise(address), address, linked=True)
        if found["angled"] or (found["open"] and found["close"]):
            return cited + rest
        return f"{found['open'] or ''}{cited}{rest}{found['close'] or ''}"

    def _spell_authors(self, found: re.Match[str]) -> str:
        """Return the citations of "(Frisch, 1967; Lindauer et al., 1955)"."""
        parts = [
            _PATTERNS.author_part.fullmatch(part.strip())
            for part in re.split(r"[;；]", found["inside"])
        ]
        if not all(parts):
            return found[0]
        return "".join(self._cite(self._name_author(one)) for one in parts if one)

    def _spell_labels(self, found: re.Match[str]) -> str:
        """Return the citations of "(bees.example n.d., p. 4; 王小明 2024a)", named as listed."""
        parts = [part.strip() for part in re.split(r"[;；]", found["inside"])]
        heads = [next((one for one in self._labels if _begins(part, one)), "") for part in parts]
        return "".join(map(self._cite, heads)) if all(heads) else found[0]

    def _spell_narrative(self, found: re.Match[str]) -> str:
        return f"{found['name']} {self._cite(self._name_author(found))}"

    def _name_author(self, found: re.Match[str]) -> str:
        full = f"{found['name'].casefold()} {found['year']}"
        if full in self._authors:
            return full
        label = _author_label(found["name"], found["year"])
        return label if label in self._authors else f"{found['name']} {found['year']}"


def _expand(numbers: str) -> Iterator[str]:
    """Yield the numbers of a group such as "1, 3-5"; a long range is its two ends."""
    for part in re.split(r"[,，、;；˒]", numbers):
        ends = [int(one) for one in re.findall(r"\d+", part)]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _MAX_RANGE:
            yield from map(str, range(ends[0], ends[1] + 1))
        else:
            yield from map(str, ends)


def _author_label(name: str, year: str) -> str:
    return f"{name.split()[-1].casefold()} {year}"


def _begins(text: str, label: str) -> bool:
    """Tell whether a text is a label, alone or before a place."""
    return text.startswith(label) and text[len(label) : len(label) + 1] in ("", ",", "，")


def _list_labels(references: Sequence[ListedReference], ids: dict[str, str]) -> set[str]:
    """Return the labels that begin the entries of a list, and let them lead to the entries' ids."""
    known: set[str] = set()
    for one in references:
        found = _PATTERNS.entry_label.match(one.text)
        if found:
            known.add(found["label"])
            ids.setdefault(found["label"], ids[one.key])
    return known


def _list_authors(references: Sequence[ListedReference], ids: Mapping[str, str]) -> set[str]:
    """Return the labels of entries by author and year, and let them lead to the entries' ids."""
    known: set[str] = set()
    for one in references:
        year = _PATTERNS.year.search(one.text[:200])
        names = re.findall(r"[A-Z][\w'’-]+", one.text[: year.start()]) if year else []
        letter = re.match(r"[a-z]", one.text[year.end() :]) if year else None
        when = f"{year[0]}{letter[0] if letter else ''}" if year else ""
        full = one.text[: year.start()].strip(" .,:(*_") if year else ""
        labels = [f"{full.casefold()} {when}", *(_author_label(name, when) for name in names[:6])]
        for label in labels if names else []:
            known.add(label)
            if isinstance(ids, dict):
                ids.setdefault(label, ids[one.key])
    return known
