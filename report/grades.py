"""Grade how well a sentence is supported by its sources."""

from __future__ import annotations

from graph.records import Grade

_GRADES: dict[str, Grade] = {
    "": "supported",
    "calculation": "contradicted",
    "contradicted": "contradicted",
    "date": "contradicted",
    "name": "contradicted",
    "negation": "contradicted",
    "other_number": "contradicted",
    "disputed": "weak",
    "hanging": "weak",
    "other_source": "weak",
    "review": "weak",
    "strength": "weak",
}


def grade(reason: str) -> Grade:
    """Return the grade of a sentence that is doubted for a reason; without one it is supported.

    It is contradicted if its sources say something else, weak if they say less or it refers to a
    removed sentence, and otherwise not found.
    """
    return _GRADES.get(reason, "not_found")
