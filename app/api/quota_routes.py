"""What a user may still spend this month, over HTTP."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.api.parameters import Owner
from app.api.router import make_router
from runs.call_site import split_owner
from runs.cost_quotas import read_cost_quota

router = make_router("Dossier runs", "/api")


class CostQuotaAnswer(BaseModel):
    """What the runs of a user may cost this month, and have cost so far, in US dollars."""

    limit: float | None = Field(description="Nothing bounds it if this is null.")
    spent: float = Field(description="Calls at work count with the most that they may cost.")
    left: float | None
    ends: float = Field(description="When the month ends in UTC, in seconds since 1970.")


@router.get("/cost-quota", summary="What you may still spend this month")
async def get_cost_quota(owner: Owner) -> CostQuotaAnswer:
    """Return the quota of a user over all of their projects."""
    quota = await read_cost_quota(split_owner(owner)[0])
    return CostQuotaAnswer(limit=quota.limit, spent=quota.spent, left=quota.left, ends=quota.ends)
