"""All memories, in the order in which they reach a model call: stable ones first."""

from memory.base import Memory, Undo, in_database
from memory.experience import undoing as experience
from memory.experience.memory import Experience
from memory.facts.ranking import Facts
from memory.facts.undoing import undo as undo_fact
from memory.files import deciding, projects
from memory.files.memory import AgentsFiles
from memory.kept.experience import ExperienceShelf
from memory.kept.facts import FactShelf
from memory.kept.files import FileShelf
from memory.kept.pages import PageShelf
from memory.kept.profile import ProfileShelf
from memory.kept.shelf import Shelf
from memory.pages import undoing
from memory.profile.recall import Profile
from memory.profile.store import undo as undo_profile
from memory.reports import Reports

MEMORIES: tuple[Memory, ...] = (AgentsFiles(), Profile(), Facts(), Experience(), Reports())

UNDO: dict[str, Undo] = {
    "fact": in_database(undo_fact),
    "profile": in_database(undo_profile),
    "file": deciding.undo,
    "project": in_database(projects.undo),
    "pages": in_database(undoing.undo),
    "insight": in_database(experience.undo),
    "experience": in_database(experience.undo_end),
}
"""What undoes an event of the log, by the first word of the event's name (`kept/undoing.py`)."""

SHELVES: tuple[Shelf, ...] = (
    FileShelf(),
    ProfileShelf(),
    FactShelf(),
    ExperienceShelf(),
    PageShelf("reports", ("report",)),
    PageShelf("pages", ("report",), all_but=True),
)
"""What the memories keep, for people: `dossier memory` lists, shows and searches all of them."""
