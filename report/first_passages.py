"""Choose from the passages of the first search those that a plan is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from graph.records import Background, Passage, Source
from library.page_retrieval import document_location
from text.keyword_ranking import find_distinct_texts

FROM_A_DOCUMENT = 2
"""The most passages of one document, if there are several documents."""


def select_first_passages(
    entries: Mapping[str, Background], sources: Mapping[str, Source]
) -> list[Passage]:
    """Return the passages of all queries, the best of each first, so that they show the most.

    What a query found again, in the same words or nearly so, is left out: also where it is in a
    copy of a document. What was computed is kept whole.

    Args:
        entries: What the queries of a turn found.
        sources: The sources of the thread by id.
    """
    found = [*_interleave([entry["passages"] for entry in entries.values()])]
    computed = [one for one in found if sources[one["source"]]["kind"] == "computed"]
    read = [one for one in found if one not in computed]
    distinct = [read[at] for at in find_distinct_texts([one["text"] for one in read])]
    cited = [sources[one["source"]] for one in distinct]
    documents = [document_location(source["location"]) or source["page"] for source in cited]
    if len(set(documents)) < 2:
        return [*computed, *distinct]
    kept: list[Passage] = []
    counts = Counter[str]()
    for one, document in zip(distinct, documents, strict=True):
        counts[document] += 1
        if counts[document] <= FROM_A_DOCUMENT:
            kept.append(one)
    return [*computed, *kept]


def _interleave(lists: Sequence[Sequence[Passage]]) -> Iterator[Passage]:
    """Yield the first items of all lists, then the second ones, and so on."""
    return (one for one in chain.from_iterable(zip_longest(*lists)) if one is not None)
