"""Garbage collection for a process that loads much before its first run."""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 50)
"""Python's own, 700, 10 and 10, have a research run collected hundreds of times for nothing: pages
and messages are freed when the last reference to them goes."""


def spare_loaded_objects() -> None:
    """Keep all that is loaded by now from the garbage collector, and let it run less often.

    Modules, and the graph, live until the process ends.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
