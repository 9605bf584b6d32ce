"""What a difference between two models comes from: which scenarios, agents or tools.

The contribution of a scenario (agent, tool) is what its change adds on the way from the baseline's
answers to the candidate's, all places changing evenly (Aumann and Shapley 1974). For a mean over
scenarios that is exactly its share of the difference; and for F1s too, contributions add up to the
difference, as leave-one-out influences would not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import resolve_metric, terms_of
from orchbench_analytics.schema import frame
from orchbench_analytics.selection import find_contender
from orchbench_analytics.stats.estimate import Sums, defined_mean, evaluate
from orchbench_analytics.stats.sweep import Array, Contender, Frame, common_pair, sweeps
from orchbench_analytics.tables.statistics import DRIVERS

_CALL_SCORES = ("name_f1", "key_f1", "value_f1")
_DRIVERS = {
    "agent": pl.col("agent_id"),
    "tool": pl.col("label_tools").str.json_decode(pl.List(pl.String)).list.join(", "),
}
_CELL = ("language", "scenario", "run")
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
_STEP = 1e-4


def all_drivers(
    scenario_scores: pl.DataFrame,
    scored_steps: Frame | None,
    baseline: str | Contender,
    candidate: str | Contender,
    *,
    metric: str = "average_score",
) -> dict[str, pl.DataFrame]:
    """What a difference comes from: scenarios of a metric, agents and tools of the calls.

    Without steps, as of result files alone, there are neither agents nor tools.
    """
    scenarios = {"scenarios": drivers(scenario_scores, baseline, candidate, metric=metric)}
    if scored_steps is None:
        return scenarios
    return scenarios | {
        "agents": step_drivers(scored_steps, baseline, candidate, by="agent"),
        "tools": step_drivers(scored_steps, baseline, candidate, by="tool", metric="FC"),
    }


def drivers(
    scenario_scores: pl.DataFrame,
    baseline: str | Contender,
    candidate: str | Contender,
    *,
    metric: str = "average_score",
) -> pl.DataFrame:
    """What each common scenario adds to the difference of the mean over languages: DRIVERS."""
    name = resolve_metric(metric)
    found = []
    for sweep in sweeps(scenario_scores, [name]):
        shared = common_pair(sweep, baseline, candidate)
        blocks, shares = [], []
        for block in shared.blocks:
            sides = [{t: v[side] for t, v in block.terms.items()} for side in (0, 1)]

            def measure(sums: Sums) -> Array:
                return evaluate([name], sums)[name]

            shares.append(_contributions(sides[0], sides[1], measure))
            blocks.append(
                {
                    "language": [block.language] * len(block.scenarios),
                    "driver": block.scenarios,
                    "baseline_value": measure(sides[0]),
                    "candidate_value": measure(sides[1]),
                }
            )
        defined = sum(1 for share in shares if not np.isnan(share).all())
        rows = pl.concat(
            pl.DataFrame(part).with_columns(contribution=pl.Series(share / max(defined, 1)))
            for part, share in zip(blocks, shares, strict=True)
        )
        found.append(_labelled(rows, shared.profile, shared.contenders, name))
    return frame(DRIVERS, *found)


def step_drivers(
    scored_steps: Frame,
    baseline: str | Contender,
    candidate: str | Contender,
    *,
    by: Literal["agent", "tool"] = "agent",
    metric: str = "call_rejection_f1",
) -> pl.DataFrame:
    """What each agent, or gold tool, adds to the difference of the mean over languages: DRIVERS.

    For metrics of steps only, over common runs; averaged over runs as `spec` has it.
    """
    name = resolve_metric(metric)
    needed = terms_of([name])
    if any("similarity" in part for part in needed):
        raise SelectionError(f"{name} is about plans, which belong to no {by}; choose another")
    if by not in _DRIVERS:
        raise SelectionError(f"no drivers by {by!r}; there are {', '.join(_DRIVERS)}")
    steps = _tallied_steps(scored_steps, _DRIVERS[by])
    found = []
    for (profile,), rows in sorted(steps.partition_by("profile", as_dict=True).items()):
        known = rows.select("model", "experiment").unique().sort(pl.all()).rows()
        pair = [find_contender(side, known) for side in (baseline, candidate)]
        drives = _step_contributions([_of(rows, side) for side in pair], name)
        found.append(_labelled(drives, str(profile), pair, name))
    return frame(DRIVERS, *found)


def _contributions(baseline: Sums, candidate: Sums, measure: Callable[[Sums], Array]) -> Array:
    """The contribution of each place on the last axis, whose sums `measure` turns into a metric."""
    changes = {part: candidate[part] - values for part, values in baseline.items()}
    before = {part: values.sum(axis=-1, keepdims=True) for part, values in baseline.items()}
    after = {part: values.sum(axis=-1, keepdims=True) for part, values in candidate.items()}
    result = np.zeros(next(iter(changes.values())).shape[-1])
    for position, weight in zip((_NODES + 1) / 2, _NODE_WEIGHTS / 2, strict=True):
        here = {p: start + position * (after[p] - start) for p, start in before.items()}
        further = measure({part: here[part] + _STEP * change for part, change in changes.items()})
        back = measure({part: here[part] - _STEP * change for part, change in changes.items()})
        result += weight * (further - back) / (2 * _STEP)
    # A metric that is 0 for want of any prediction jumps: those who differ made it together.
    differs = np.any(
        [change.any(axis=tuple(range(change.ndim - 1))) for change in changes.values()], axis=0
    )
    rest = measure(after) - measure(before) - np.where(differs, result, 0.0).sum()
    shared: Array = np.where(differs, result + rest / max(differs.sum(), 1), 0.0 * rest)
    return shared


def _labelled(
    rows: pl.DataFrame, profile: str, pair: Sequence[Contender], metric: str
) -> pl.DataFrame:
    return rows.sort(pl.col("contribution").abs(), descending=True, nulls_last=True).with_columns(
        profile=pl.lit(profile),
        metric=pl.lit(metric),
        baseline_model=pl.lit(pair[0][0]),
        baseline_experiment=pl.lit(pair[0][1]),
        candidate_model=pl.lit(pair[1][0]),
        candidate_experiment=pl.lit(pair[1][1]),
    )


def _tallied_steps(scored_steps: Frame, driver: pl.Expr) -> pl.DataFrame:
    """What can be added up, by run and driver."""
    is_call = pl.col("actual") == "call"
    counts = [part for part in terms_of(["call_rejection_f1"]) if part != "rejection_label_count"]
    return (
        scored_steps.lazy()
        .filter(pl.col("is_scored"))
        .group_by("profile", "model", "experiment", *_CELL, driver.alias("driver"))
        .agg(
            (~is_call).sum().alias("rejection_label_count"),
            is_call.sum().alias("call_label_count"),
            pl.col("is_call_scored").sum().alias("call_scored_count"),
            *(pl.col(name).sum() for name in (*counts, *_CALL_SCORES)),
        )
        .collect()
    )


def _of(rows: pl.DataFrame, contender: Contender) -> pl.DataFrame:
    return rows.filter(pl.col("model") == contender[0], pl.col("experiment") == contender[1]).drop(
        "profile", "model", "experiment"
    )


def _step_contributions(sides: Sequence[pl.DataFrame], name: str) -> pl.DataFrame:
    """Both sides as arrays of run by driver, and what each driver changes."""
    cells = sides[0].select(_CELL).join(sides[1], on=_CELL, how="semi").unique().sort(_CELL)
    if cells.is_empty():
        raise SelectionError("the two models have no run in common")
    both = pl.concat(sides).join(cells, on=_CELL, how="semi")
    names = both.select("driver").unique().sort("driver")
    baseline, candidate = (_dense(side, cells, names) for side in sides)
    starts = cells.select(
        language=pl.struct("language").rle_id(), scenario=pl.struct("language", "scenario").rle_id()
    )

    def measure(tallies: Sums) -> Array:
        return _measure_runs(tallies, starts, name)

    return names.with_columns(
        pl.lit(None, pl.String).alias("language"),
        pl.Series("baseline_value", measure(baseline)),
        pl.Series("candidate_value", measure(candidate)),
        pl.Series("contribution", _contributions(baseline, candidate, measure)),
    )


def _dense(rows: pl.DataFrame, cells: pl.DataFrame, names: pl.DataFrame) -> dict[str, Array]:
    """Each tally as an array of run by driver, 0 where a run has no step of the driver."""
    placed = rows.join(cells.with_row_index("_cell"), on=_CELL).join(
        names.with_row_index("_driver"), on="driver", nulls_equal=True
    )
    place = placed["_cell"].to_numpy(), placed["_driver"].to_numpy()
    tallies = {}
    for column in rows.columns:
        if column not in (*_CELL, "driver"):
            tallies[column] = np.zeros((cells.height, names.height))
            tallies[column][place] = placed[column].to_numpy()
    return tallies


def _measure_runs(tallies: Mapping[str, Array], starts: pl.DataFrame, name: str) -> Array:
    """The metric of each column: steps to runs, runs to scenarios, to languages, to their mean."""
    scenario = _first(starts["scenario"])
    language = _first(starts["language"])
    language_of_scenario = _first(starts["language"].gather(scenario))
    has_label = tallies["call_label_count"] > 0
    run_count = np.add.reduceat(has_label.astype(np.float64), scenario)
    sums = {}
    for score in _CALL_SCORES:
        scored = tallies["call_scored_count"]
        of_run = np.divide(tallies[score], scored, out=np.zeros_like(scored), where=scored > 0)
        of_run *= has_label
        of_file = np.add.reduceat(of_run, scenario) / np.maximum(run_count, 1)
        sums[f"{score}_sum"] = np.add.reduceat(of_file, language_of_scenario)
        sums[f"{score}_file_count"] = np.add.reduceat(
            (run_count > 0).astype(np.float64), language_of_scenario
        )
    for part in terms_of(["call_rejection_f1"]):
        sums[part] = np.add.reduceat(tallies[part], language)
    return defined_mean(list(evaluate([name], sums)[name]))


def _first(ids: pl.Series) -> npt.NDArray[np.int64]:
    """Where each run of equal ids starts."""
    values = ids.to_numpy()
    return np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
