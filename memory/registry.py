"""All memories, in the order in which they reach a model call: stable ones first."""

from collections.abc import Mapping

from memory.agents_files import AgentsFiles
from memory.base import Memory, Undo
from memory.pages import undoing
from memory.reports import Reports

MEMORIES: tuple[Memory, ...] = (AgentsFiles(), Reports())

UNDO: Mapping[str, Undo] = {"pages": undoing.undo}
"""What takes back an event of the log, by the first word of the event's name."""
