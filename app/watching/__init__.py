"""Watches: asked when they are due, and who is told what is new."""
