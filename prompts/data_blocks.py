"""Mark data for a model in named blocks, so that it can tell data from instructions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import unescape
from itertools import zip_longest
from typing import Any, cast

from graph.records import WEAK_GENRES
from prompts.prompt_injection import cut_injections

TAGS = re.findall(
    r"\w+",
    """abstract answer change contested contradictions conversation count criteria disagreements
    doubted draft earlier error evidence experience fact facts feedback figures finding findings
    gaps inputs insight instructions knowledge known languages limit links memory message
    messages needs new not_found note notes open other others outline page pages plan profile
    program programs queries question raised reference removed report reports request run runs
    section sentence sentences source sources stale step summary table tables talk tools trait
    traits version wish wishes withheld""",
)
"""The names of the blocks that prompts have."""

_FORGED = (*TAGS, "q", "quote", "system", "assistant", "user", "human")
"""The tags that data cannot open or close: blocks, quotations, and those of a conversation."""

_UNSEEN = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
"""Characters that do not show, so that a tag with one of them between looks like one without."""

QUOTATION_BODY = r"[^<]*+(?:<(?!/q>|q\s)[^<]*+)*+"
"""A pattern of the text inside a quotation, in which no other quotation begins."""

_QUOTED = re.compile(rf'(<q s="S\d+">)({QUOTATION_BODY})(</q>)')
_PAGE = re.compile(r'<page id="([^"]*)"(?: [\w-]+="[^"]*")*>\n(.*?)\n</page>', re.DOTALL)

_PLAIN = re.compile(r"[\W_]+")
_NUMBERED = re.compile(r"-\d+$")

LEFT_OUT = "[…]"
"""Stands for what is left out at the end of a text."""

OVERLAP = 40
"""Two texts overlap if the end of one is so many characters of the other's beginning, or more."""

BETWEEN = 2
"""Pieces of a page touch if no more than so many characters of white space are between them."""

Data = Mapping[str, object]
"""A passage, a source or a finding as plain data."""


def render_block(tag: str, data: object, **attributes: object) -> str:
    """Mark data for a model, guarded so that it cannot end its block; nothing for no data.

    Text stands as it is, anything else as JSON.
    """
    if data in (None, "", [], {}):
        return ""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return wrap_blocks(tag, [escape_tags(text, tag)], **attributes)


def render_cited_block(tag: str, text: str, **attributes: object) -> str:
    """Mark a text that was checked; its quotations stand in it as they are to be copied."""
    return wrap_blocks(tag, [_checked(text, tag)], **attributes)


def _checked(text: str, tag: str) -> str:
    parts = _QUOTED.split(text)
    # Each quotation is its mark, its words, which a checked text has escaped, and its end.
    return "".join(
        part if at % 4 in (1, 3) else escape_tags(unescape(part) if at % 4 == 2 else part, tag)
        for at, part in enumerate(parts)
    )


def escape_tags(text: str, *tags: str) -> str:
    """Return data with the `<` of each tag escaped that could end or forge a block.

    Everything else stands as it is written, so that a model can copy it.

    Args:
        text: The data.
        tags: Names of blocks around it that are not among those of the prompts.
    """
    guard = _guard(frozenset(tags) - {"", *_FORGED})
    return guard.sub(lambda found: _escape_more(found[0], "&lt;"), text)


def unescape_tags(text: str) -> str:
    """Return data as they were before they were guarded."""
    return _guard(frozenset()).sub(lambda found: _escape_less(found[0], "<"), text)


