"""The tables that statistics come in: grain, columns, and what each means."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.schema import (
    Table,
    count,
    maybe_count,
    maybe_number,
    maybe_text,
    polars_schema,
    text,
)
from orchbench_analytics.tables import PROFILE_NAME

_MODEL = text("model", "Model name, as the results tree has it.")
_EXPERIMENT = text("experiment", "Experiment the files belong to.")
CONTENDER = (PROFILE_NAME, _MODEL, _EXPERIMENT)
_LANGUAGE = text("language", "EN, KO, …, or `mean` for the mean over the model's languages.")
ONE_LANGUAGE = text("language", "Language of the scenarios.")
METRIC = text("metric", "Name of the metric, as `model_scores` has it.")
_LOW = maybe_number("low", "Lower end of the interval; null with fewer than two scenarios.")
_HIGH = maybe_number("high", "Upper end of the interval; null with fewer than two scenarios.")
_ERROR = maybe_number(
    "standard_error", "Bootstrap standard error over scenarios; null with fewer than two."
)

_SCENARIOS = count("scenario_count", "Scenarios of the sweep that the model has a file of.")
_COVERAGE = maybe_number("coverage_rate", "Share of the sweep's scenarios that the model has, 0-1.")

INTERVALS = Table(
    "intervals",
    "metric of a model, by language and for the mean over its languages",
    (
        *CONTENDER,
        _LANGUAGE,
        METRIC,
        maybe_number("value", "The metric, unrounded; null where it is undefined."),
        _ERROR,
        maybe_number(
            "cluster_standard_error",
            "Cluster-robust standard error, scenarios being clusters: of a mean or ratio exactly "
            "the textbook's, of other metrics by linearisation.",
        ),
        _LOW,
        _HIGH,
        count("scenario_count", "Scenarios that have something to say about the metric."),
        _COVERAGE,
    ),
)
RANK_INTERVALS = Table(
    "rank_intervals",
    "model and experiment under a profile",
    (
        *CONTENDER,
        maybe_count(
            "rank_number",
            "Rank by average_score, 1 is best; equal scores share a rank. Null if unranked.",
        ),
        maybe_count("rank_low", "Best rank of a set that holds together with those of all models."),
        maybe_count("rank_high", "Worst rank of that set; null if unranked."),
        maybe_count(
            "tier_number",
            "Models of a tier cannot be told apart from its best one; 1 is the top tier.",
        ),
        maybe_number(
            "average_score",
            "Mean over languages of the average score: of ranked models over the scenarios that "
            "all of them have, of others over their own.",
        ),
        _LOW,
        _HIGH,
        maybe_number(
            "adjusted_score",
            "Estimate of the average score over all scenarios of the sweep: what is missing is "
            "filled in from a two-way fit of model and scenario effects.",
        ),
        _SCENARIOS,
        count("sweep_scenario_count", "Scenarios that some model has or that are expected."),
        _COVERAGE,
        count("refused_file_count", "Files of the model that could not be read."),
        maybe_text("unranked_reason", "Why the model has no rank; null if it has one."),
    ),
)
_PAIR = (
    PROFILE_NAME,
    text("baseline_model", "Model compared against."),
    text("baseline_experiment", "Experiment of the baseline."),
    text("candidate_model", "Model under test."),
    text("candidate_experiment", "Experiment of the candidate."),
)
_DIFFERENCE = maybe_number(
    "difference", "Candidate - baseline, -1 to 1: above 0 the candidate is better."
)
COMPARISONS = Table(
    "comparisons",
    "metric of a baseline and a candidate, by language and for the mean over languages",
    (
        *_PAIR,
        _LANGUAGE,
        METRIC,
        count("scenario_count", "Scenarios that both have and that say something on the metric."),
        maybe_number("baseline_value", "The baseline's metric over common scenarios."),
        maybe_number("candidate_value", "The candidate's metric over common scenarios."),
        _DIFFERENCE,
        _ERROR,
        maybe_number("low", "Lower end of the interval of this row alone."),
        maybe_number("high", "Upper end of the interval of this row alone."),
        maybe_number(
            "low_adjusted",
            "Lower end of the interval, corrected as p_adjusted is; the verdict needs both.",
        ),
        maybe_number(
            "high_adjusted",
            "Upper end of the interval, corrected as p_adjusted is; the verdict needs both.",
        ),
        maybe_number("p_value", "Paired permutation test, two-sided: how often chance does this."),
        maybe_number(
            "p_adjusted",
            "p_value corrected for all rows of the table: Holm for two models, step-down max-t for "
            "many pairs.",
        ),
        maybe_number(
            "effect_size",
            "difference / (standard_error x sqrt(scenario_count)): for a mean Cohen's d_z, the "
            "difference in standard deviations of scenario differences; null without spread.",
        ),
        maybe_number(
            "detectable_difference",
            "Smallest true difference that gets a verdict with 80 % power, corrected for all rows: "
            "half the adjusted interval + t_80 x standard_error.",
        ),
        text(
            "verdict",
            "Of the candidate: better, worse, no difference shown, or too little data (no result "
            "on so few scenarios could have been significant).",
        ),
    ),
)
TRENDS = Table(
    "trends",
    "metric under a profile, over a number that models are tagged with",
    (
        PROFILE_NAME,
        text("tag", "Column of `model_tags` with the number."),
        METRIC,
        count("model_count", "Models that have the number."),
        count("scenario_count", "Scenarios that all of them have."),
        maybe_number("lowest_number", "The least number of a model."),
        maybe_number("highest_number", "The greatest number of a model."),
        maybe_number("slope", "Least squares: change of the metric for one more of the number."),
        maybe_number("change", "slope x (highest_number - lowest_number), as the line has it."),
        maybe_number("low", "Lower end of the change's interval, which holds with all rows'."),
        maybe_number("high", "Upper end of the change's interval, which holds with all rows'."),
        text("verdict", "rising, falling, no trend shown, or too little data."),
    ),
)
DRIVERS = Table(
    "drivers",
    "scenario, agent or tool that two models share",
    (
        *_PAIR,
        METRIC,
        maybe_text("language", "Language of the scenario; null for agents and tools."),
        maybe_text("driver", "The scenario, agent or tool; null for steps without any."),
        maybe_number("baseline_value", "The baseline's metric on this alone; null if undefined."),
        maybe_number("candidate_value", "The candidate's metric on this alone; null if undefined."),
        maybe_number(
            "contribution",
            "Part of the difference (candidate - baseline) of the mean over languages that is made "
            "here; adds up to it.",
        ),
    ),
)
LANGUAGE_GAPS = Table(
    "language_gap_intervals",
    "metric of a model and pair of languages",
    (
        *CONTENDER,
        METRIC,
        ONE_LANGUAGE,
        text("reference_language", "Language it is compared with."),
        maybe_number("gap", "The metric in `language` less that in `reference_language`."),
        _ERROR,
        _LOW,
        _HIGH,
    ),
)
SCORE_STATISTICS = (
    INTERVALS,
    RANK_INTERVALS,
    COMPARISONS,
    TRENDS,
    DRIVERS,
    LANGUAGE_GAPS,
)


def frame(table: Table, *blocks: pl.DataFrame) -> pl.DataFrame:
    """The rows of all blocks, with the table's columns and types; NaN turns into null."""
    schema = polars_schema(table)
    rows = pl.concat(blocks) if blocks else pl.DataFrame()
    if not rows.width:
        return pl.DataFrame(schema=schema)
    typed = rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
    return typed.fill_nan(None)
