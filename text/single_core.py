"""Let matrix products keep to the thread that wants them."""

from __future__ import annotations

from functools import cache

from threadpoolctl import threadpool_limits


@cache
def limit_threads_to_one_core() -> None:
    """Let every thread of this process multiply on one core.

    Products that share out their work wait for each other on a busy machine, up to a hundred times
    longer than they work.
    """
    threadpool_limits(1, "blas")