def wrap_blocks(tag: str, parts: Iterable[str], **attributes: Any) -> str:
    """Put blocks that are already marked into a block around them; nothing for none."""
    inside = "\n".join(part for part in parts if part)
    if not inside:
        return ""
    named = "".join(f' {name}="{_attribute(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{named}>\n{inside}\n</{tag}>"


def join_prompt_blocks(*parts: str) -> str:
    """Join the blocks of a prompt, leaving empty ones out."""
    return "\n\n".join(part for part in parts if part)


def render_step_block(step: Data) -> str:
    """Mark a step by its description and its title, or by one where they are the same."""
    title, description = str(step["title"]), str(step["description"])
    named = {} if description in ("", title) else {"title": title}
    return render_block("step", description or title, **named)


def render_pages_block(
    passages: Iterable[Data], sources: Mapping[str, Data], tag: str = "pages"
) -> str:
    """Mark passages, each with the id, the title and the place of its source.

    What a passage stands under is told beside its words, so that nobody takes it for some of them.
    Those of one source follow each other in its order, and nothing of it is said twice. A passage
    says whether something of its page is left out in front of it, and behind the last one. What
    gives instructions to a model is cut out of what is shown, never out of the passages themselves.
    """
    marked = []
    before = ""
    shown = _once_each(passages)
    for passage, following in zip_longest(shown, shown[1:]):
        source = sources[str(passage["source"])]
        named = {"id": source["id"], "title": cut_injections(str(source["title"]))}
        if place := _place(source):
            named["place"] = place
        if source.get("kind") in ("computed", "tool"):
            named["kind"] = source["kind"]
        named |= _standing(source)
        if passage.get("under"):
            named["under"] = cut_injections(str(passage["under"]))
        ends_page = not following or following["source"] != source["id"]
        sides = ["before"] if source["id"] == before or _start(passage) else []
        sides += ["after"] if passage.get("more") and ends_page else []
        if sides:
            named["left_out"] = " and ".join(sides)
        before = str(source["id"])
        marked.append(render_block("page", cut_injections(str(passage["text"])), **named))
    return wrap_blocks(tag, marked)


def render_sources_block(findings: Iterable[Data], sources: Mapping[str, Data]) -> str:
    """Mark the sources that findings cite: of each its id, title, place, site, genre and date."""
    cited_ids = [str(one) for finding in findings for one in cast("list[str]", finding["sources"])]
    lines = []
    for name in dict.fromkeys(one for one in cited_ids if one in sources):
        parts = [cut_injections(str(sources[name]["title"])), _place(sources[name])]
        described = ", ".join(part for part in parts if part)
        lines.append(f"- {name}: {described}{_describe_origin(sources[name])}")
    return render_block("sources", "\n".join(lines))


def _standing(source: Data) -> dict[str, object]:
    """Return the attributes of a page by which its word is weighed, as far as they are known."""
    site = source.get("site") if source.get("kind") == "web" else ""
    genre = source.get("genre") if source.get("genre") in WEAK_GENRES else ""
    known = {
        "site": site,
        "base": _base_name(source),
        "file": cut_injections(_file_name(source)),
        "date": source.get("published"),
        "genre": genre,
    }
    return {name: value for name, value in known.items() if value}


def _base_name(source: Data) -> object:
    """Return the name of the knowledge base that a source is from; nothing if it is from none."""
    return source.get("site") if source.get("kind") in ("knowledge", "computed") else ""


def _file_name(source: Data) -> str:
    """Return the name of a source that is a file, unless its title says it."""
    if source.get("kind") != "file":
        return ""
    location = str(source["location"])
    # A file may have a # in its name, but no place has one.
    path = location.rpartition("#")[0] or location
    name = path.rpartition("/")[2]
    return "" if name.rpartition(".")[0] in str(source["title"]) else name


def _describe_origin(source: Data) -> str:
    """Return the site or folder, the genre, the author and the date of a source in brackets."""
    genre = source.get("genre") if source.get("genre") not in ("file", "unknown") else ""
    named = _file_name(source)
    base = _base_name(source)
    where = f"knowledge base {base}" if base else named or source.get("site")
    known = (where, genre, source.get("author"), source.get("published"))
    told = ", ".join(cut_injections(str(part)) for part in known if part)
    return f" ({told})" if told else ""


def render_contradictions_block(found: Iterable[Data]) -> str:
    """Mark where sources contradict each other: what each says, and of what, side by side."""
    lines = [
        f"- {one['about']}\n  {one['one']}: {cut_injections(str(one['one_says']))}\n"
        f"  {one['other']}: {cut_injections(str(one['other_says']))}"
        for one in found
    ]
    return render_block("contradictions", "\n".join(lines))


def _place(source: Data) -> str:
    """Return the page, the lines or the rows of a source, or its anchor if no title says it."""
    # A file may have a # in its name, but no place has one.
    _, mark, place = str(source["location"]).rpartition("#")
    anchor = _PLAIN.sub("", _NUMBERED.sub("", place)).lower()
    named = anchor in _PLAIN.sub("", str(source["title"])).lower()
    return "" if not mark or named else place


def render_findings_block(findings: Iterable[Data], tag: str = "findings") -> str:
    """Mark findings, each with its step, how it came out, and what the checks doubt in it."""
    marked = (
        render_finding_block(one, id=one["step"], title=one["title"], status=one["status"])
        for one in findings
    )
    return wrap_blocks(tag, marked)


def render_finding_block(finding: Data, **named: object) -> str:
    """Mark a finding with the attributes that name it.

    Beside its text it has what the checks doubt in it, what was not found, and what disagrees.
    """
    text = _checked(str(finding["text"] or finding["reason"]), "finding")
    lines = {
        name: cast("list[str]", finding.get(name) or []) for name in ("not_found", "disagreements")
    }
    beside = [render_cited_block(name, "\n".join(said)) for name, said in lines.items() if said]
    doubted = render_cited_block("doubted", str(finding.get("doubted", "")))
    return wrap_blocks("finding", [text, doubted, *beside], **named)


def list_unseen_passages(passages: Iterable[Data], talk: Iterable[str]) -> list[Data]:
    """Return the passages that a conversation does not show, without the parts that it shows."""
    return list_new_passages(passages, find_shown_texts(talk))


def find_shown_texts(talk: Iterable[str]) -> dict[str, list[str]]:
    """Return the texts of sources that a conversation shows, by the ids of the sources."""
    seen: dict[str, list[str]] = {}
    for name, text in (found for said in talk for found in _PAGE.findall(said)):
        seen.setdefault(unescape_attribute(name), []).append(unescape_tags(text))
    return seen


def list_new_passages(passages: Iterable[Data], seen: Mapping[str, Sequence[str]]) -> list[Data]:
    """Return passages without what was seen of their sources, as `find_shown_texts` tells it."""
    return [
        passage if rest == shown else _rest(passage, rest)
        for passage in _once_each(passages)
        for shown in [cut_injections(str(passage["text"]))]
        for rest in _without(shown, seen.get(str(passage["source"]), []))
    ]


def _rest(passage: Data, text: str) -> Data:
    """Return a part of a passage, which stands under the same headings only if it begins it."""
    begins = str(passage["text"]).startswith(text)
    same = {name: value for name, value in passage.items() if begins or name != "under"}
    return {**same, "text": text}


def _without(text: str, seen: Iterable[str]) -> list[str]:
    """Return what is left of a text, in its order, without texts that stand in it or around it."""
    left = [text]
    for one in seen:
        left = [rest for part in left for rest in _rests(part, one)]
    return left


def _rests(text: str, seen: str) -> list[str]:
    if text in seen:
        return []
    if len(seen) >= OVERLAP and seen in text:
        return [part.strip() for part in text.split(seen) if part.strip()]
    begun, ended = _overlap(seen, text), _overlap(text, seen)
    return [text[begun : len(text) - ended].strip()]


def _overlap(text: str, following: str) -> int:
    """Return how many characters at the end of a text a following one begins with, if many."""
    most = min(len(text), len(following))
    sizes = range(most, OVERLAP - 1, -1)
    return next((size for size in sizes if text.endswith(following[:size])), 0)


def _once_each(passages: Iterable[Data]) -> list[Data]:
    """Return passages by source, those of each in its order, joined where they touch."""
    by_source: dict[object, list[Data]] = {}
    for passage in passages:
        by_source.setdefault(passage["source"], []).append(passage)
    return [one for found in by_source.values() for one in _in_order(found)]


def _in_order(found: Iterable[Data]) -> list[Data]:
    placed: list[Data] = []
    for passage in sorted(_different(found), key=_start):
        if placed and (text := _joined(placed[-1], passage)):
            placed[-1] = {**placed[-1], "text": text, "more": passage.get("more", False)}
        else:
            placed.append(passage)
    return placed


def _different(found: Iterable[Data]) -> list[Data]:
    """Return passages without those whose words stand in another."""
    texts = {str(passage["text"]): passage for passage in found}
    return [
        passage
        for text, passage in texts.items()
        if not any(text in other and text != other for other in texts)
    ]


def _start(passage: Data) -> int:
    start = passage.get("start")
    return start if isinstance(start, int) else 0


def _joined(one: Data, following: Data) -> str:
    """Return the text of two pieces of a page that touch or overlap; else nothing."""
    if "start" not in one or "start" not in following:
        return ""
    text, more = str(one["text"]), str(following["text"])
    gap = _start(following) - _start(one) - len(text)
    if gap > BETWEEN:
        return ""
    # What is shown of a page may be a little shorter than the page itself.
    shared = -gap if gap < 0 and text.endswith(more[:-gap]) else _overlap(text, more)
    if gap < 0 and not shared:
        return ""
    return text + "\n" * max(0, gap if not shared else 0) + more[shared:]


def unescape_attribute(value: str) -> str:
    """Return what the value of an attribute was before it was written."""
    return unescape_tags(re.sub(r"&(amp;)*quot;", lambda one: _escape_less(one[0], '"'), value))


def _attribute(value: str) -> str:
    """Write the value of an attribute, which only its own quotation mark could end."""
    guarded = escape_tags(value)
    return re.sub(r'"|&(?:amp;)*quot;', lambda one: _escape_more(one[0], "&quot;"), guarded)


@lru_cache(maxsize=64)
def _guard(tags: frozenset[str]) -> re.Pattern[str]:
    """Return what finds the `<` of a tag, as it is or escaped any number of times."""
    names = "|".join(map(re.escape, sorted({*_FORGED, *tags})))
    opened = rf"[{_UNSEEN}]*(?:{names})(?=[\s/<>&\"'{_UNSEEN}]|\Z)"
    closed = rf"[\s{_UNSEEN}]*/[\s{_UNSEEN}]*(?:{names})(?![\w-])"
    return re.compile(rf"(?:<|&(?:amp;)*lt;)(?={opened}|{closed})", re.IGNORECASE)


def _escape_more(written: str, once: str) -> str:
    """Escape a character once more."""
    return f"&amp;{written[1:]}" if written.startswith("&") else once


def _escape_less(written: str, bare: str) -> str:
    """Escape a character once less."""
    return f"&{written[5:]}" if written.startswith("&amp;") else bare
