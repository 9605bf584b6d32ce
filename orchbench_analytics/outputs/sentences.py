"""What a table shows, in one sentence."""

from __future__ import annotations

from math import ceil
from typing import Any

import polars as pl

from orchbench_analytics.metrics import HEADLINE, LABELS, MEAN_OF_LANGUAGES
from orchbench_analytics.outputs.screen import named_contenders
from orchbench_analytics.tables.statistics import FEWEST_FOR_REGRESSION, REGRESSION

_FEW = 3
_SOUGHT = 0.01  # that an advice is about: one point


def points(value: float) -> str:
    """A difference of scores in points, a hundred of which are 1."""
    return f"{100 * value:+.1f}"


def comparison(rows: pl.DataFrame) -> str:
    """The difference of two models in each metric, over all languages or in the only one."""
    means = rows.filter(pl.col("language") == MEAN_OF_LANGUAGES)
    return "; ".join(map(_difference, (rows if means.is_empty() else means).to_dicts()))


def clusters_used(rows: pl.DataFrame) -> str | None:
    """How many independent clusters the scenarios are, if some go together."""
    counts = rows.select("scenario_count", "cluster_count").head(1).rows()
    scenarios, clusters = counts[0] if counts else (0, 0)
    if clusters >= scenarios:
        return None
    return (
        f"{scenarios:,} scenarios in {clusters:,} clusters: a scenario and its translation count "
        "as one"
    )


def _difference(row: dict[str, Any]) -> str:
    name = LABELS[row["metric"]]
    if row["difference"] is None:
        return f"{name} undefined"
    low, high = row["low"], row["high"]
    interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if None not in (low, high) else ""
    return f"{name} {points(row['difference'])} points{interval}, {row['verdict']}"


def power_advice(rows: pl.DataFrame) -> str | None:
    """How many scenarios a verdict would have needed, if the first row has none."""
    row = rows.row(0, named=True)
    detectable, count = row["detectable_difference"], row["scenario_count"]
    if row["verdict"] in ("better", "worse") or not detectable or not count:
        return None
    needed = ceil(count * (detectable / _SOUGHT) ** 2)
    return (
        f"{LABELS[row['metric']]}: on {count} scenarios a difference below "
        f"{100 * detectable:.1f} points is easily missed; detecting {100 * _SOUGHT:g} takes "
        f"about {needed:,} scenarios like these"
    )


def many_comparisons(rows: pl.DataFrame) -> str:
    """How many of many pairs differ."""
    means = rows.filter(pl.col("language") == MEAN_OF_LANGUAGES)
    counts = dict(means.group_by("verdict").len().iter_rows())
    said = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in sorted(counts))
    pairs = "1 pair" if means.height == 1 else f"{means.height:,} pairs"
    return f"{pairs} of models: {said or 'none to compare'}"


def costs(rows: pl.DataFrame) -> str:
    """Who is on the front of score and cost."""
    rows = named_contenders(rows)
    names = {
        front: ", ".join(rows.filter(front=front)["model"].to_list())
        for front in ("on", "likely on")
    }
    unknown = rows.filter(front="unknown")
    has_tokens = pl.col("run_input_tokens").is_not_null()
    unpriced, unmeasured = (unknown.filter(chosen).height for chosen in (has_tokens, ~has_tokens))
    said = [
        f"surely on the front of score and cost: {names['on']}" if names["on"] else "",
        f"likely on it: {names['likely on']}" if names["likely on"] else "",
        f"the cost of {_models(unpriced)} is not known; give --prices" if unpriced else "",
        f"the tokens of {_models(unmeasured)} are not known, so prices do not help; the view "
        "scenario_usage has what their files state"
        if unmeasured
        else "",
    ]
    return "; ".join(filter(None, said))


def consistency(what: str, rows: pl.DataFrame) -> str:
    """What a table of consistency found, if it has any rows."""
    return _FOUND[what](rows)


def _flips(rows: pl.DataFrame) -> str:
    steps, unstable = rows["step_count"].sum(), rows["unstable_step_count"].sum()
    worst = _extreme(rows, "unstable_step_rate")
    return (
        f"{unstable:,} of {steps:,} steps are decided differently from run to run; "
        f"the most: {_model(worst)}, {worst['unstable_step_rate']:.0%} of its steps"
    )


def _pass_rates(rows: pl.DataFrame) -> str:
    k = max(rows["k"].to_list())
    most = rows.filter(pl.col("k") == k, pl.col("criterion") == "answer")
    best, worst = (_extreme(most, "pass_all_rate", lowest=lowest) for lowest in (False, True))
    return (
        f"all of {k} runs are right in {best['pass_all_rate']:.0%} of the steps of {_model(best)}, "
        f"and in {worst['pass_all_rate']:.0%} of those of {_model(worst)}"
    )


