"""The core of the report: which models there are, how they score, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import duckdb
import polars as pl

from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.pages.columns import columns_of
from orchbench_analytics.pages.sweep import Sweep
from orchbench_analytics.views.catalog import frame_of

_SCORED = ("profile", "model", "experiment", "language", "file_count", "refused_file_count")
_LABEL_TEXTS = """
select label_content as text from main.steps
union select label_calls from main.steps
union select label_content from main.plans
union select label_values from main.scored_arguments
"""


def core(
    warehouse: Sweep,
    connection: duckdb.DuckDBPyConnection,
    models: Sequence[tuple[str, str]],
    profiles: Sequence[str],
) -> dict[str, Any]:
    """Everything the leaderboard needs, and what there is to ask for next."""
    headline = {
        "leaderboard": _of_profiles(connection, "leaderboard", models, profiles),
        "model_scores": _model_scores(connection, models, profiles),
    }
    frames = {
        "models": pl.DataFrame(models, schema=["model", "experiment"], orient="row"),
        "tags": _of_models(connection, "model_tags", models),
        "ranks": _ranks(warehouse, models, profiles),
        "intervals": _intervals(warehouse, models, profiles),
    }
    return {
        "version": version("orchbench-analytics"),
        "profiles": list(profiles),
        "metrics": [
            {"name": name, "description": metric.description} for name, metric in METRICS.items()
        ],
        **{name: columns_of(frame, is_exact=True) for name, frame in headline.items()},
        **{name: columns_of(frame) for name, frame in frames.items()},
    }


def label_texts(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The distinct texts of labels: every model was asked the same, so they are kept once."""
    rows = connection.sql(_LABEL_TEXTS).fetchall()
    return sorted(text for (text,) in rows if text is not None)


def only(frame: pl.DataFrame, models: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """The rows of the models of the report."""
    wanted = pl.DataFrame(
        models, schema={"model": pl.String, "experiment": pl.String}, orient="row"
    )
    return frame.join(wanted, on=["model", "experiment"], how="semi", maintain_order="left")


def _of_models(
    connection: duckdb.DuckDBPyConnection, relation: str, models: Sequence[tuple[str, str]]
) -> pl.DataFrame:
    return only(frame_of(connection.sql(f"select * from main.{relation} order by all")), models)


def _of_profiles(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    models: Sequence[tuple[str, str]],
    profiles: Sequence[str],
) -> pl.DataFrame:
    rows = _of_models(connection, relation, models)
    return rows.filter(pl.col("profile").is_in(list(profiles)))


def _model_scores(
    connection: duckdb.DuckDBPyConnection,
    models: Sequence[tuple[str, str]],
    profiles: Sequence[str],
) -> pl.DataFrame:
    rows = _of_profiles(connection, "model_scores", models, profiles)
    return rows.select(name for name in (*_SCORED, *METRICS) if name in rows.columns)


def _ranks(
    warehouse: Sweep, models: Sequence[tuple[str, str]], profiles: Sequence[str]
) -> pl.DataFrame:
    """Ranks with their intervals, and whatever else the statistic says of a rank."""
    found = [warehouse.rank_intervals(profile) for profile in profiles]
    return only(pl.concat(found, how="diagonal_relaxed"), models)


def _intervals(
    warehouse: Sweep, models: Sequence[tuple[str, str]], profiles: Sequence[str]
) -> pl.DataFrame:
    """The intervals of the headline metrics, in each language and over them."""
    found = [warehouse.intervals(profile, metrics=HEADLINE) for profile in profiles]
    columns = ("profile", "model", "experiment", "language", "metric", "value", "low", "high")
    return only(pl.concat(found).select(columns), models)
