"""Read documents of many formats into text that knows where it stands."""

from tools.files.folder import find_files, others
from tools.files.kinds import SUFFIXES
from tools.files.reading import cells, extract
from tools.files.shapes import Document, Grid, Limits, Section

__all__ = [
    "SUFFIXES",
    "Document",
    "Grid",
    "Limits",
    "Section",
    "cells",
    "extract",
    "find_files",
    "others",
]
