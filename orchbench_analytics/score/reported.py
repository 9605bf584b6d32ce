"""Scenario scores from an evaluator's result files: the rows of `detailed_results` as they are."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.metrics import LABEL_FIGURES, SCENARIO_FIGURES
from orchbench_analytics.profiles import REPORTED
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.tables import SCENARIO_KEY, SCENARIO_SCORES

_KEY = [column.name for column in SCENARIO_KEY]
_FIGURES = SCENARIO_FIGURES | {name: name for name in LABEL_FIGURES}
_OPTIONAL = ("type_mismatch_count", "failed_generation_count")  # older files lack them
_NEEDED = [column for column in SCENARIO_FIGURES.values() if column not in _OPTIONAL]


def reported_scores(figures: pl.DataFrame) -> pl.DataFrame:
    """A row of `scenario_scores` for each scenario with all figures of the seed's format.

    What a result file does not say, such as how many answers were left out, is null.
    """
    known = figures.filter(pl.col("figure").is_in(list(_FIGURES)))
    if known.is_empty():
        return pl.DataFrame(schema=polars_schema(SCENARIO_SCORES))
    wide = known.pivot("figure", index=_KEY, values="value", aggregate_function="first")
    given = {ours: seed for seed, ours in _FIGURES.items() if seed in wide.columns}
    rows = wide.select(*_KEY, *(pl.col(seed).alias(ours) for ours, seed in given.items()))
    types = polars_schema(SCENARIO_SCORES)
    absent = (pl.lit(None, types[name]).alias(name) for name in types if name not in rows.columns)
    plans = pl.col("plan_count")
    return (
        rows.with_columns(absent)
        .drop_nulls(_NEEDED)
        .with_columns(
            profile=pl.lit(REPORTED.name),
            call_label_count=pl.coalesce(
                "call_label_count",
                pl.col("true_positive_call_count") + pl.col("false_negative_call_count"),
            ),
            rejection_label_count=pl.coalesce(
                "rejection_label_count",
                pl.col("true_positive_reject_count") + pl.col("false_negative_reject_count"),
            ),
            call_scored_count=pl.col("true_negative_reject_count"),
            plan_with_failure_count=plans + pl.col("failed_plan_generation_count"),
            plan_without_failure_count=plans,
            plan_similarity_sum=plans * pl.col("read_plan_similarity"),
            structure_similarity_sum=plans * pl.col("structure_similarity"),
            component_similarity_sum=plans * pl.col("component_similarity"),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in types.items())
        .sort(_KEY)
    )
