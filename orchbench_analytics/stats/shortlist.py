"""A short benchmark: which scenarios to run, and what they say of the score over all of them.

The list is drawn at random, as many scenarios of each language as its share of the sweep, and one
language of a cluster before its translations: a translation repeats much of what its partner says.
On simulated sweeps whose translations correlate by 0.8, lists of 100 that kept translations
together had errors larger by a third to a half than lists that spread them.

The score over all scenarios is the score over the list and a gap. Ridge regression predicts the
gap from what each scenario of the list adds to the score, with models that have all scenarios as
examples (Hoerl and Kennard 1970; lists of examples that stand for a benchmark: Polo et al. 2024,
arXiv:2402.14992). The penalty is the one with the least error when each model in turn is left out,
which has a closed form (Allen 1974). Among the choices are the mean gap without any weights, and
no gap at all.

The error is that of models left out, with the penalty chosen without them: chosen with them, it
shows errors that are too small by a tenth where models are few. The interval reaches as far as
Student's t of these errors, and as far as the quantile of their sizes where there are 19 models or
more. This is the jackknife, which rests on simulation: the guarantee of Barber et al. (2021) is for
jackknife+. It holds on average over models of the kind: it assumes that the new model is to the
known ones as they are to each other. A model of another kind, or one that was tuned on the list, is
not covered.

On 480 simulated sweeps of 441 scenarios (translations that correlate by 0 or 0.8, models of one
skill or of four) 40 models predicted new ones within 0.9 points (RMSE) from lists of 100 and within
1.5 from lists of 50; the mean over the list is within 1.7 and 2.7. With 6 to 40 models, the
intervals of 95 % covered 93.6 to 96.5 % in each configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import linalg

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import LABELS, resolve_metric
from orchbench_analytics.schema import frame
from orchbench_analytics.selection import find_contender
from orchbench_analytics.stats.estimate import (
    check_level,
    estimate,
    estimate_clusters,
    student_quantile,
)
from orchbench_analytics.stats.sweep import ALONE, Array, Block, Contender, Indices, Sweep, sweeps
from orchbench_analytics.tables.statistics import (
    FEWEST_FOR_REGRESSION,
    PLAIN_MEAN,
    PREDICTIONS,
    REGRESSION,
    SHORTLISTS,
)

FEWEST_FOR_INTERVAL = 3
# In variances of a model; a finer grid chose no better and made the errors of the chosen smaller.
_PENALTIES = (0.1, 1.0, 10.0, np.inf)
_MOST_FOLDS = 50  # up to 50 models each is left out alone, and more in groups


class Fit(NamedTuple):
    """The gap of a model: `mean_gap` + `weights` x (its additions - `mean_additions`)."""

    mean_gap: float
    mean_additions: Array
    weights: Array

    def predict(self, additions: Array) -> Array:
        """The gaps of models, of what each scenario of the list adds to their scores."""
        gaps: Array = self.mean_gap + (additions - self.mean_additions) @ self.weights
        return gaps


class Examples(NamedTuple):
    """Models with a score over all scenarios, over the list, and what each scenario adds to it."""

    full: Array
    listed: Array
    additions: Array

    def take(self, places: Indices) -> Examples:
        """Some of the models."""
        return Examples(self.full[places], self.listed[places], self.additions[places])


def shortlist(
    scenario_scores: pl.DataFrame,
    scenario_count: int,
    *,
    metric: str = "average_score",
    clusters: pl.DataFrame = ALONE,
    seed: int = 0,
) -> pl.DataFrame:
    """Scenarios that stand for all, with the error of predicting from them: SHORTLISTS."""
    name = resolve_metric(metric)
    found = []
    for sweep in sweeps(scenario_scores, [name], clusters):
        picked = pick(_scenarios(sweep), scenario_count, seed=seed)
        complete = _complete(sweep)
        known = _defined(examples(sweep.in_common(complete), picked, name))
        count = len(known.full)
        errors, _ = cross_validated(known)
        gaps = known.full - known.listed
        found.append(
            picked.with_columns(
                metric=pl.lit(name),
                prediction_error=_root_mean_square(errors),
                mean_error=_root_mean_square(gaps),
                method=pl.lit(_method(count)),
                model_count=count,
                sweep_scenario_count=_scenarios(sweep).height,
                profile=pl.lit(sweep.profile),
            )
        )
    if not found:
        raise SelectionError("no model has scores, so there are no scenarios to choose from")
    return frame(SHORTLISTS, *found)


def predict(
    scenario_scores: pl.DataFrame,
    model: str | Contender,
    scenarios: pl.DataFrame,
    *,
    metric: str = "average_score",
    level: float = 0.95,
) -> pl.DataFrame:
    """The score over all scenarios of a model that has those of a list: the table PREDICTIONS.

    `scenarios` has the columns language and scenario. All scenarios are those that some other
    model has; other models that have all of them are the examples.
    """
    check_level(level)
    name = resolve_metric(metric)
    listed = scenarios.select(pl.col("language", "scenario").cast(pl.String)).unique()
    if listed.is_empty():
        raise SelectionError("the list has no scenarios")
    there = scenario_scores.select("model", "experiment").unique().sort(pl.all()).rows()
    wanted = find_contender(model, [(one, experiment) for one, experiment in there])
    is_wanted = (pl.col("model") == wanted[0]) & (pl.col("experiment") == wanted[1])
    found = []
    for (profile,), rows in sorted(scenario_scores.partition_by("profile", as_dict=True).items()):
        own, others = rows.filter(is_wanted), rows.filter(~is_wanted)
        every = others.select("language", "scenario").unique()
        _require_list(wanted, listed, own, every)
        count, known = _others(others, listed, name)
        if count < FEWEST_FOR_INTERVAL:
            raise SelectionError(
                f"a prediction needs {FEWEST_FOR_INTERVAL} other models that have all "
                f"{every.height:,} scenarios of the sweep, and there are {count}"
            )
        (alone,) = sweeps(own.join(every, on=["language", "scenario"], how="semi"), [name])
        target = examples(alone, listed, name)
        if np.isnan(target.listed[0]):
            raise SelectionError(
                f"{LABELS[name]} of {'/'.join(wanted)} is undefined over the list: none of "
                "its scenarios has such labels"
            )
        predicted, errors = _predicted(known, target)
        reach = reach_of(errors, level=level)
        is_complete = len(_scenarios(alone)) == every.height
        found.append(
            pl.DataFrame(
                {
                    "model": wanted[0],
                    "metric": name,
                    "predicted_score": min(max(predicted, 0.0), 1.0),
                    "low": max(predicted - reach, 0.0),
                    "high": min(predicted + reach, 1.0),
                    "list_score": float(target.listed[0]),
                    "full_score": float(target.full[0]) if is_complete else None,
                    "method": _method(count),
                    "prediction_error": _root_mean_square(errors),
                    "mean_error": _root_mean_square(known.full - known.listed),
                    "model_count": count,
                    "scenario_count": listed.height,
                    "sweep_scenario_count": every.height,
                    "experiment": wanted[1],
                    "profile": str(profile),
                },
                schema_overrides={"full_score": pl.Float64},
            )
        )
    return frame(PREDICTIONS, *found)


def pick(scenarios: pl.DataFrame, count: int, *, seed: int = 0) -> pl.DataFrame:
    """Some scenarios at random: of each language its share, and of a cluster one before others.

    `scenarios` has language, scenario and cluster; the order of its rows does not matter.
    """
    if not 1 <= count < scenarios.height:
        raise SelectionError(
            f"a list of {count:,} scenarios: expected 1 or more, and fewer than the "
            f"{scenarios.height:,} that there are; choose with --scenarios"
        )
    rng = np.random.default_rng(seed)
    drawn = scenarios.sort("language", "scenario").with_columns(
        _turn=rng.random(scenarios.height), _draw=rng.random(scenarios.height)
    )
    return (
        drawn.with_columns(pl.col("_turn").rank("ordinal").over("cluster"))
        .sort("_turn", "_draw")
        .with_columns(_place=pl.int_range(pl.len()).over("language"))
        .join(_quotas(scenarios, count), on="language")
        .filter(pl.col("_place") < pl.col("_quota"))
        .select("language", "scenario", "cluster")
        .sort("language", "scenario")
    )


def fit(additions: Array, gaps: Array) -> Fit:
    """Ridge regression of gaps, with the penalty of the least error of models left out.

    With the hat matrix H = 1/n + K (K + penalty)⁻¹ of centred additions, K their inner products,
    the error of a model left out is its residual / (1 - its diagonal element).
    """
    count = len(gaps)
    centre = additions.mean(axis=0)
    centred = additions - centre
    # numpy's driver waits for all threads at each step: 60 ms for 39 models on a busy machine.
    values, vectors = linalg.eigh(centred @ centred.T, driver="evr")
    values = np.clip(values, 0.0, None)
    mean = float(gaps.mean())
    along = vectors.T @ (gaps - mean)
    unit = values.sum() / max(count - 1, 1)
    chosen, least = np.full(count, np.nan), float((gaps**2).sum())
    for penalty in _PENALTIES if unit > 0 else (np.inf,):
        inverse = 1 / (values + penalty * unit) if np.isfinite(penalty) else np.zeros(count)
        shrunk = values * inverse
        residuals = gaps - mean - vectors @ (shrunk * along)
        diagonal = 1 / count + (vectors**2) @ shrunk
        error = float(((residuals / np.maximum(1 - diagonal, 1e-12)) ** 2).sum())
        if error < least:
            chosen, least = inverse, error
    if np.isnan(chosen).any():  # no penalty does better than to expect no gap
        return Fit(0.0, centre, np.zeros(additions.shape[1]))
    return Fit(mean, centre, centred.T @ (vectors @ (chosen * along)))


def cross_validated(known: Examples) -> tuple[Array, Fit | None]:
    """Full score - prediction of each model by a fit without it, and the fit with all.

    With too few models the prediction is the score over the list, and there is no fit.
    """
    gaps = known.full - known.listed
    count = len(gaps)
    if count < FEWEST_FOR_REGRESSION:
        return gaps, None
    errors = np.empty(count)
    fold = np.arange(count) % _MOST_FOLDS
    for number in range(min(count, _MOST_FOLDS)):
        out = fold == number
        without = fit(known.additions[~out], gaps[~out])
        errors[out] = gaps[out] - without.predict(known.additions[out])
    return errors, fit(known.additions, gaps)


def reach_of(errors: Array, *, level: float = 0.95) -> float:
    """How far the interval of a prediction reaches, by the errors of models left out."""
    count = len(errors)
    factor = float(student_quantile(0.5 + level / 2, np.array([count - 1.0]))[0])
    student = factor * _root_mean_square(errors)
    place = int(np.ceil(level * (count + 1)))  # its quantile needs 19 models at 95 %
    return max(student, float(np.sort(np.abs(errors))[place - 1])) if place <= count else student


def _predicted(known: Examples, target: Examples) -> tuple[float, Array]:
    errors, fitted = cross_validated(known)
    gap = 0.0 if fitted is None else float(fitted.predict(target.additions)[0])
    return float(target.listed[0]) + gap, errors


def _others(others: pl.DataFrame, listed: pl.DataFrame, name: str) -> tuple[int, Examples]:
    """How many other models have all scenarios and a defined metric, and these models."""
    (sweep,) = sweeps(others, [name])
    complete = _complete(sweep)
    known = _defined(examples(sweep.in_common(complete), listed, name))
    return len(known.full), known


def _method(count: int) -> str:
    return REGRESSION if count >= FEWEST_FOR_REGRESSION else PLAIN_MEAN


def _complete(sweep: Sweep) -> Indices:
    """The contenders that have all scenarios of the sweep."""
    present = [block.present.all(axis=1) for block in sweep.blocks]
    return np.flatnonzero(np.logical_and.reduce(present))


def _scenarios(sweep: Sweep) -> pl.DataFrame:
    """Language, scenario and cluster of every scenario of a sweep."""
    names = np.array(sweep.clusters, dtype=object)
    return pl.concat(
        pl.DataFrame(
            {
                "language": [block.language] * len(block.scenarios),
                "scenario": block.scenarios,
                "cluster": names[block.cluster_of].tolist(),
            }
        )
        for block in sweep.blocks
    )


def examples(sweep: Sweep, listed: pl.DataFrame, name: str) -> Examples:
    """All contenders of a sweep, over all its scenarios and over those of a list."""
    if not sweep.contenders:
        return Examples(np.empty(0), np.empty(0), np.empty((0, listed.height)))
    wanted = set(listed.select("language", "scenario").iter_rows())
    some = [part for block in sweep.blocks if (part := _listed(block, wanted)).scenarios]
    return Examples(
        estimate(name, sweep.blocks).value, estimate(name, some).value, _additions(some, name)
    )


def _additions(blocks: Sequence[Block], name: str) -> Array:
    """What each scenario adds to the mean over languages, contender by scenario."""
    found = [estimate_clusters(name, block.terms).additions / len(blocks) for block in blocks]
    return np.concatenate(found, axis=1)


def _defined(known: Examples) -> Examples:
    return known.take(np.flatnonzero(~np.isnan(known.full) & ~np.isnan(known.listed)))


def _listed(block: Block, wanted: set[tuple[str, str]]) -> Block:
    """The scenarios of a language that a list names."""
    columns = np.array([(block.language, name) in wanted for name in block.scenarios])
    return block.only(slice(None), columns)


def _quotas(scenarios: pl.DataFrame, count: int) -> pl.DataFrame:
    """How many scenarios of each language a list has: its share, by largest remainders."""
    share = pl.col("len") * count / scenarios.height
    return (
        scenarios.group_by("language")
        .len()
        .with_columns(_quota=share.floor().cast(pl.Int64), _rest=share - share.floor())
        .sort(pl.col("_rest").round(9), "language", descending=[True, False])
        .with_row_index("_order")
        .select(
            "language",
            _quota=pl.col("_quota")
            + (pl.col("_order") < count - pl.col("_quota").sum()).cast(pl.Int64),
        )
    )


def _require_list(
    model: Contender, listed: pl.DataFrame, own: pl.DataFrame, every: pl.DataFrame
) -> None:
    """Refuse a list with scenarios that the sweep or the model does not have."""
    for who, has in (("no other model has", every), (f"{'/'.join(model)} lacks", own)):
        gone = listed.join(has, on=["language", "scenario"], how="anti").sort(pl.all())
        if gone.height:
            raise SelectionError(
                f"{who} {gone.height:,} of the {listed.height:,} scenarios of the list, such as "
                f"{'/'.join(gone.row(0))}"
            )


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt((values**2).mean())) if len(values) else np.nan
