"""Let only so many steps of a run work side by side."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary, WeakValueDictionary

from runs.place import Here

_gates: WeakKeyDictionary[
    asyncio.AbstractEventLoop, WeakValueDictionary[str, asyncio.Semaphore]
] = WeakKeyDictionary()


def gate(here: Here, width: int) -> asyncio.Semaphore:
    """Return the gate of a run, the same one while any step of it is at work or waits.

    It belongs to this process and its event loop; a run that is resumed gets a new one.
    """
    gates = _gates.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    return gates.setdefault(here.run, asyncio.Semaphore(width))
