"""The sections of the report: each is a function from a warehouse to tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import duckdb
import polars as pl

from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.pages.core import only
from orchbench_analytics.pages.sweep import Sweep
from orchbench_analytics.views.catalog import frame_of

# All pairs of so many models can be compared, and all their scenarios shown beside each other.
MOST_PAIRED_MODELS = 40
_ARGUMENTS = """
select
    profile, language, label_tools, argument_key,
    cast(sum(argument_count) as bigint) as argument_count,
    cast(sum(key_false_positive_count) as bigint) as key_false_positive_count,
    cast(sum(key_false_negative_count) as bigint) as key_false_negative_count,
    cast(sum(value_true_positive_count) as bigint) as value_true_positive_count,
    cast(sum(value_false_positive_count) as bigint) as value_false_positive_count,
    cast(sum(value_false_negative_count) as bigint) as value_false_negative_count
from main.argument_scores
group by profile, language, label_tools, argument_key
order by all
"""
_AUDITED = tuple(f"{metric}_change" for metric in HEADLINE)
_CONSISTENCY = ("flips", "pass_rates", "run_noise")

Tables = dict[str, pl.DataFrame]


class Source(NamedTuple):
    """What a section is made from."""

    warehouse: Sweep
    connection: duckdb.DuckDBPyConnection
    models: Sequence[tuple[str, str]]
    profiles: Sequence[str]

    def view(self, name: str, *columns: str) -> pl.DataFrame:
        """Columns of a view, its profiles and models being those of the report."""
        return self.rows(f"select {', '.join(columns) or '*'} from main.{name} order by all")

    def rows(self, query: str) -> pl.DataFrame:
        """Rows of a query, likewise."""
        rows = frame_of(self.connection.sql(query))
        if "model" in rows.columns:
            rows = only(rows, self.models)
        return rows.filter(pl.col("profile").is_in(list(self.profiles)))


_MODEL = ("profile", "model", "experiment", "language")


def decisions(source: Source) -> Tables:
    """How labels were answered, and how decisions went wrong."""
    return {
        "confusion": source.view("confusion_matrix", *_MODEL, "actual", "predicted", "step_count"),
        "patterns": source.view(
            "error_patterns", *_MODEL, "error_pattern", "occurrence_count", "opportunity_count"
        ),
        "failures": source.view(
            "failure_reasons", *_MODEL, "unit", "failure_reason", "failure_count"
        ),
    }


def tools(source: Source) -> Tables:
    """Which tools are chosen wrongly by whom, and which arguments go wrong."""
    counts = ("labelled_step_count", "tool_true_positive_count", "tool_false_positive_count")
    values = (f"value_{kind}_count" for kind in ("true_positive", "false_positive"))
    rows = source.view(
        "tool_scores", *_MODEL, "tool", *counts, *values, "value_false_negative_count"
    )
    return {"tools": rows, "arguments": source.rows(_ARGUMENTS)}


def plans(source: Source) -> Tables:
    """What is wrong with plans, and how it grows with their size."""
    return {
        "kinds": source.view(
            "plan_error_kinds", *_MODEL, "graph", "kind", "edit_count", "edit_cost",
            "edited_plan_count", "read_plan_count",
        ),
        "sizes": source.view(
            "plan_size_scores", *_MODEL, "label_workflow_count", "plan_count", "failed_plan_count",
            "perfect_plan_count", "plan_similarity_sum",
        ),
    }  # fmt: skip


def consistency(source: Source) -> Tables:
    """How steady models are from run to run."""
    found = [source.warehouse.consistency(profile) for profile in source.profiles]
    return {
        name: only(pl.concat([tables[name] for tables in found]), source.models)
        for name in _CONSISTENCY
        if all(name in tables for tables in found)
    }


def costs(source: Source) -> Tables:
    """What a score costs, and which models lie on the front."""
    return {
        "costs": source.view(
            "score_costs", *_MODEL, "average_score", "mean_run_cost", "mean_run_tokens",
            "total_cost", "total_token_count", "is_pareto_optimal",
        )
    }  # fmt: skip


def scenarios(source: Source) -> Tables:
    """Which scenarios are hard, dead or suspicious; of few models also every score."""
    found = {"difficulties": source.view("scenario_difficulties")}
    if len(source.models) <= MOST_PAIRED_MODELS:
        found["scores"] = source.view("scenario_means", *_MODEL, "scenario", "scenario_score")
    return found


def comparisons(source: Source) -> Tables:
    """All pairs of models, where there are not too many.

    The first profile has all headline metrics; of others the average alone, which is what takes
    most of a report's time.
    """
    if not 2 <= len(source.models) <= MOST_PAIRED_MODELS:
        return {}
    first, *others = source.profiles
    wanted = [(first, metric) for metric in HEADLINE] + [(name, HEADLINE[0]) for name in others]
    found = [
        source.warehouse.compare(profile=profile, metrics=[metric]) for profile, metric in wanted
    ]
    return {"pairs": _pairs_of(pl.concat(found, how="diagonal_relaxed"), source.models)}


def rules(source: Source) -> Tables:
    """What each scoring rule does to each model."""
    rows = only(source.warehouse.audit(), source.models)
    columns = ("rule", "rule_from", "rule_to", "model", "experiment", *_AUDITED, "rank_change")
    return {"rules": rows.select(name for name in columns if name in rows.columns)}


SECTIONS: dict[str, Callable[[Source], Tables]] = {
    "decisions": decisions,
    "tools": tools,
    "plans": plans,
    "consistency": consistency,
    "costs": costs,
    "scenarios": scenarios,
    "comparisons": comparisons,
}


def _pairs_of(pairs: pl.DataFrame, models: Sequence[tuple[str, str]]) -> pl.DataFrame:
    for side in ("baseline", "candidate"):
        names = {f"{side}_model": "model", f"{side}_experiment": "experiment"}
        back = {new: old for old, new in names.items()}
        pairs = only(pairs.rename(names), models).rename(back)
    return pairs
