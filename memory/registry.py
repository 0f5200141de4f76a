"""All memories, in the order in which they reach a model call: stable ones first."""

from collections.abc import Mapping

from memory.agents_files import AgentsFiles
from memory.base import Memory, Undo
from memory.experience import insights
from memory.experience.memory import Experience

MEMORIES: tuple[Memory, ...] = (AgentsFiles(), Experience())

UNDO: Mapping[str, Undo] = {"insight": insights.undo}
"""What takes back an event of the log, by the first word of the event's name."""
