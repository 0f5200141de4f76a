"""Tell how well its sources bear out a sentence, on one scale."""

from __future__ import annotations

from graph.records import Grade

_GRADES: dict[str, Grade] = {
    "": "supported",
    "calculation": "contradicted",
    "contradicted": "contradicted",
    "date": "contradicted",
    "name": "contradicted",
    "negation": "contradicted",
    "number": "contradicted",
    "hanging": "weak",
    "other_source": "weak",
    "review": "weak",
    "strength": "weak",
}


def grade(reason: str) -> Grade:
    """Return the grade of a sentence that is doubted for a reason; without one it is supported.

    It is contradicted where its sources have something else in its place, weak where they say less
    or it hangs on what was taken out, and else not found.
    """
    return _GRADES.get(reason, "not_found")