def _run_noise(rows: pl.DataFrame) -> str:
    average = rows.filter(pl.col("metric") == HEADLINE[0])
    noisiest = _extreme(average, "run_standard_deviation")
    return (
        f"by chance alone, the Average of one run of {_model(noisiest)} varies by "
        f"{100 * (noisiest['run_standard_deviation'] or 0):.1f} points (standard deviation), "
        "the most of the models shown"
    )


def _spread(rows: pl.DataFrame) -> str:
    average = rows.filter(pl.col("metric") == HEADLINE[0])
    largest = _extreme(average, "noise_share")
    return (
        f"at most {largest['noise_share'] or 0:.1%} of the spread of models in Average is chance "
        "between runs"
    )


def _gaps(rows: pl.DataFrame) -> str:
    average = rows.filter(pl.col("metric") == HEADLINE[0])
    real = average.filter((pl.col("low") > 0) | (pl.col("high") < 0))
    widest = _extreme(average.with_columns(size=pl.col("gap").abs()), "size")
    return (
        f"{real.height:,} of {average.height:,} gaps between languages in Average are beyond "
        f"chance; the widest gap: {widest['model']}, {points(widest['gap'] or 0)} points in "
        f"{widest['language']} against {widest['reference_language']}"
    )


_FOUND = {
    "flips": _flips,
    "pass_rates": _pass_rates,
    "run_noise": _run_noise,
    "spread": _spread,
    "gaps": _gaps,
}


_TWO_RUNS = "at least two runs of a scenario are needed"
NEEDED_FOR = {
    "flips": _TWO_RUNS,
    "pass_rates": _TWO_RUNS,
    "run_noise": _TWO_RUNS,
    "spread": f"{_TWO_RUNS}, and two models",
    "gaps": "two languages are needed",
}
"""What the rows of each table of consistency are made from."""


def audit(rows: pl.DataFrame, *, all_rules: str) -> str:
    """Which rules move Average most, and what all of them do together."""
    change = f"{HEADLINE[0]}_change"
    moves = (
        rows.filter(pl.col("rule") != all_rules)
        .group_by("rule")
        .agg(pl.col(change).abs().max().alias("most"))
        .filter(pl.col("most") > 0)
        .sort("most", "rule", descending=[True, False])
    )
    if moves.is_empty():
        return f"from upstream to spec, no rule moves {LABELS[HEADLINE[0]]} of any model here"
    said = ", ".join(f"{rule} (up to {100 * most:.1f})" for rule, most in moves.head(_FEW).rows())
    together = rows.filter(pl.col("rule") == all_rules)
    moved = together.filter(pl.col("rank_change") != 0).height
    return (
        f"from upstream to spec, {_rules(moves.height)} Average; the most, in points: {said}; "
        f"all together change the rank of {moved:,} of {_models(together.height)}"
    )


def _rules(count: int) -> str:
    return "1 rule moves" if count == 1 else f"{count:,} rules move"


def _models(count: int) -> str:
    return "1 model" if count == 1 else f"{count:,} models"


def _extreme(rows: pl.DataFrame, column: str, *, lowest: bool = False) -> dict[str, Any]:
    """The row with the largest or lowest value."""
    in_order = rows.sort(column, descending=not lowest, nulls_last=True)
    return in_order.row(0, named=True)


def _model(row: dict[str, Any]) -> str:
    return f"{row['model']} in {row['language']}"


def shortlist(rows: pl.DataFrame) -> str:
    """How well the scenarios of a list predict the full score."""
    row = rows.row(0, named=True)
    whole = f"{rows.height:,} of {row['sweep_scenario_count']:,} scenarios"
    models = _complete_models(row["model_count"])
    if not row["model_count"]:
        return f"{whole}; how well they predict is not known, as {models}"
    name, plain = LABELS[row["metric"]], f"{100 * row['mean_error']:.1f} points"
    if row["method"] == REGRESSION:
        return (
            f"{whole} predict the full {name} within {100 * row['prediction_error']:.1f} points "
            f"(RMSE, each of {row['model_count']:,} models predicted from the others); their plain "
            f"mean within {plain}"
        )
    return f"the plain mean of {whole} is within {plain} of the full {name} (RMSE); {models}"


def prediction(rows: pl.DataFrame) -> str:
    """The full score that is expected of a model, and what the interval assumes."""
    row = rows.row(0, named=True)
    name = LABELS[row["metric"]]
    ends = f"[{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
    if row["method"] == REGRESSION:
        basis = f"the regression on {row['model_count']:,} models"
    else:
        basis = f"the plain mean over the list, as {_complete_models(row['model_count'])}"
    return (
        f"{row['model']}: full {name} {100 * row['predicted_score']:.1f} {ends} by {basis}; over "
        f"the list {100 * row['list_score']:.1f}; the interval assumes a model like the others"
    )


def _complete_models(count: int) -> str:
    have = "model has" if count == 1 else "models have"
    few = f"; a regression needs {FEWEST_FOR_REGRESSION}" if count else ""
    return f"{count or 'no'} {have} all scenarios{few}"
