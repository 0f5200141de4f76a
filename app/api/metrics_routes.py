"""Metrics of all runs for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.api.scrape_token import METRICS_PATH, ScrapedRoute, has_scrape_token
from app.auth.request_identity import find_user
from config.errors import ErrorCode, Problem
from runs.run_metrics import RunMetrics, read_run_metrics

router = make_router("Health", route_class=ScrapedRoute)


class _RunCollector(Collector):
    """Yields metrics that were read from the database for one scrape."""

    def __init__(self, metrics: RunMetrics) -> None:
        self.metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as gauges, since pruning runs lowers them."""
        yield from self._collect_runs()
        yield from self._collect_calls()
        waiting = GaugeMetricFamily(
            "dossier_jobs_waiting", "Work to be done after runs", labels=["job"]
        )
        for one in self.metrics.jobs:
            waiting.add_metric([one.job], one.total)
        yield waiting

    def _collect_runs(self) -> Iterator[Metric]:
        count = GaugeMetricFamily("dossier_runs", "Runs by how they stand", labels=["status"])
        taken = GaugeMetricFamily(
            "dossier_run_seconds", "Seconds from question to end, summed", labels=["status"]
        )
        for one in self.metrics.runs:
            count.add_metric([one.status], one.total)
            taken.add_metric([one.status], one.seconds)
        yield from (count, taken)

    def _collect_calls(self) -> Iterator[Metric]:
        labels = ["model", "status"]
        count = GaugeMetricFamily("dossier_model_calls", "Attempts at model calls", labels=labels)
        taken = GaugeMetricFamily(
            "dossier_model_call_seconds", "Seconds of model calls, summed", labels=labels
        )
        cost = GaugeMetricFamily(
            "dossier_model_cost_dollars", "US dollars spent on model calls", labels=labels
        )
        tokens = GaugeMetricFamily(
            "dossier_model_tokens", "Tokens of model calls", labels=[*labels, "direction"]
        )
        for one in self.metrics.calls:
            named = [one.model, one.status]
            count.add_metric(named, one.total)
            taken.add_metric(named, one.seconds)
            cost.add_metric(named, one.dollars)
            tokens.add_metric([*named, "in"], one.tokens_in)
            tokens.add_metric([*named, "out"], one.tokens_out)
        yield from (count, taken, cost, tokens)


@router.get(
    METRICS_PATH,
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {"description": "The metrics of all runs.", "content": {"text/plain": {}}},
        **tell_problems("token_missing", "operator_only"),
    },
)
async def get_metrics(request: Request) -> Response:
    """Return the metrics of all runs, to operators and to holders of the scrape token."""
    if not (has_scrape_token(request.headers) or find_user(request).is_operator):
        hint = "send the token of DOSSIER_METRICS_TOKEN as Authorization: Bearer"
        raise Problem(ErrorCode.OPERATOR_ONLY, "metrics are for operators", hint=hint)
    registry = CollectorRegistry()
    registry.register(_RunCollector(await read_run_metrics()))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
