"""Compute FACT: citation accuracy and effective citations, from the verdicts on cited statements.

`average_fact` computes what `utils/stat.py` of the benchmark's repository writes, which the
leaderboard shows; `average_fact_by_task` what the paper defines: the mean of each task's accuracy,
and the supported statements by all tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from text.regex import regex

EXTRACTION_FAILED = "extraction failed"
"""What stands in the place of the citations of a report that could not be read."""

_LINK = regex(r"\[([^\]]+)\]\(([^)]+)\)")

FactRecord = dict[str, Any]
"""A line of the benchmark's files: `id`, `prompt`, `article`, `citations`, `citations_deduped`."""


class CitedStatement(BaseModel):
    """A statement of a report, and one source that it cites for it."""

    fact: str
    ref_idx: str | int = 0
    url: str = ""


class ExtractedCitations(BaseModel):
    """Every statement of a report that cites a source."""

    citations: list[CitedStatement]


class DistinctStatements(BaseModel):
    """The numbers of the statements that are left when repetitions are taken out."""

    kept: list[int]


class StatementVerdict(BaseModel):
    """Whether a page says a statement."""

    idx: int
    result: Literal["supported", "unsupported", "unknown"]


class StatementVerdicts(BaseModel):
    """The verdicts on all statements that cite one page."""

    verdicts: list[StatementVerdict]


def tidy_citation(citation: CitedStatement) -> dict[str, Any]:
    """Return a citation as the benchmark stores it: no address stands in its statement."""
    url = citation.url.strip().partition("#:~:text=")[0]
    return {"fact": _LINK.sub(r"[\1]", citation.fact), "ref_idx": citation.ref_idx, "url": url}


def group_by_url(citations: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the statements that cite each address, in order."""
    groups: dict[str, list[str]] = {}
    for one in citations:
        groups.setdefault(str(one["url"]), []).append(str(one["fact"]))
    return groups


def keep_distinct(facts: Sequence[str], kept: Sequence[int]) -> list[str]:
    """Return the statements with these numbers, from 1; all where the numbers are no such choice.

    So the benchmark does with an answer that cannot be used: nothing is lost by it.
    """
    chosen = list(dict.fromkeys(kept))
    fits = chosen and all(0 < number <= len(facts) for number in chosen)
    return [facts[number - 1] for number in chosen] if fits else list(facts)


def count_verdicts(record: FactRecord) -> tuple[int, int]:
    """Return how many statements of a report were judged, and how many of them are supported."""
    verdicts = [
        verdict["result"]
        for page in record.get("citations_deduped", {}).values()
        if page.get("validate_error") is None
        for verdict in page.get("validate_res", [])
        if verdict["result"] != "unknown"
    ]
    return len(verdicts), verdicts.count("supported")


def average_fact(records: Iterable[FactRecord]) -> dict[str, float]:
    """Return the figures of the benchmark's `fact_result.txt`.

    `total_citations` and `total_valid_citations` are means over the reports that cite anything,
    `valid_rate` the share of supported ones among all that were judged.
    """
    counts = [count_verdicts(one) for one in _read(records) if one["citations"]]
    judged, supported = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    return {
        "total_citations": judged / len(counts) if counts else 0.0,
        "total_valid_citations": supported / len(counts) if counts else 0.0,
        "valid_rate": supported / judged if judged else 0.0,
    }


def average_fact_by_task(records: Iterable[FactRecord]) -> dict[str, float]:
    """Return citation accuracy and effective citations over all tasks, as the paper has them.

    A report that cites nothing, or nothing that could be judged, has the accuracy 0.
    """
    counts = [count_verdicts(one) for one in _read(records)]
    accuracy = [supported / judged if judged else 0.0 for judged, supported in counts]
    return {
        "citation_accuracy": sum(accuracy) / len(counts) if counts else 0.0,
        "effective_citations": sum(one for _, one in counts) / len(counts) if counts else 0.0,
    }


def _read(records: Iterable[FactRecord]) -> list[FactRecord]:
    """Return the records whose citations could be read."""
    return [one for one in records if one["citations"] != EXTRACTION_FAILED]


def list_addresses(article: str) -> list[str]:
    """Return the web addresses in a report, each once."""
    found = re.findall(r"https?://[^\s<>\"'）】\])]+", article)
    return list(dict.fromkeys(one.rstrip(".,;:。，；") for one in found))
