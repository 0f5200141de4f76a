"""What a run makes and hands on: plain records of ids and short text."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

ResultStatus = Literal["ok", "partial", "failed", "skipped"]
"""How a result came out; the reason stands beside it, never inside its text."""


RunStatus = Literal[
    "running",
    "waiting_review",
    "paused",
    "succeeded",
    "partial",
    "insufficient_evidence",
    "failed",
    "cancelled",
]

DELIVERED: tuple[RunStatus, ...] = ("succeeded", "partial", "insufficient_evidence")
"""The statuses of a run that has delivered its answer."""


Genre = Literal[
    "documentation",
    "paper",
    "encyclopedia",
    "news",
    "forum",
    "blog",
    "vendor",
    "farm",
    "hostile",
    "file",
    "unknown",
]
"""What kind of text a page is.

`vendor` sells, `farm` is made only to be found by searches, `hostile` gives instructions to the
model that reads it.
"""

THE_WEB, WEB_UNREACHABLE = "web", "web_unreachable"
"""How the web is called among what could not be searched, and why it was not."""

WEAK_GENRES: frozenset[str] = frozenset(["forum", "blog", "vendor", "farm", "hostile"])
"""The genres whose word alone is said to be theirs."""

Value = TypeVar("Value")


class Source(TypedDict):
    """A page that may be cited in this thread."""

    id: str
    page: str
    title: str
    location: str
    kind: Literal["file", "web", "memory", "computed", "tool", "knowledge"]
    """`computed` is what was worked out over whole documents, and not read in one; `tool` is what
    a tool of a server said; `knowledge` is from a knowledge base."""
    site: NotRequired[str]
    """The host of a web page without `www`, the name of the folder of a file, or the name of a
    knowledge base."""
    published: NotRequired[str]
    """Its date as it declares it, as an ISO date or its beginning."""
    author: NotRequired[str]
    language: NotRequired[str]
    """The primary subtag of its language, such as `en`."""
    genre: NotRequired[Genre]
    since: NotRequired[str]
    """What became of it since, in words; only in a report that is shown again later."""


class Passage(TypedDict):
    """Some sentences of a source."""

    source: str
    text: str
    start: NotRequired[int]
    """Where in the stored text of its source it begins, as far as it is a piece of it."""
    under: NotRequired[str]
    """The headings above it, and the term that it explains; no words of its own."""
    shared: NotRequired[bool]
    """Whether every step of the run reads it, so that their prompts begin alike."""
    more: NotRequired[bool]
    """Whether its page goes on behind it."""


class ShownSpan(TypedDict):
    """A piece of a page that was shown: the page's id, and the ends of the piece in its text."""

    page: str
    start: int
    end: int
    shared: NotRequired[bool]
    """Whether every step of the run reads it first."""


class Background(TypedDict):
    """What one query found before the plan was made."""

    query: str
    status: ResultStatus
    reason: str
    passages: list[Passage]
    half: NotRequired[bool]
    """Whether the memory has half an answer, which is worth the calls of the memory researcher."""


COMPUTED_ENTRY, UNCOMPUTED_ENTRY = "computed", "uncomputed"
"""The names of entries beside those of the queries: what was computed, and what was not."""

MEMORY = "from memory"
"""The name of the entry, and of the finding, of the memory researcher; no step is named so."""


class Step(TypedDict):
    """One part of the plan, researched on its own."""

    id: str
    title: str
    description: str
    kind: Literal["research", "compute"]
    queries: list[str]
    needs: list[str]
    need_web_search: bool


class PlanQuestion(TypedDict):
    """What a person is asked with a plan, since another answer would make it another plan."""

    id: str
    """`q1`, `q2` or `q3`."""
    question: str
    options: list[str]
    """Likely answers."""
    assumed: str
    """What is assumed without an answer; the steps are written for it."""
    answer: NotRequired[str]
    """What the person answered."""


class Plan(TypedDict):
    """What will be researched, in which steps."""

    title: str
    thought: str
    has_enough_context: bool
    steps: list[Step]
    perspectives: NotRequired[list[str]]
    """Who would ask this, each with what they would want to know."""
    questions: NotRequired[list[PlanQuestion]]
    knowledge: NotRequired[list[str]]
    """The names of the knowledge bases that are searched for it."""


StepOutcome = Literal["answered", "exhausted", "open"]
"""How a step ended: with an answer, with nothing left to look for, or before that."""


class Finding(TypedDict):
    """What a step found out."""

    step: str
    title: str
    status: ResultStatus
    reason: str
    text: str
    sources: list[str]
    queries: list[str]
    attempts: int
    review: Literal["", "passed", "failed", "unverified"]
    doubted: NotRequired[str]
    """What the checks doubt in its text, in words, a line for each sentence."""
    objection: NotRequired[str]
    """What a review held against it last, where it was not mended."""
    open: NotRequired[list[str]]
    """What a review found that the question needs and no step looks for."""
    outcome: NotRequired[StepOutcome]
    """Whether its step was answered, as the researcher says; missing where it does not say."""
    not_found: NotRequired[list[str]]
    """What was looked for and not found, a sentence each."""
    disagreements: NotRequired[list[str]]
    """Where sources disagree, a sentence each, with the ids of the sources."""
    read: NotRequired[list[str]]
    """The ids of the sources whose text its step was shown, cited or not."""
    skipped: NotRequired[list[str]]
    """The titles of documents that its step found and did not read, for lack of room."""
    questions: NotRequired[list[str]]
    """What the researcher would ask next; in a deep run they may become steps."""
    error: NotRequired[dict[str, str]]
    """The problem because of which the step was not done, as plain data, if any."""
    session: NotRequired[str]
    """The session of the run in which that happened; a later one repeats the step."""


