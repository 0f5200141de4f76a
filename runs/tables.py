"""The SQL tables of runs: each question, its paid calls, each attempt at one, its trace."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from storage.tables import metadata

runs = Table(
    "runs",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("thread", String(64), nullable=False, index=True),
    Column("turn", Integer, nullable=False),
    Column("owner", String(200), nullable=False, index=True),
    Column("question", Text, nullable=False),
    Column("status", String(32), nullable=False),
    Column("code", String(64), nullable=False, default=""),
    Column("context", Text, nullable=False),
    Column("folder", Text, nullable=False, default=""),
    Column("out", Text, nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
)
"""One row per question; `context` is JSON, times are seconds since 1970.

`out` is where the report shall go, if that was said; `folder` is where it lies.
"""

calls = Table(
    "calls",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("run", String(80), nullable=False, index=True),
    Column("session", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("role", String(32), nullable=False),
    Column("step", String(32), nullable=False),
    Column("model", String(120), nullable=False, default=""),
    Column("result", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False, default=0),
    Column("tokens_out", Integer, nullable=False, default=0),
    Column("cost", Float, nullable=False, default=0.0),
    Column("started", Float, nullable=False),
    Column("ended", Float, nullable=False),
)
"""The ledger: every paid result, committed before it is used."""

attempts = Table(
    "attempts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run", String(80), nullable=False, index=True),
    Column("session", String(64), nullable=False),
    Column("role", String(32), nullable=False),
    Column("step", String(32), nullable=False),
    Column("model", String(120), nullable=False),
    Column("status", String(64), nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost", Float, nullable=False),
    Column("started", Float, nullable=False),
    Column("ended", Float, nullable=False),
)
"""Every attempt at a model call, written before it is sent.

`status` is `open` until its end is known; until then the numbers are the maximum it may use, and
`ended` is the latest time at which it ends.
"""

trace_lines = Table(
    "trace_lines",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("run", String(80), nullable=False, index=True),
    Column("line", Text, nullable=False),
)
"""The traces of runs where the database is a server; beside SQLite they are files.

A line is JSON.
"""

deleted_costs = Table(
    "deleted_costs",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("month", String(7), primary_key=True),
    Column("dollars", Float, nullable=False),
)
"""What runs have cost whose attempts were deleted, so that a quota counts them; `month` in UTC."""

cost_limits = Table(
    "cost_limits",
    metadata,
    Column("identity", String(100), primary_key=True),
    Column("dollars", Float, nullable=False),
)
"""How much the runs of a user may cost in a month, where it is not what holds for everybody."""

report_shares = Table(
    "report_shares",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("run", String(80), nullable=False, index=True),
    Column("token", String(64), nullable=False, unique=True),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
)
"""The links by which reports are shared; `token` is the SHA-256 of what is in the address."""

watches = Table(
    "watches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("name", String(64), nullable=False),
    Column("question", Text, nullable=False),
    Column("cron", String(120), nullable=False),
    Column("zone", String(64), nullable=False),
    Column("context", Text, nullable=False),
    Column("notify", Text, nullable=False),
    Column("always", Integer, nullable=False, default=0),
    Column("status", String(16), nullable=False),
    Column("due", Float, nullable=False, index=True),
    Column("tries", Integer, nullable=False, default=0),
    Column("created", Float, nullable=False),
    UniqueConstraint("owner", "name", name="watches_name"),
)
"""Questions that are asked again on a schedule.

`context` and `notify` are JSON; `tries` counts failures since the last success.
"""

watch_checks = Table(
    "watch_checks",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("watch", String(32), nullable=False, index=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("run", String(80), nullable=False, index=True),
    Column("status", String(16), nullable=False),
    Column("code", String(64), nullable=False, default=""),
    Column("notice", Text, nullable=False, default=""),
    Column("unsent", Text, nullable=False, default="[]"),
    Column("send_tries", Integer, nullable=False, default=0),
    Column("send_due", Float, nullable=False, default=0.0),
    Column("started", Float, nullable=False),
    Column("ended", Float, nullable=False),
)
"""The history of watches: what each run found.

`notice` is JSON, `unsent` the receivers, as JSON, who have not been told of it yet: they are
tried again at `send_due`.
"""
