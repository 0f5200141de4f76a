"""All memories, in the order in which they reach a model call: stable ones first."""

from collections.abc import Mapping

from memory.base import Memory, Undo
from memory.files import deciding, projects
from memory.files.memory import AgentsFiles

MEMORIES: tuple[Memory, ...] = (AgentsFiles(),)

UNDO: Mapping[str, Undo] = {
    "file": deciding.undo,
    "project": projects.undo,
}
"""What takes back an event of the log, by the first word of the event's name."""