class Objection(TypedDict):
    """What a review held against a finding that is done again."""

    text: str
    """The text of the finding."""
    wrong: list[str]
    """The sentences of it that are wrong, word for word."""
    feedback: str
    missing: NotRequired[bool]
    """Whether something is missing from it, for which the review had searches."""
    shown: NotRequired[list[ShownSpan]]
    """What the reviewer was shown."""


class Gap(TypedDict):
    """A step, a search or a provider of web search that failed in part or as a whole."""

    title: str
    status: str
    reason: str
    """A code, optionally with a colon and a detail; or words."""


class TurnAnswer(TypedDict):
    """What a turn answered, for the turns behind it: the checked text keeps the registry's ids."""

    question: str
    text: str
    sources: list[str]
    open: list[str]
    """What could not be found out, each with the reason."""
    message: str
    """The id of the message that shows it."""
    title: NotRequired[str]
    """The title of its report."""
    run: NotRequired[str]
    """The run that wrote it."""
    replaced: NotRequired[bool]
    """Whether a refreshed version stands for it, so that it tells later turns nothing."""
    gaps: NotRequired[list[Gap]]
    """What its report leaves open, which a version of it leaves open, too."""
    unknown: NotRequired[list[str]]
    """What was looked for and not found, a sentence each."""


AnswerReuse = Literal["reuse", "refresh", "deepen", "new"]
"""What is done with an earlier answer to the same question: the old report is shown again, what may
have changed is researched again, new steps go beyond it, or it is researched as a new question."""


class NewWebPage(TypedDict):
    """A page of the web that was found for the first time."""

    title: str
    location: str
    """Its address."""


class WebCheck(TypedDict):
    """What a search of the web for new pages found."""

    searched: int
    """With how many queries it was searched."""
    found: list[NewWebPage]
    unsearched: str
    """The code of the problem because of which it was not searched with some of them, or ""."""


class EarlierRun(TypedDict):
    """A run that answered the same question before; dates are ISO dates."""

    run: str
    thread: str
    turn: int
    answered: str
    sources: int
    """How many sources its report cites."""
    oldest: str
    """When the first of them was read."""
    newest: str
    """When the last of them was read."""
    file: str
    """Where its report is, or ""."""
    choice: NotRequired[AnswerReuse]
    """What was decided; missing until then."""
    web: NotRequired[WebCheck]
    """What is new on the web, for an answer that is refreshed."""


class Revision(TypedDict):
    """What makes the report of this turn a new version of an earlier one."""

    kind: Literal["shorten", "rewrite", "deepen", "add", "refresh"]
    """`shorten` and `rewrite` change its form; the others have something researched for it."""
    request: str
    """What the person asked to change, in their words."""
    topic: str
    """The section that is deepened, or what is added."""
    turn: int
    """The turn whose entry of `answers` it revises; 0 for one from another thread."""
    run: str
    """The run of the earlier version."""
    language: NotRequired[Literal["en", "zh"]]
    """The language it is translated to."""
    stale: NotRequired[list[str]]
    """The ids of sources that have changed since, so that they prove nothing any more."""
    unread: NotRequired[list[str]]
    """The ids of sources that could not be read again."""
    redone: NotRequired[list[str]]
    """The ids of the steps that are researched again."""
    checked: NotRequired[int]
    """How many sources were looked at for changes."""


class VersionChanges(TypedDict):
    """What differs between two versions of a report, in sentences without citations."""

    added: list[str]
    removed: list[str]
    changed: list[tuple[str, str]]
    """Sentences that were reworded: before, and after."""


class Summary(TypedDict):
    """What stands for the older part of a conversation, up to the message with an id."""

    text: str
    until: str


class ReportQuote(TypedDict):
    """Words that stand in a source exactly so."""

    source: str
    text: str


class RemovedSentence(TypedDict):
    """A sentence that the checks took out of a report."""

    text: str
    reason: str


SupportGrade = Literal["supported", "weak", "not_found", "contradicted"]
"""How well its sources bear out a sentence; only what is not supported is marked."""


class DoubtedSentence(TypedDict):
    """A sentence that the checks left in a report, and what in it is not as its sources have it."""

    text: str
    reason: str
    part: NotRequired[str]
    """The words of it that are wrong, where the rest is right."""
    says: NotRequired[str]
    """What a source says instead, in its own words."""
    source: NotRequired[str]
    """The id of that source."""
    grade: NotRequired[SupportGrade]


