"""Send the notices of watches, each once, and again only if sending failed."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlsplit

from app.watching.mailed_notices import mail_notice
from app.watching.webhook import post_notice
from config.errors import ErrorCode, Problem
from runs.lock import acquire
from runs.watches import (
    Watch,
    WatchCheck,
    list_unsent_checks,
    list_unsent_receivers,
    put_off_sending,
    set_unsent,
)
from text.pluralization import pluralize

CHANNELS = {"webhook": post_notice, "mail": mail_notice}
"""The functions that send notices, by the channel of the receiver."""


LAST_SECONDS = 60.0
"""How long the end of the process waits for a notice that is being sent."""


def check_receiver(written: str) -> str:
    """Return a receiver as it is stored: `webhook:URL` or `mail:ADDRESS`.

    Raises:
        Problem: `usage`.
    """
    channel, _, to = written.strip().partition(":")
    parts = urlsplit(to) if channel == "webhook" else None
    is_url = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    name, at, domain = to.rpartition("@")
    is_mail = channel == "mail" and bool(name and at and domain) and to.isprintable()
    if not (is_url or (is_mail and not set(to) & set(" ,;<>"))):
        what, hint = f"{written!r} is no receiver", "webhook:https://… or mail:you@example.org"
        raise Problem(ErrorCode.USAGE, what, where="--notify", hint=hint)
    return f"{channel}:{to}"


async def send_notices(owner: str, tell: Callable[[str], object]) -> int:
    """Send what has not been sent, of an owner or of everybody; return how many failed.

    A receiver is taken off the list as soon as it was told. A process that dies in between tells
    it again, with the same id.
    """
    failed = 0
    for watch, check in await list_unsent_checks(time.time(), owner):
        try:
            lock = await asyncio.to_thread(acquire, f"notice-{watch.id}", 0)
        except Problem as problem:
            if problem.error is not ErrorCode.RUN_IN_PROGRESS:
                raise
            continue
        try:
            failed += await _send(watch, check, tell)
        finally:
            await asyncio.to_thread(lock.release)
    return failed


async def _send(watch: Watch, check: WatchCheck, tell: Callable[[str], object]) -> int:
    left = await list_unsent_receivers(check)
    for receiver in list(left):
        try:
            await _to_the_end(_send_to(check, receiver, left))
        except Problem as problem:
            tell(f"{watch.name}: {problem}")
            continue
        tell(f"{watch.name}: told {receiver.partition(':')[0]}")
    if left:
        wait = await put_off_sending(check)
        tell(f"{watch.name}: {_describe_wait(wait)}")
    return len(left)


async def _send_to(check: WatchCheck, receiver: str, left: list[str]) -> None:
    channel, _, to = receiver.partition(":")
    await CHANNELS[channel](to, _delivery_id(check, receiver), check.notice)
    left.remove(receiver)
    await set_unsent(check, left)


async def _to_the_end(sending: Coroutine[Any, Any, None]) -> None:
    """Await a notice that is being sent; one that is under way is written down before this ends.

    Raises:
        CancelledError: If this was cancelled meanwhile, behind the end of the sending.
    """
    task = asyncio.ensure_future(sending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=LAST_SECONDS)
        raise


def _describe_wait(seconds: float | None) -> str:
    if seconds is None:
        return "a notice could not be sent, and is not tried again; the history has it"
    minutes = pluralize(round(seconds / 60), "minute")
    return f"a notice that could not be sent is tried again in {minutes}"


def _delivery_id(check: WatchCheck, receiver: str) -> str:
    return f"{check.id}-{hashlib.sha256(receiver.encode()).hexdigest()[:8]}"
