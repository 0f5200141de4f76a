"""Stop runs of Aegra from within its own process."""

from __future__ import annotations

from aegra_api.core.orm import Run, _get_session_maker
from aegra_api.services.run_status import ACTIVE_RUN_STATES, interrupt_unowned_run
from aegra_api.services.streaming_service import streaming_service
from sqlalchemy import select


async def stop_aegra_runs(thread: str) -> int:
    """Stop the pending and running runs of a thread, on any worker; return how many."""
    active = select(Run).where(Run.thread_id == thread, Run.status.in_(ACTIVE_RUN_STATES))
    async with _get_session_maker()() as session:
        runs = [(one.run_id, one.user_id) for one in await session.scalars(active)]
        for run, user in runs:
            # Redis tells the worker that has the run.
            if not await interrupt_unowned_run(session, run, thread, user_id=user):
                await streaming_service.interrupt_run(run)
    return len(runs)
