"""A home in which everything is remembered that can be, for measuring."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evals.facts import keep
from evals.facts_made import Made, context
from memory.experience import insights
from memory.experience.credits import credit
from memory.experience.outcome import Signs
from memory.experience.runs import close
from memory.experience.utterances import Utterance
from memory.files.projects import project_of, trust
from memory.pages import store as pages
from memory.pages.store import NewPage
from memory.profile.shape import Trait, untold
from memory.profile.store import learn
from runs.place import owned

REPORTS = 50
RUNS = 200
USER = "local"

TRAITS = ("beekeeper", "keeps 40 hives", "curious", "careful with numbers", "patient")

RULES = "# Rules\n\n" + "\n".join(f"- Rule {at}: weigh hive {at} first." for at in range(20))


async def furnish(home: Path, made: Sequence[Made]) -> tuple[str, list[str]]:
    """Fill a home; return whose it is, and questions that its reports and runs are about."""
    folder = _written(home)
    await trust(USER, str(folder))
    owner = owned(USER, project_of(str(folder)))
    await keep(owner, made)
    traits = [
        Trait(text=one, quote=one, confidence=0.9, stated=True, run="", at=0) for one in TRAITS
    ]
    await learn(owner, {**untold(), "identities": traits[:2], "characteristics": traits[2:]})
    questions = [f"What is known of {made[7 * at].content}?" for at in range(REPORTS)]
    for at, question in enumerate(questions):
        await _report(owner, f"report{at}", question, context(made, at))
    for at in range(RUNS):
        await _run(owner, f"run{at}", questions[at % REPORTS], made[at].content)
    return owner, questions


def _written(home: Path) -> Path:
    """Write the files of a person and a project; return the project's folder."""
    folder = home.resolve() / "project"
    for place in (home, folder, folder / ".dossier"):
        place.mkdir(exist_ok=True)
        (place / "AGENTS.md").write_text(f"{RULES}\n\nOf {place.name}.\n", encoding="utf-8")
    return folder


async def _report(owner: str, run: str, question: str, text: str) -> None:
    page = NewPage(title=question, place="", text=f"{question} {text}.\n\n## More\n\n{text}.")
    await pages.keep(owner, "report", run, [page], run=run)


async def _run(owner: str, run: str, question: str, content: str) -> None:
    lesson = f"Look twice for {content}."
    made = await insights.add(
        owner, lesson, dict.fromkeys(("planner", "researcher"), lesson), [run]
    )
    await credit(owner, run, "planner", [made.id])
    said = [Utterance("researcher", f"search {content} {at}", question) for at in range(6)]
    await close(owner, run, question, Signs(1.0, 1.0, 1.0, 1.0), said=said)
