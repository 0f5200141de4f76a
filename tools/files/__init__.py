"""Read documents of many formats into text that knows where it stands."""

from tools.files.folder import find_files, others
from tools.files.kinds import SUFFIXES
from tools.files.reading import extract
from tools.files.shapes import Document, Limits, Section

__all__ = ["SUFFIXES", "Document", "Limits", "Section", "extract", "find_files", "others"]
