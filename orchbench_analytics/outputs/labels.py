"""Short names of columns for people who read a table on a screen."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from orchbench_analytics.metrics import HEADLINE, LABELS, METRICS
from orchbench_analytics.outputs.printable import printable_line

_SHORT = {
    "rank_number": "rank",
    "tier_number": "tier",
    "average_score": "Average",
    "row_count": "rows",
    "scenario_count": "scenarios",
    "sweep_scenario_count": "sweep scenarios",
    "refused_file_count": "refused",
    "baseline_model": "baseline",
    "candidate_model": "candidate",
    "baseline_value": "baseline score",
    "candidate_value": "candidate score",
    "low_adjusted": "low",
    "high_adjusted": "high",
    "p_adjusted": "p",
    "p_value": "p alone",
    "effect_size": "effect",
    "detectable_difference": "detectable",
    "wanted_difference": "wanted",
    "needed_scenario_count": "needed scenarios",
    "needed_answer_count": "needed answers",
    "check_name": "check",
}


_SIDES = ("baseline_", "candidate_")
_NONE = pl.Series(dtype=pl.String)


def label_of(column: str) -> str:
    """What people call a column: the metric's label, or its name in plain words."""
    if column in LABELS:
        return LABELS[column]
    if column in _SHORT:
        return _SHORT[column]
    for metric in HEADLINE:
        if column.startswith(f"{metric}_"):
            return f"{LABELS[metric]} {_word(column.removeprefix(f'{metric}_'))}"
    if column.endswith("_count"):
        column = f"{column.removesuffix('_count')}s"
    return printable_line(column).replace("_", " ")


def labels_of(columns: Sequence[str]) -> list[str]:
    """The labels of columns, each another: of two that would be alike the second keeps its name."""
    labels: list[str] = []
    for column in columns:
        choices = (label_of(column), column, f"{column} alone")
        labels.append(next((label for label in choices if label not in labels), column))
    return labels


def named_contenders(rows: pl.DataFrame, among: pl.DataFrame | None = None) -> pl.DataFrame:
    """Models as `model/experiment` where they have several, so that each has its own name.

    `among` are all the rows of which some are shown: a name tells a model apart from those too.
    """
    several = _of_several_experiments(rows if among is None else among)
    rows = _without_common_experiment(rows)
    for side in ("", *_SIDES):
        model, experiment = f"{side}model", f"{side}experiment"
        is_one_side = bool(side) and rows.get_column(experiment, default=_NONE).n_unique() == 1
        if {model, experiment} <= {*rows.columns} and (side or several):
            is_told = pl.col(model).is_in(several) | pl.lit(is_one_side)
            named = pl.when(is_told).then(pl.format("{}/{}", model, experiment)).otherwise(model)
            rows = rows.with_columns(named.alias(model)).drop(experiment)
    return rows


def _of_several_experiments(rows: pl.DataFrame) -> list[str]:
    """The models that have more than one experiment."""
    pairs = [
        rows.select(model=f"{side}model", experiment=f"{side}experiment")
        for side in ("", *_SIDES)
        if {f"{side}model", f"{side}experiment"} <= {*rows.columns}
    ]
    if not pairs:
        return []
    counts = pl.concat(pairs).group_by("model").agg(pl.col("experiment").n_unique())
    return counts.filter(pl.col("experiment") > 1)["model"].to_list()


def _without_common_experiment(rows: pl.DataFrame) -> pl.DataFrame:
    """Comparisons within one experiment, which then is named once."""
    both = [f"{side}experiment" for side in _SIDES]
    if not {*both} <= {*rows.columns} or pl.concat([rows[n] for n in both]).n_unique() != 1:
        return rows
    return rows.rename({both[0]: "experiment"}).drop(both[1])


def _word(suffix: str) -> str:
    """A language in capitals, anything else as it is."""
    return suffix.upper() if len(suffix) == 2 else suffix


def metric_label(name: str) -> str:
    """The label of a metric; other names stay."""
    return METRICS[name].label if name in METRICS else name
