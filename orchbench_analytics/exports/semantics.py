"""The semantic layer: every metric as an aggregate in SQL over `fact_scenario`.

A formula holds for rows of one profile, model and language; a score over languages is the mean of
theirs. It reads the same in DuckDB, SQLite and Postgres. Under a profile that rounds (`upstream`),
a mean within the last bit of a tie may round to the other side, as it may in the evaluator itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from orchbench_analytics.metrics import HEADLINE, METRICS, Mean, Ratio

FACT = "fact_scenario"
_GROUPS = ("profile_sk", "model_sk", "dim_scenario.language")


def formula_of(name: str) -> str:
    """The aggregate that gives a metric."""
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        value = _mean(formula)
    elif averaged := _averaged_column(formula):
        value = f"avg({averaged})"
    else:  # an undefined F1 counts as the profile says, an undefined precision is null
        value = _ratio(formula, is_ruled=name.endswith("_f1"))
    return _rounded(value) if name in HEADLINE else value


def averaged_columns() -> dict[str, str]:
    """The columns of the fact whose mean is a metric, and which."""
    columns = {
        _averaged_column(metric.formula): name
        for name, metric in METRICS.items()
        if isinstance(metric.formula, Ratio)
    }
    return {column: name for column, name in columns.items() if column is not None}


def metric_rows() -> list[dict[str, str]]:
    """The rows of the table `metrics`."""
    return [
        {
            "metric": name,
            "label": metric.label,
            "description": metric.description,
            "fact": FACT,
            "formula": formula_of(name),
        }
        for name, metric in METRICS.items()
    ]


def metrics_document() -> str:
    """The metrics as YAML, for the semantic layers of other tools."""
    content = {
        "version": 1,
        "facts": {FACT: {"grain": ["profile_sk", "model_sk", "scenario_sk"]}},
        "group_by": list(_GROUPS),
        "over_languages": "mean of the languages' values",
        "metrics": [_entry(row) for row in metric_rows()],
    }
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=96)
    return text


def _entry(row: Mapping[str, str]) -> dict[str, Any]:
    formula = METRICS[row["metric"]].formula
    members = {"mean_of": list(formula.of)} if isinstance(formula, Mean) else {}
    known = {name: row[name] for name in ("label", "description", "fact")}
    return {"name": row["metric"], **known, **members, "formula": row["formula"]}


def _averaged_column(formula: Ratio) -> str | None:
    """The column of which a formula is the mean, if it is one."""
    (first, *_), (below, *_) = formula.numerator, formula.denominator
    column = first.removesuffix("_sum")
    return column if below == f"{column}_file_count" else None


def _sum(factors: Mapping[str, float]) -> str:
    return " + ".join(
        f"sum({name})" if factor == 1 else f"{factor:g} * sum({name})"
        for name, factor in factors.items()
    )


def _ratio(formula: Ratio, *, is_ruled: bool) -> str:
    """A ratio of sums, and what it is with nothing below."""
    above, below = _sum(formula.numerator), _sum(formula.denominator)
    ratio = f"cast({above} as double precision) / nullif({below}, 0)"
    defined = _sum(dict.fromkeys(formula.defined_by, 1))
    otherwise = [f"case when {defined} > 0 then 0.0 end"] if defined else []
    otherwise += ["max(undefined_score)"] if is_ruled else []
    return f"coalesce({', '.join([ratio, *otherwise])})" if otherwise else ratio


def _mean(formula: Mean) -> str:
    members = [formula_of(name) for name in formula.of]
    if formula.needs_all:
        return f"({' + '.join(members)}) / {len(members)}"
    total = " + ".join(f"coalesce({member}, 0)" for member in members)
    defined = " + ".join(f"case when {member} is null then 0 else 1 end" for member in members)
    return f"({total}) / nullif({defined}, 0)"


def _rounded(value: str) -> str:
    """A headline score as the profile carries it on.

    To add 2^52 to a double and to take it away again leaves a whole number, ties to the even one.
    """
    whole = f"(({value}) * max(score_scale) + max(score_shift)) - max(score_shift)"
    return f"({whole}) / max(score_scale)"
