"""All memories, in the order in which they reach a model call: stable ones first."""

from library import undo
from memory.agents_md import project_trust, proposals
from memory.agents_md.recall import AgentsMdMemory, AgentsMdView
from memory.experience import undo as experience
from memory.experience.recall import ExperienceMemory
from memory.experience.view import ExperienceView
from memory.facts.recall import FactMemory, FactView
from memory.facts.undo import undo_fact
from memory.page_view import PageView
from memory.profile.recall import ProfileMemory, ProfileView
from memory.profile.store import undo_profile
from memory.protocol import Memory, MemoryView, UndoHandler, in_database
from memory.reports import ReportMemory

MEMORIES: tuple[Memory, ...] = (
    AgentsMdMemory(),
    ProfileMemory(),
    FactMemory(),
    ExperienceMemory(),
    ReportMemory(),
)

UNDO_HANDLERS: dict[str, UndoHandler] = {
    "fact": in_database(undo_fact),
    "profile": in_database(undo_profile),
    "file": proposals.undo_file_edit,
    "project": in_database(project_trust.undo_trust),
    "pages": in_database(undo.undo_page_event),
    "insight": in_database(experience.undo_insight_change),
    "experience": in_database(experience.undo_run_end),
}
"""What undoes an event of the log, by the first word of the event's name (`memory.undo`)."""

MEMORY_VIEWS: tuple[MemoryView, ...] = (
    AgentsMdView(),
    ProfileView(),
    FactView(),
    ExperienceView(),
    PageView("reports", ("report",)),
    PageView("pages", ("report",), all_but=True),
)
"""What the memories keep, for people: `dossier memory` lists, shows and searches all of them."""
