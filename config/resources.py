"""Own everything that this process keeps open or caches, and close it all.

A module declares each of its resources once, as a `Resource`, a `LoopResource` or a function that
is `process_cached`. It is created on first use. `close_resources` closes all of them in the reverse
order of their creation; a resource that is used after that is created anew, as in a new process.
"""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

Value = TypeVar("Value")
Key = TypeVar("Key")
Args = ParamSpec("Args")


class Resource(Generic[Value]):
    """The declaration of a value that exists once per process."""

    def __init__(
        self, make: Callable[[], Value], close: Callable[[Value], object] | None = None
    ) -> None:
        """Declare a resource.

        Args:
            make: Creates the value; must not block for long.
            close: Releases it.
        """
        self.make, self.close = make, close

    def get(self) -> Value:
        """Return the value of this process; create it on first use."""
        values = _current.values
        try:
            return cast("Value", values[self])
        except KeyError:
            with _making:
                if self not in values:
                    values[self] = self.make()
                return cast("Value", values[self])


class LoopResource(Generic[Value]):
    """The declaration of a value that exists once per event loop, such as a lock."""

    def __init__(
        self, make: Callable[[], Value], close: Callable[[Value], Awaitable[object]] | None = None
    ) -> None:
        """Declare a resource; `close` is awaited in its event loop."""
        self.make, self.close = make, close

    def get(self) -> Value:
        """Return the value of the running event loop; create it on first use."""
        loop = _running_loop()
        values = _current.loops.get(loop)
        if values is None:
            values = _current.loops.setdefault(loop, {})
        if self not in values:
            values[self] = self.make()
        return cast("Value", values[self])


class ProcessResources:
    """The values of all resources of one process, in the order of their creation."""

    def __init__(self) -> None:
        self.values: dict[Resource[Any], Any] = {}
        self.loops: WeakKeyDictionary[AbstractEventLoop, dict[LoopResource[Any], Any]]
        self.loops = WeakKeyDictionary()

    def close(self) -> None:
        """Close the values outside of event loops, the newest first."""
        while self.values:
            resource, value = self.values.popitem()
            if resource.close:
                resource.close(value)

    async def close_loop(self) -> None:
        """Close the values of the running event loop, the newest first."""
        values = self.loops.pop(_running_loop(), {})
        while values:
            resource, value = values.popitem()
            if resource.close:
                await resource.close(value)


_current = ProcessResources()
_making = threading.RLock()


def replace_resources() -> ProcessResources:
    """Start with no values; return the former ones, which the caller may close."""
    global _current
    former, _current = _current, ProcessResources()
    return former


async def close_resources() -> None:
    """Close everything that this process and the running event loop have open."""
    await _current.close_loop()
    _current.close()


def _running_loop() -> AbstractEventLoop:
    # Loading asyncio takes longer than all settings, and many commands have no event loop.
    from asyncio import get_running_loop  # noqa: PLC0415

    return get_running_loop()


@atexit.register
def _close_at_exit() -> None:
    _current.close()


def process_cached(function: Callable[Args, Value]) -> Callable[Args, Value]:
    """Return a function that caches its results until the resources are closed.

    It is for results that depend on the environment or on files; others use `functools.cache`.
    """
    cached = Resource(lambda: cast("Callable[Args, Value]", cache(function)))

    @wraps(function)
    def call(*args: Args.args, **kwargs: Args.kwargs) -> Value:
        return cached.get()(*args, **kwargs)

    return call


class SharedTasks(Generic[Key, Value]):
    """Work that several callers in an event loop want at the same moment, done once for all."""

    def __init__(self) -> None:
        self._running: LoopResource[dict[Key, Task[Value]]] = LoopResource(dict)

    async def run(self, key: Key, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """Return the result of the running work with this key; start it if there is none.

        A caller that is cancelled leaves the work to the others.
        """
        from asyncio import create_task, shield  # noqa: PLC0415

        running = self._running.get()
        if key not in running:
            running[key] = create_task(work())
            running[key].add_done_callback(lambda _: running.pop(key))
        return await shield(running[key])


class RecentCache(OrderedDict[Key, Value]):
    """A mapping that drops its least recently stored or subscripted entries."""

    def __init__(self, size: int) -> None:
        """Make an empty one.

        Args:
            size: How many entries it keeps.
        """
        super().__init__()
        self.size = size

    def __getitem__(self, key: Key) -> Value:
        value = super().__getitem__(key)
        self.move_to_end(key)
        return value

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self.size:
            super().popitem(last=False)
