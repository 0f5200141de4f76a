"""Compute matrix products in the calling thread."""

from __future__ import annotations

from functools import cache

from threadpoolctl import threadpool_limits


@cache
def limit_threads_to_one_core() -> None:
    """Let every thread of this process multiply on one core.

    On a busy machine, products that use several cores wait for each other up to a hundred times
    longer than they compute.
    """
    threadpool_limits(1, "blas")
