"""The graphs for Aegra, which loads this file once for each graph."""

from app.server import serve_dossier, serve_recall, serve_research

__all__ = ["serve_dossier", "serve_recall", "serve_research"]
