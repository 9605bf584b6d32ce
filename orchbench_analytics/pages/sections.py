"""The sections of the report: each is a function from a warehouse to tables."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.pages.source import Source
from orchbench_analytics.stats.compare import compare_models
from orchbench_analytics.stats.consistency import flips, pass_rates
from orchbench_analytics.stats.noise import run_noise

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
_PAIR = (
    "profile", "metric", "baseline_model", "baseline_experiment", "candidate_model",
    "candidate_experiment", "scenario_count", "baseline_value", "candidate_value", "difference",
    "low", "high", "p_value", "verdict",
)  # fmt: skip
_MODEL = ("profile", "model", "experiment", "language")

Tables = dict[str, pl.DataFrame]


def decisions(source: Source) -> Tables:
    """How labels were answered, and how decisions went wrong."""
    return {
        "confusion": source.rows("confusion_matrix", *_MODEL, "actual", "predicted", "step_count"),
        "patterns": source.rows(
            "error_patterns", *_MODEL, "error_pattern", "occurrence_count", "opportunity_count"
        ),
        "failures": source.rows(
            "failure_reasons", *_MODEL, "unit", "failure_reason", "failure_count"
        ),
    }


def tools(source: Source) -> Tables:
    """Which tools are chosen wrongly by whom, and which arguments go wrong."""
    arguments = source.query(_ARGUMENTS, "argument_scores")
    return {
        "tools": source.rows(
            "tool_scores", *_MODEL, "tool", "labelled_step_count", "tool_true_positive_count",
            "tool_false_positive_count", "value_true_positive_count", "value_false_positive_count",
            "value_false_negative_count",
        ),
        "arguments": arguments.filter(pl.col("profile").is_in(list(source.profiles))),
    }  # fmt: skip


def plans(source: Source) -> Tables:
    """What is wrong with plans, and how it grows with their size."""
    return {
        "kinds": source.rows(
            "plan_error_kinds", *_MODEL, "graph", "kind", "edit_count", "edit_cost",
            "edited_plan_count", "read_plan_count",
        ),
        "sizes": source.rows(
            "plan_size_scores", *_MODEL, "label_workflow_count", "plan_count", "failed_plan_count",
            "perfect_plan_count", "plan_similarity_sum",
        ),
    }  # fmt: skip


def consistency(source: Source) -> Tables:
    """How steady models are from run to run."""
    steps, plans = source.scored("scored_steps"), source.scored("scored_plans")
    found = {
        "flips": flips(steps),
        "pass_rates": pass_rates(steps),
        "run_noise": run_noise(steps, plans, metrics=HEADLINE[:1]),
    }
    return {name: source.only(rows) for name, rows in found.items()}


def costs(source: Source) -> Tables:
    """What a score costs, and which models lie on the front."""
    return {
        "costs": source.rows(
            "score_costs", *_MODEL, "usage_basis", "unknown_usage_file_count",
            "doubtful_usage_file_count", "average_score", "mean_run_cost", "mean_run_tokens",
            "used_cost", "used_token_count", "least_cost", "least_token_count",
            "is_pareto_optimal",
        )
    }  # fmt: skip


def scenarios(source: Source) -> Tables:
    """Which scenarios are hard, dead or suspicious; of few models also every score."""
    found = {"difficulties": source.rows("scenario_difficulties")}
    if len(source.models) <= MOST_PAIRED_MODELS:
        found["scores"] = source.rows("scenario_means", *_MODEL, "scenario", "scenario_score")
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
    scores = source.only(source.scenario_scores()).partition_by("profile", as_dict=True)
    found = [compare_models(scores[profile,], metrics=[metric]) for profile, metric in wanted]
    return {"pairs": pl.concat(found, how="diagonal_relaxed").select(_PAIR)}


def audited(changes: pl.DataFrame, source: Source) -> Tables:
    """What each scoring rule does to each model, from an audit."""
    columns = ("rule", "rule_from", "rule_to", "model", "experiment", *_AUDITED, "rank_change")
    rows = source.only(changes)
    return {"rules": rows.select(name for name in columns if name in rows.columns)}


# Those that take longest come first.
SECTIONS: dict[str, Callable[[Source], Tables]] = {
    "comparisons": comparisons,
    "consistency": consistency,
    "scenarios": scenarios,
    "tools": tools,
    "decisions": decisions,
    "plans": plans,
    "costs": costs,
}
