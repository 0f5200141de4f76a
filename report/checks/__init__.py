"""Checks of statements against the sources that they cite."""