StandingReason = Literal["forum", "blog", "vendor", "farm", "hostile", "weak", "copies"]
"""Why the word of some sources is worth less: the weak genre of all, several of them, or copies."""


class StandingRemark(TypedDict):
    """A sentence of a report that only weak sources say, or several copies of one text."""

    text: str
    reason: StandingReason


class SourceContradiction(TypedDict):
    """Two passages of different documents that cannot both be right about the same thing."""

    about: str
    """What both are about, in words that both have."""
    one: str
    """The id of a source."""
    one_says: str
    """Its sentence, word for word; likewise `other_says`."""
    other: str
    other_says: str
    reason: Literal["number", "date", "negation"]


SecondReaderStatus = Literal["asked", "off", "no_model", "failed", "not_needed"]
"""Whether a second reader was asked, or why not: switched off, no model for it, or no sentence."""


class UnreadPage(TypedDict):
    """A web page that was found and not read."""

    site: str
    reason: str
    """The code of the problem."""


class WithheldQuery(TypedDict):
    """Something that was not sent as a model wrote it, for its private words."""

    sent: str
    """What was sent of it; "" for nothing."""
    to: str
    """The tool that it was for; "" for a web search."""


class BaseSearches(TypedDict):
    """What a knowledge base was searched for in a run."""

    queries: list[str]
    """As they were sent, each once."""
    passages: int
    """How many different passages it had for them."""


class ResearchLog(TypedDict):
    """What a run did beside what its state holds, counted when its report is delivered."""

    calls: dict[str, int]
    """How many calls each model answered or failed to answer."""
    web_searches: int
    unread: list[UnreadPage]
    unanswered: NotRequired[dict[str, int]]
    """For how many queries each provider gave no answer while others did."""
    withheld: NotRequired[list[WithheldQuery]]
    """What was not sent as it was written; missing without any."""
    bases: NotRequired[dict[str, BaseSearches]]
    """The knowledge bases that were searched, by name; missing without any."""


RecomputedOutcome = Literal[
    "same", "differs", "files_differ", "failed", "unavailable", "no_time", "inputs_changed"
]
"""`files_differ`: it printed the same, and did not write the same files."""


class Recomputed(TypedDict):
    """What came of running the program of a cited source again."""

    source: str
    outcome: RecomputedOutcome
    files: NotRequired[list[str]]
    """The names of the files that it did not write again as before."""


class Report(TypedDict):
    """The finished report before it is rendered: its body keeps the ids of the registry."""

    title: str
    body: str
    cited: list[str]
    quotes: list[ReportQuote]
    removed: list[RemovedSentence]
    doubted: list[DoubtedSentence]
    notices: list[str]
    language: str
    inferred: NotRequired[list[str]]
    """Sentences of its body that are shown as its writer's inference; missing without any."""
    standing: NotRequired[list[StandingRemark]]
    """The sentences that rest on weak sources alone, or on copies of one text."""
    contradictions: NotRequired[list[SourceContradiction]]
    """Where cited sources contradict each other and the report does not say so."""
    second_reader: NotRequired[SecondReaderStatus]
    recomputed: NotRequired[list[Recomputed]]
    """The cited results of programs, which were run again to check them; missing without any."""
    error: NotRequired[dict[str, str]]
    """The problem because of which the model did not write it, as plain data, if any."""
    limit: NotRequired[str]
    """The limit of the run because of which something is missing, as `max_calls = 10`, if any."""
    asked: NotRequired[str]
    """What was asked in the words of the person, without what only tells of them."""
    created: NotRequired[str]
    """The day, as an ISO date, on which it was delivered; missing until then."""
    reused: NotRequired[str]
    """The run whose report it is, if nothing of it was written in this run."""
    research: NotRequired[ResearchLog]
    """Written by deliver."""
    file_error: NotRequired[dict[str, str]]
    """The problem because of which it has no files, as plain data, if any."""


EMPTY_PLAN = Plan(title="", thought="", has_enough_context=False, steps=[])


EMPTY_REPORT = Report(
    title="", body="", cited=[], quotes=[], removed=[], doubted=[], notices=[], language="en"
)


def turn_key(turn: int, name: str) -> str:
    """Name something of this turn, so that no other turn takes it for its own."""
    return f"{turn}/{name}"


def key_by_turn(turn: int, table: dict[str, Value]) -> dict[str, Value]:
    """Return a table with the names of its entries made those of one turn."""
    return {turn_key(turn, name): value for name, value in table.items()}


def entries_of_turn(table: dict[str, Any] | None, turn: int) -> dict[str, Any]:
    """Return the entries of one turn by their short names, in the order of their keys."""
    start = f"{turn}/"
    return {
        name.removeprefix(start): value
        for name, value in (table or {}).items()
        if name.startswith(start)
    }


def of_steps(table: dict[str, Finding] | None, turn: int) -> dict[str, Finding]:
    """Return the findings of one turn's steps, without that of the memory researcher."""
    found: dict[str, Finding] = entries_of_turn(table, turn)
    return {name: one for name, one in found.items() if name != MEMORY}
