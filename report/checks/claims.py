"""Classify sentences: claims about the world, remarks about the report, references back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

from report.checks.caveats import is_absence_remark, is_own_inference
from report.checks.synonyms import list_irregular_forms
from report.markdown.markdown_blocks import parse_blocks, split_statements, statement_key
from report.markdown.markers import MARKER
from text.pattern_files import PatternFile
from text.script import HAN
from text.words import search_words

_PATTERNS = PatternFile("report.checks", "claims.toml")

_MAX_LISTED_CHARS = 30  # a longer list after a colon is a claim


def is_introduction(statement: str) -> bool:
    """Tell whether a statement only announces what follows in a report, or its structure.

    After a colon, it may have only questions or a few words.
    """
    said, _, listed = re.sub(r"^\W+", "", statement).replace("：", ":").partition(":")
    found = _PATTERNS.introduces.match(said) or _PATTERNS.zh_introduces.match(said)
    short = len(listed) <= _MAX_LISTED_CHARS and not re.search(r"\d", listed)
    return bool(found) and (short or bool(_PATTERNS.asking.search(listed)))


@lru_cache(maxsize=1024)
def strip_transition(statement: str) -> str:
    """Return a statement without the transition at its beginning."""
    bare = re.sub(r"^\s*[*_>-]*\s*", "", statement)
    found = _PATTERNS.transition.match(bare) or _PATTERNS.zh_transition.match(bare)
    return bare[found.end() :] if found else statement


def has_back_reference(statement: str) -> bool:
    """Tell whether a statement begins with a pronoun for something named before it."""
    bare = _strip_opening(statement)
    if _PATTERNS.expletive.match(bare):
        return False
    return bool(_PATTERNS.points_back.match(bare) or _PATTERNS.zh_points_back.match(bare))


def has_summary_reference(statement: str) -> bool:
    """Tell whether a statement begins with a reference to the whole statement before it."""
    return bool(_PATTERNS.refers_to_all.match(_strip_opening(statement)))


def _strip_opening(statement: str) -> str:
    """Return a statement without the marks and the transition at its beginning."""
    return strip_transition(re.sub(r"^[\s*_>-]+", "", statement))


def is_summary_opener(statement: str) -> bool:
    """Tell whether a statement begins with words that introduce a summary."""
    return bool(_PATTERNS.sums_up.match(statement))


StatementKind = Literal["claim", "unsure", "open", "none"]
"""`unsure` is a hedged claim; `open` says what is unknown, or marks the writer's inference."""

_MAX_TOPIC_WORDS = 3  # a heading with no more words is a topic
_MAX_CLASSIFIED_CHARS = 2_000
_YES = {"yes", "是的", "不是"}
_CLOSING = " \t\n\"'”’」』»*_)）|"


def is_assertion(heading: str) -> bool:
    """Tell whether a heading makes a claim, rather than naming a topic or asking a question."""
    ending = _PATTERNS.ending.search(heading)
    if _PATTERNS.asks.match(heading) or (ending and not set("?？:：").isdisjoint(ending[0])):
        return False
    if re.search(f"[{HAN}]", heading):
        said = re.findall(f"[{HAN}]{{1,2}}|[A-Za-z0-9_.=-]+", heading)
        return len(said) > _MAX_TOPIC_WORDS and bool(_PATTERNS.zh_verb.search(heading))
    said = heading.lower().split()
    return len(said) > _MAX_TOPIC_WORDS and bool(
        _PATTERNS.verb.search(heading) or _irregular_forms().intersection(said[1:-1])
    )


@cache
def _irregular_forms() -> frozenset[str]:
    """Return the forms of irregular verbs that are rarely nouns."""
    nouns = {"cast", "cut", "hit", "left", "ground", "found", "saw"}
    return frozenset(list_irregular_forms()) - nouns


def is_assertive_lead(line: str) -> bool:
    """Tell whether a line that introduces a list makes a claim itself."""
    said = line.rstrip(_CLOSING)
    if not said.endswith((":", "：")) or is_introduction(line):
        return False
    return is_assertion(said.rstrip(":： "))


