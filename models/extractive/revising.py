"""Write the next version of a report with its own sentences and new quotes."""

from __future__ import annotations

from models.extractive.prompt_parser import ParsedPrompt
from models.extractive.writing import WrittenAnswer, write_report
from text.regex import regex
from text.summaries import make_title
from text.topics import key_phrase

SHORTER = 0.7
"""A version that keeps more than this part of a report is not shorter; its opening alone is."""

SECTION = "\n## "
"""What a section of a report begins with."""

_QUOTE = regex(r"<q [^<>]*>[^<>]*</q>")


def revise_report(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return the next version of the report in a prompt.

    A shorter one keeps the opening and the first line of each section; another form or language is
    beyond quoting, so the report stays. What is deepened or added stands behind it. An answer that
    was not certain before is not certain in another version.
    """
    if prompt.version_kind == "refresh" and (prompt.findings or prompt.pages):
        return write_report(prompt)
    if prompt.version_kind == "shorten":
        written = WrittenAnswer(shorten_report(prompt.version))
    elif prompt.version_kind in ("deepen", "add"):
        written = _extended(prompt)
    else:
        written = WrittenAnswer(prompt.version)
    was_unsure = prompt.version.lstrip().startswith(prompt.words["related"])
    return written._replace(unsure="") if was_unsure and written.unsure is None else written


def shorten_report(report: str) -> str:
    """Return the opening of a report and the first line below each of its headings."""
    opening, *sections = f"\n{report}".split(SECTION)
    opening = opening.strip().split("\n\n")[0]
    short = [opening] if opening else []
    for section in sections:
        title, *lines = [line for line in section.split("\n") if line.strip()]
        short += [f"## {title}\n\n{lines[0]}"] if lines else []
    text = "\n\n".join(short)
    return opening if opening and len(text) > SHORTER * len(report) else text


def _extended(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return a report with what was found in addition, in its section or in one of its own."""
    untold = (one._replace(text=_without_told(one.text, prompt.version)) for one in prompt.findings)
    found = tuple(one for one in untold if one.quotes)
    pages = tuple(page for page in prompt.pages if page.text not in prompt.version)
    if not (found or pages):
        return WrittenAnswer(prompt.version)
    request = prompt._replace(version="", earlier_findings=(), findings=found, pages=pages)
    written = write_report(request)
    new = _without_told(written.text, prompt.version).replace(SECTION, "\n### ").strip()
    if not _QUOTE.search(new):
        return WrittenAnswer(prompt.version)
    title = make_title(prompt.topic or key_phrase(prompt.question))
    return WrittenAnswer(_insert(prompt.version, title, new), written.unsure)


def _insert(report: str, title: str, new: str) -> str:
    """Return a report with a text at the end of its section of some title, or in a new one."""
    opening, *sections = f"\n{report}".split(SECTION)
    for at, section in enumerate(sections):
        if section.partition("\n")[0].strip() == title:
            sections[at] = f"{section.rstrip()}\n\n{new}"
            break
    else:
        sections.append(f"{title}\n\n{new}")
    return SECTION.join([opening, *(f"{one.rstrip()}\n" for one in sections)]).strip()


def _without_told(text: str, version: str) -> str:
    """Return a text without the lines of which all quotes stand in the version before."""
    return "\n".join(line for line in text.split("\n") if not _is_told(line, version))


def _is_told(line: str, version: str) -> bool:
    """Tell whether all that a line quotes stands in the version before."""
    quotes = _QUOTE.findall(line)
    return bool(quotes) and all(quote in version for quote in quotes)
