"""Write the next version of a report with its own sentences and new quotes."""

from __future__ import annotations

from models.extractive.prompt_parser import ParsedPrompt
from models.extractive.writing import WrittenAnswer, write_report
from text.summaries import make_title
from text.topics import key_phrase

SHORTER = 0.7
"""A version that keeps more than this part of a report is not shorter; its opening alone is."""

SECTION = "\n## "
"""What a section of a report begins with."""


def revise_report(prompt: ParsedPrompt) -> WrittenAnswer:
    """Return the next version of the report in a prompt.

    A shorter one keeps the opening and the first line of each section; another form or language is
    beyond quoting, so the report stays. What is deepened or added stands behind it.
    """
    if prompt.version_kind == "shorten":
        return WrittenAnswer(shorten_report(prompt.version))
    if prompt.version_kind in ("deepen", "add"):
        return _extended(prompt)
    if prompt.version_kind == "refresh" and (prompt.findings or prompt.pages):
        return write_report(prompt)
    return WrittenAnswer(prompt.version)


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
    """Return a report with what was found in addition, in a section of its own."""
    found = [one for one in prompt.findings if one.quotes]
    pages = tuple(page for page in prompt.pages if page.text not in prompt.version)
    if not (found or pages):
        return WrittenAnswer(prompt.version)
    written = write_report(prompt._replace(version="", earlier_findings=(), pages=pages))
    lines = [line for line in written.text.split("\n") if not _is_told(line, prompt.version)]
    new = "\n".join(lines).replace(SECTION, "\n### ").strip()
    if "<q " not in new:
        return WrittenAnswer(prompt.version)
    title = make_title(prompt.topic or key_phrase(prompt.question))
    return WrittenAnswer(f"{prompt.version}\n{SECTION}{title}\n\n{new}", written.unsure)


def _is_told(line: str, version: str) -> bool:
    """Tell whether a line of a list stands in the version before."""
    return line.startswith("- ") and line.removeprefix("- ").strip() in version