def is_explanatory_heading(heading: str) -> bool:
    """Tell whether a heading explains its topic after a colon or a dash."""
    explained = _PATTERNS.explained.fullmatch(heading)
    if not explained or heading.rstrip().endswith(("?", "？")):
        return False
    return not _PATTERNS.asks.match(heading) and not _PATTERNS.asks.match(explained["said"])


def classify_statement(statement: str) -> StatementKind:
    """Return the kind of a statement without a source."""
    caption = _PATTERNS.caption.fullmatch(statement)
    if caption and not is_assertion(caption["said"]):
        return "none"
    leads_on = statement.rstrip(_CLOSING).endswith((":", "：", "?", "？"))
    if leads_on or _PATTERNS.label.fullmatch(statement):
        return "none"
    run_in = _PATTERNS.run_in_heading.fullmatch(statement)
    if run_in and not is_assertion(run_in["said"]):
        return "none"
    statement = statement[:_MAX_CLASSIFIED_CHARS]
    if is_absence_remark(statement) or is_own_inference(statement):
        return "open"
    if is_introduction(statement) or not set(search_words(statement)) - _YES:
        return "none"
    return "unsure" if _PATTERNS.hedged.search(statement) else "claim"


def is_plain_claim(statement: str) -> bool:
    """Tell whether a whole sentence claims something, and neither asks, hedges nor denies.

    A Chinese question within a sentence, such as one of what is not known, ends like a claim.
    """
    ending = statement.rstrip(_CLOSING)[-1:]
    whole = ending in "。！" if re.search(f"[{HAN}]", statement) else is_assertion(statement)
    if not (ending and whole) or _PATTERNS.denies.search(statement):
        return False
    if _PATTERNS.wonders.search(statement):
        return False
    return classify_statement(statement) == "claim"


def strip_caption_label(statement: str) -> str:
    """Return a caption without its label and number; any other line unchanged."""
    caption = _PATTERNS.caption.fullmatch(statement)
    return caption["said"] if caption else statement


def is_requester_wish(statement: str) -> bool:
    """Tell whether a statement says what the user wants from the report.

    Only the user can say this; no page can.
    """
    return bool(_PATTERNS.wish.search(statement))


def is_user_preference(statement: str) -> bool:
    """Tell whether a statement says what some user wants or likes."""
    return bool(_PATTERNS.prefers.search(statement))


def has_model_instructions(text: str) -> bool:
    """Tell whether a text gives instructions to the model that reads it."""
    return bool(_PATTERNS.to_machines.search(text))


def has_attribution(statement: str) -> bool:
    """Tell whether a sentence attributes its words: "the manual says", "官方文档说"."""
    return _PATTERNS.any_found(statement, "names_source", "zh_names_source")


def strip_person_attribution(statement: str) -> str:
    """Return a statement without the words that ascribe it to the person: "by your answer"."""
    return _PATTERNS.person_said.sub(" ", statement)


def is_about_source(statement: str) -> bool:
    """Tell whether a sentence is about a source itself, or about how it was used."""
    return _PATTERNS.any_found(statement, "describes", "zh_describes")


def list_dangling_statements(body: str, gone: Sequence[str]) -> list[str]:
    """Return the statements of a text that refer back to a removed statement.

    A removed statement that refers back itself leaves its referent in place, as does one that
    begins with the same subject as the statement kept before it.
    """
    removed = set(map(statement_key, gone))
    dangling: list[str] = []
    for part in parse_blocks(body):
        kept = ""
        for before, after in pairwise(split_statements(part.text)):
            if statement_key(before) not in removed:
                kept = before
            elif has_back_reference(after) and not has_back_reference(before):
                subject = _leading_term(before)
                dangling += [] if subject and subject == _leading_term(kept) else [after]
    return dangling


def _leading_term(statement: str) -> str:
    """Return the code or the content word that a statement begins with."""
    bare = strip_transition(MARKER.sub("", statement))
    code = _PATTERNS.leading_code.match(bare)
    return code[1] if code else next(iter(search_words(bare)), "")
