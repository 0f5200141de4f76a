"""All memories, in the order in which they reach a model call: stable ones first."""

from memory.agents_files import AgentsFiles
from memory.base import Memory

MEMORIES: tuple[Memory, ...] = (AgentsFiles(),)
