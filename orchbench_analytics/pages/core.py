"""The core of the report: which models there are, how they score, and how sure that is."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import polars as pl

from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.pages.columns import columns_of
from orchbench_analytics.pages.source import Source
from orchbench_analytics.stats.intervals import intervals
from orchbench_analytics.stats.ranks import rank_intervals
from orchbench_analytics.views.select import unanswered_models

_RESULT = ("model", "experiment", "language")
_SCORED = ("profile", "model", "experiment", "language", "file_count", "refused_file_count")
_INTERVAL = ("profile", "model", "experiment", "language", "metric", "value", "low", "high")
_RANK = (
    "profile", "model", "experiment", "rank_number", "rank_low", "rank_high", "tier_number",
    "average_score", "low", "high", "expected_score", "coverage", "unranked_reason",
)  # fmt: skip


def core(source: Source) -> dict[str, Any]:
    """Everything the leaderboard needs, and what there is to ask for next."""
    problems = source.query("select * from main.model_problems", "model_problems")
    unanswered = unanswered_models(problems)
    model_scores = source.rows("model_scores", *_SCORED, *METRICS)
    headline = {
        "leaderboard": source.rows("leaderboard"),
        "model_scores": model_scores.join(
            problems.select(*_RESULT, "is_unanswered"),
            on=_RESULT,
            how="left",
            maintain_order="left",
        ),
    }
    scores = source.scenario_scores()
    asked = source.query("select * from main.expected_scenarios", "expected_scenarios")
    spans = intervals(scores, metrics=HEADLINE, expected=asked)
    frames = {
        "models": pl.DataFrame(source.models, schema=["model", "experiment"], orient="row"),
        "tags": source.query("select * from main.model_tags order by all", "model_tags"),
        "ranks": source.only(rank_intervals(scores, expected=asked, unanswered=unanswered)).select(
            _RANK
        ),
        "intervals": source.only(spans).select(_INTERVAL),
    }
    return {
        "version": version("orchbench-analytics"),
        "profiles": list(source.profiles),
        "profiles_without_answers": [
            name for name, profile in source.profiles.items() if profile.scored_from == "results"
        ],
        "metrics": [
            {"name": name, "description": metric.description} for name, metric in METRICS.items()
        ],
        **{name: columns_of(frame, is_exact=True) for name, frame in headline.items()},
        **{name: columns_of(frame) for name, frame in frames.items()},
    }
