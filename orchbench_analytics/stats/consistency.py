"""Consistency over runs: how often a model decides differently when asked again, and the effect.

pass@k is the estimate of Chen et al. (2021, arXiv:2107.03374), pass^k that of Yao et al. (2024,
arXiv:2406.12045). Noise is how far a score would move if the same runs were made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
from scipy import special

from orchbench_analytics.metrics import HEADLINE, SOURCE_COLUMNS, TERMS, resolve_metrics, terms_of
from orchbench_analytics.schema import frame, polars_schema
from orchbench_analytics.stats.estimate import (
    bounded_interval,
    chunks,
    estimate_clusters,
    evaluate,
)
from orchbench_analytics.stats.sweep import SUMMED, Array, Block, Frame, Sweep, sweeps
from orchbench_analytics.tables import RUN_KEY, SCORED_PLANS
from orchbench_analytics.tables.statistics import FLIPS, MODEL_SPREAD, PASS_RATES, RUN_NOISE

_MODEL = ("profile", "model", "experiment", "language")
_FILE = (*_MODEL, "scenario")

_DECISION_RIGHT = ((pl.col("true_positive_reject_count") > 0) & ~pl.col("is_type_mismatch")) | (
    pl.col("true_negative_reject_count") > 0
)
_CALL_RIGHT = pl.all_horizontal(pl.col(f"{part}_f1") == 1 for part in ("name", "key", "value"))
CRITERIA = {
    "decision": _DECISION_RIGHT,
    "answer": _DECISION_RIGHT & ((pl.col("actual") != "call") | _CALL_RIGHT.fill_null(False)),
}
_ICC = ("intraclass_correlation", "intraclass_low", "intraclass_high")
_DRAWS = 1000
_NOTHING = 1e-18
RUN = ("profile", *(column.name for column in RUN_KEY))
_COUNTS = [name for name in SOURCE_COLUMNS if name.endswith(("_reject_count", "_call_count"))]
_CALL_SCORES = ("name_f1", "key_f1", "value_f1")
_PLAN_SCORES = ("plan_similarity", "structure_similarity", "component_similarity")
_NO_PLANS = pl.DataFrame(schema=polars_schema(SCORED_PLANS))
_BETWEEN = "\x1f"  # sorts before all that is printed


class Answers(NamedTuple):
    """The scored steps and plans of some models, by the numbers of their files and results.

    `files` has the names that the number of a file stands for, in their order. Files that differ in
    the scenario alone are of one result.
    """

    files: pl.DataFrame
    steps: pl.DataFrame
    plans: pl.DataFrame


class Tallies(NamedTuple):
    """One row per step: its file, its runs, how many are right, and how many pairs decide alike."""

    files: pl.DataFrame
    steps: pl.DataFrame


def read_answers(scored_steps: Frame, scored_plans: Frame) -> Answers:
    """What consistency is made from, read once."""
    asked = {name for right in CRITERIA.values() for name in right.meta.root_names()}
    counted = sorted(asked.union(_COUNTS, _CALL_SCORES) - {"actual"})
    files, (steps, plans) = _by_file(
        _scored(scored_steps, ["step_id", "answer_position", "actual", "predicted", *counted]),
        _scored(scored_plans, _PLAN_SCORES),
    )
    return Answers(files, steps, plans)


def _scored(table: Frame, columns: Iterable[str]) -> pl.DataFrame:
    scored = table.lazy().filter(pl.col("is_scored")).select(*_FILE, "run", *columns)
    return scored.collect()


def _by_file(*tables: pl.DataFrame) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Files by number, and tables with numbers in place of texts, which group much faster.

    A file and its result have numbers, other texts are categories. Rows of one file stand together,
    so names are compared once for each stretch of them.
    """
    of_file = cs.by_name(_FILE)
    texts = cs.string() - of_file
    stretches = [rows.select(pl.struct(_FILE).rle_id()).to_series() for rows in tables]
    firsts = [
        rows.select(_FILE).filter(stretch.diff().fill_null(1) > 0)
        for rows, stretch in zip(tables, stretches, strict=True)
    ]
    files = pl.concat(firsts).unique().sort(_FILE).with_row_index("file")
    files = files.with_columns(result=pl.struct(_MODEL).rle_id())
    numbers = [
        first.join(files, on=_FILE, maintain_order="left").select("file", "result")
        for first in firsts
    ]
    numbered = [
        pl.concat(
            [number[stretch], rows.select(texts.cast(pl.Categorical), ~(texts | of_file))],
            how="horizontal",
        )
        for number, stretch, rows in zip(numbers, stretches, tables, strict=True)
    ]
    return files, numbered


def _named(rows: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """Rows of results with their names in place of their numbers."""
    results = files.select("result", *_MODEL).unique("result")
    return rows.join(results, on="result").drop("result")


def pass_rates(scored_steps: Frame) -> pl.DataFrame:
    """pass^k and pass@k for k from 1 to the usual number of runs: the table PASS_RATES.

    For a step right in c of n runs, pass^k is C(c, k) / C(n, k) and pass@k is
    1 - C(n - c, k) / C(n, k): both unbiased. Every k is about the same steps, so that rates can be
    compared: k ends at the largest number of runs that at least half of the model's steps have,
    and steps with fewer are left out.
    """
    return pass_rates_of(tally(read_answers(scored_steps, _NO_PLANS)))


def pass_rates_of(tallies: Tallies) -> pl.DataFrame:
    """The same from tallies."""
    steps = tallies.steps.with_columns(
        most=pl.col("n").quantile(0.5, "higher").over("result").cast(pl.UInt32)
    )
    left_out = steps.group_by("result").agg(
        (pl.col("n") < pl.col("most")).sum().alias("left_out_step_count")
    )
    whole = steps.filter(pl.col("n") >= pl.col("most"))
    rates = [
        _pass_rates(whole, criterion).with_columns(criterion=pl.lit(criterion))
        for criterion in CRITERIA
    ]
    named = _named(pl.concat(rates).join(left_out, on="result"), tallies.files)
    return frame(PASS_RATES, named.sort(*_MODEL, "criterion", "k"))


def _pass_rates(whole: pl.DataFrame, criterion: str) -> pl.DataFrame:
    """The rates of each result and k, of steps that have enough runs."""
    right = pl.col(criterion).alias("c")
    alike = whole.group_by("result", "file", "most", "n", right).len("step_count")
    by_scenario = (
        alike.join(_chances(alike), on=["n", "c"])
        .filter(pl.col("k") <= pl.col("most"))
        .group_by("result", "file", "k")
        .agg(
            pl.col("step_count").sum(),
            (pl.col("all_right", "any_right") * pl.col("step_count")).sum(),
        )
        .sort("file", "k")
    )
    by = ["result", "k"]
    rates = clustered_rates(
        by_scenario,
        by,
        {"pass_all": ("all_right", "step_count"), "pass_any": ("any_right", "step_count")},
    )
    return rates.join(by_scenario.group_by(by).agg(pl.col("step_count").sum()), on=by)


def flips(scored_steps: Frame) -> pl.DataFrame:
    """How often two runs of a step decide differently: the table FLIPS.

    A decision is what `predicted` says: call, a rejection type, or failed.
    """
    return flips_of(tally(read_answers(scored_steps, _NO_PLANS)))


def flips_of(tallies: Tallies) -> pl.DataFrame:
    """The same from tallies."""
    by_scenario = (
        tallies.steps.lazy()
        .filter(pl.col("n") > 1)
        .with_columns(pairs=pl.col("n") * (pl.col("n") - 1) // 2)
        .group_by("result", "file")
        .agg(
            pl.len().alias("step_count"),
            (pl.col("equal_pairs") < pl.col("pairs")).sum().alias("unstable_step_count"),
            pl.col("pairs").sum().alias("run_pair_count"),
            (pl.col("pairs") - pl.col("equal_pairs")).sum().alias("flipped_pair_count"),
        )
        .sort("file")
        .collect()
    )
    rates = clustered_rates(
        by_scenario,
        ["result"],
        {
            "unstable_step": ("unstable_step_count", "step_count"),
            "flip": ("flipped_pair_count", "run_pair_count"),
        },
    )
    counted = by_scenario.group_by("result").agg(pl.col("^.*_count$").sum())
    return frame(FLIPS, _named(rates.join(counted, on="result"), tallies.files).sort(_MODEL))


def tally(answers: Answers) -> Tallies:
    """How the runs of each step went. The first answer of a run counts."""
    run = ["file", "step_id", "run"]
    rows = answers.steps
    # Sorting takes far longer than finding that there is no need to.
    if rows.select(pl.struct(run).hash().n_unique()).item() < rows.height:
        rows = rows.sort("answer_position").unique(subset=run, keep="first")
    steps = (
        rows.lazy()
        .group_by("result", "file", "step_id", "predicted")
        .agg(
            pl.len().cast(pl.Int64).alias("same"),
            *(right.sum().alias(name) for name, right in CRITERIA.items()),
        )
        .group_by("result", "file", "step_id")
        .agg(
            pl.col("same").sum().alias("n"),
            (pl.col("same") * (pl.col("same") - 1) // 2).sum().alias("equal_pairs"),
            pl.col(*CRITERIA).sum(),
        )
        .drop("step_id")
        .collect()
    )
    return Tallies(answers.files, steps)


def _chances(alike: pl.DataFrame) -> pl.DataFrame:
    """pass^k and pass@k of a step that was right in c of n runs, for each n and c there is."""
    rows = [
        (n, c, k, comb(c, k) / comb(n, k), 1 - comb(n - c, k) / comb(n, k))
        for n, c in alike.select("n", "c").unique().iter_rows()
        for k in range(1, n + 1)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "n": alike.schema["n"],
        "c": alike.schema["c"],
        "k": pl.Int64,
        "all_right": pl.Float64,
        "any_right": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def clustered_rates(
    by_scenario: pl.DataFrame,
    by: Sequence[str],
    rates: Mapping[str, tuple[str, str]],
    *,
    level: float = 0.95,
) -> pl.DataFrame:
    """For each group the `<name>_rate` (sum of one column / sum of another), `_low` and `_high`.

    The error is the cluster-robust one of a ratio, sqrt(n / (n - 1) x sum of squares of
    (above - rate x below)) / sum of below, over the n scenarios that have any below.
    """
    frames = [
        _rate(by_scenario.filter(pl.col(below) > 0), by, name, above, below, level)
        for name, (above, below) in rates.items()
    ]
    joined = by_scenario.select(by).unique()
    for found in frames:
        joined = joined.join(found, on=by, how="left", nulls_equal=True)
    return joined.sort(by)


def _rate(
    rows: pl.DataFrame, by: Sequence[str], name: str, above: str, below: str, level: float
) -> pl.DataFrame:
    rate = (pl.col(above).sum() / pl.col(below).sum()).over(by)
    summed = (
        rows.with_columns(_rate=rate)
        .group_by(by)
        .agg(
            pl.col("_rate").first(),
            pl.len().cast(pl.Float64).alias("_count"),
            (pl.col(above) - pl.col("_rate") * pl.col(below)).pow(2).sum().sqrt().alias("_spread"),
            pl.col(below).sum().cast(pl.Float64).alias("_below"),
        )
    )
    value, count, spread, total = (
        summed[column].to_numpy() for column in ("_rate", "_count", "_spread", "_below")
    )
    factor = np.divide(count, count - 1, out=np.full_like(count, np.nan), where=count > 1)
    interval = bounded_interval(value, np.sqrt(factor) * spread / total, count, level=level)
    return summed.select(
        *by,
        pl.col("_rate").alias(f"{name}_rate"),
        pl.Series(f"{name}_low", interval.low).fill_nan(None),
        pl.Series(f"{name}_high", interval.high).fill_nan(None),
    )


def run_noise(
    scored_steps: Frame, scored_plans: Frame, *, metrics: Iterable[str] = HEADLINE
) -> pl.DataFrame:
    """Run-to-run standard deviation and intraclass correlation per metric: RUN_NOISE.

    The noise is taken from the variance of runs within scenarios, which has many more degrees of
    freedom than a handful of runs has. ICC(1) = (MSB - MSW) / (MSB + (k - 1) MSW), with the mean
    squares between and within scenarios of the scenario's score in each run, and k the mean number
    of runs (corrected if unequal; Shrout and Fleiss 1979, doi:10.1037/0033-2909.86.2.420). Its
    interval comes from random weights of the scenarios (Rubin 1981, doi:10.1214/aos/1176345338)
    and of a made-up one that is as extreme as any score seen, since scores near 1 are far from
    normal and few sweeps show their rare failures.
    """
    return run_noise_of(run_counts(scored_steps, scored_plans), metrics=metrics)


def run_noise_of(counts: pl.DataFrame, *, metrics: Iterable[str] = HEADLINE) -> pl.DataFrame:
    """The same from `run_counts`."""
    names = resolve_metrics(metrics)
    files, (runs,) = _by_file(counts)
    noise = (
        _means(runs, names)
        .join(_intraclass(files, runs, names), on=["result", "metric"], how="left")
        .pipe(_named, files)
        .join(_noise(counts, names), on=[*_MODEL, "metric"], how="left")
    )
    return frame(RUN_NOISE, noise.sort(*_MODEL, "metric"))


def _means(runs: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The mean score of runs, each weighing as many scenarios as it has, and how many there are.

    A run that only one scenario has, being named otherwise there, then weighs next to nothing.
    """
    run, size = ["result", "run"], pl.col("size")
    sizes = runs.group_by(run).agg(pl.len().alias("size"))
    most = runs.group_by("result", "file").len("runs").group_by("result").agg(pl.max("runs"))
    scores = with_metrics(runs, names, by=run).drop_nulls("value").join(sizes, on=run)
    return (
        scores.group_by("result", "metric")
        .agg(((pl.col("value") * size).sum() / size.sum()).alias("mean_value"))
        .join(most.rename({"runs": "run_count"}), on="result")
    )


def model_spread(noise: pl.DataFrame, *, level: float = 0.95) -> pl.DataFrame:
    """How much of the spread between models is noise between runs: MODEL_SPREAD, of `run_noise`.

    The interval is that of the models' variance (chi-square), the noise being known much better.
    """
    repeated = noise.drop_nulls("noise_standard_error")
    share = pl.col("noise_variance") / pl.col("model_variance")
    spread = (
        repeated.group_by("profile", "language", "metric")
        .agg(
            pl.len().alias("model_count"),
            pl.col("mean_value").var().alias("model_variance"),
            (pl.col("noise_standard_error") ** 2).mean().alias("noise_variance"),
        )
        .with_columns(share=pl.when(pl.col("model_variance") > 0).then(share))
        .sort("profile", "language", "metric")
    )
    degrees = np.maximum(spread["model_count"].to_numpy() - 1.0, 1.0)
    ends = {
        f"noise_share_{end}": pl.Series(special.chdtri(degrees, tail) / degrees) * spread["share"]
        for end, tail in (("low", (1 + level) / 2), ("high", (1 - level) / 2))
    }
    shares = {"noise_share": spread["share"], **ends}
    return frame(MODEL_SPREAD, spread.with_columns(**{n: s.clip(0, 1) for n, s in shares.items()}))


def _noise(counts: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The noise of each metric, from what each run of a scenario moves it by."""
    found = []
    for sweep in sweeps_of_runs(counts, names):
        for block in sweep.blocks:
            for name in names:
                error, run_count = _noise_error(block, name)
                found.append(
                    pl.DataFrame(
                        {
                            **sweep.keys,
                            "language": block.language,
                            "metric": name,
                            "noise_standard_error": error,
                            "run_standard_deviation": error * np.sqrt(run_count),
                        }
                    )
                )
    schema = dict.fromkeys((*_MODEL, "metric"), pl.String)
    numbers = {"noise_standard_error": pl.Float64, "run_standard_deviation": pl.Float64}
    return pl.concat(found) if found else pl.DataFrame(schema={**schema, **numbers})


def _noise_error(block: Block, name: str) -> tuple[Array, Array]:
    """The noise of each contender's metric over all runs, and its mean number of runs."""
    member = scenario_of_cell(block)
    runs_of_file = (block.present @ member) @ member.T
    # A file's mean scores are means over its runs: each run has its share of the file.
    parts = {
        part: values if part in SUMMED else values / np.maximum(runs_of_file, 1)
        for part, values in block.terms.items()
    }
    found = estimate_clusters(name, parts)
    is_run, moved = found.supported, np.nan_to_num(found.moves)
    runs = is_run.astype(np.float64) @ member
    mean = np.divide(moved @ member, runs, out=np.zeros_like(runs), where=runs > 0)
    within = (np.where(is_run, moved - mean @ member.T, 0.0) ** 2) @ member
    repeated = runs > 1
    factor = np.divide(runs, runs - 1, out=np.zeros_like(runs), where=repeated)
    known, there = repeated.sum(axis=1), (runs > 0).sum(axis=1)
    # Scenarios with one run are taken to be as noisy as the others.
    variance = (factor * within).sum(axis=1) * there / np.maximum(known, 1)
    error = np.where(known > 0, np.sqrt(variance), np.nan)
    return error, runs.sum(axis=1) / np.maximum(there, 1)


def _intraclass(
    files: pl.DataFrame, runs: pl.DataFrame, names: tuple[str, ...], *, level: float = 0.95
) -> pl.DataFrame:
    """ICC(1) of each result's metric with its interval, from the scores of scenario and run."""
    value = pl.col("value")
    cells = (
        _evaluated(runs.select("file", *_terms(names)), names)
        .drop_nulls("value")
        .group_by("file", "metric")
        .agg(
            pl.len().cast(pl.Float64).alias("k"),
            value.mean().alias("mean"),
            (value - value.mean()).pow(2).sum().alias("within"),
            value.min().alias("least"),
            value.max().alias("most"),
        )
        .join(files, on="file")
    )
    found = [
        _intraclass_rows(part, level=level)
        for _, part in sorted(cells.partition_by("profile", "language", as_dict=True).items())
    ]
    schema = {"result": pl.UInt32, "metric": pl.String} | dict.fromkeys(_ICC, pl.Float64)
    return pl.concat(found) if found else pl.DataFrame(schema=schema)


class _Cells(NamedTuple):
    """Row by scenario: the number of runs, their mean, and their squares about it."""

    runs: Array
    mean: Array
    within: Array

    def take(self, rows: slice) -> _Cells:
        return _Cells(self.runs[rows], self.mean[rows], self.within[rows])

    def add(self, runs: Array, mean: Array, within: Array) -> _Cells:
        """With one more scenario in each row."""
        columns = zip(self, (runs, mean, within), strict=True)
        return _Cells(*(np.column_stack([array, column]) for array, column in columns))


def _intraclass_rows(cells: pl.DataFrame, *, level: float) -> pl.DataFrame:
    """The correlations of one language, with intervals from random weights of its scenarios."""
    rows = cells.select("result", "metric").unique().sort("result", "metric")
    scenarios = cells.select("scenario").unique().sort("scenario")
    placed = cells.join(rows.with_row_index("_row"), on=rows.columns).join(
        scenarios.with_row_index("_column"), on="scenario"
    )
    place = placed["_row"].to_numpy(), placed["_column"].to_numpy()
    arrays = []
    for column in ("k", "mean", "within"):
        array = np.zeros((rows.height, scenarios.height))
        array[place] = placed[column].to_numpy()
        arrays.append(array)
    seen = _Cells(*arrays)
    ends = placed.group_by("_row").agg(pl.min("least"), pl.max("most")).sort("_row")
    steady, unsteady = _made_up(seen, ends["least"].to_numpy(), ends["most"].to_numpy())
    value = _icc(seen, np.ones((scenarios.height, 1)))[:, 0]
    weights = np.random.default_rng(0).exponential(size=(scenarios.height + 1, _DRAWS))
    low, high = value.copy(), value.copy()
    for part in chunks(rows.height, _DRAWS):
        drawn = _icc(unsteady.take(part), weights), _icc(steady.take(part), weights)
        low[part] = np.fmin(value[part], _quantile(drawn[0], (1 - level) / 2))
        high[part] = np.fmax(value[part], _quantile(drawn[1], (1 + level) / 2))
    # Runs that never differ do not show how far they might.
    is_known = seen.within.sum(axis=1) > _NOTHING
    low, high = (np.where(is_known, end, np.nan) for end in (low, high))
    return rows.with_columns(
        pl.Series(name, array, nan_to_null=True)
        for name, array in zip(_ICC, (value, low, high), strict=True)
    ).drop_nulls(_ICC[0])


def _made_up(seen: _Cells, least: Array, most: Array) -> tuple[_Cells, _Cells]:
    """The scenarios with one more: all its runs alike and far off, or half of them against half.

    It is as extreme as any score that was seen, and has the usual number of runs.
    """
    total = seen.runs.sum(axis=1)
    grand = (seen.runs * seen.mean).sum(axis=1) / np.maximum(total, 1.0)
    runs = np.maximum(np.round(total / np.maximum((seen.runs > 0).sum(axis=1), 1)), 2.0)
    far = np.where(most - grand > grand - least, most, least)
    halves = [least + (most - least) * half / runs for half in (runs // 2, runs - runs // 2)]
    is_nearer = np.abs(halves[0] - grand) < np.abs(halves[1] - grand)
    split = (most - least) ** 2 * (runs // 2) * (runs - runs // 2) / runs
    return (
        seen.add(runs, far, np.zeros_like(runs)),
        seen.add(runs, np.where(is_nearer, halves[0], halves[1]), split),
    )


def _quantile(drawn: Array, probability: float) -> Array:
    """A quantile of each row, of what is not NaN; NaN where all is."""
    unknown = np.isnan(drawn)
    whole = ~unknown.any(axis=1)
    partial = ~whole & ~unknown.all(axis=1)
    found = np.full(len(drawn), np.nan)
    found[whole] = np.quantile(drawn[whole], probability, axis=1)
    found[partial] = np.nanquantile(drawn[partial], probability, axis=1)
    return found


def _icc(cells: _Cells, weights: Array) -> Array:
    """(MSB - MSW) / (MSB + (k - 1) MSW) of row by weighting; NaN without spread or repetition.

    The weights of each weighting are scaled to add up to the number of scenarios.
    """
    runs, mean, within = cells
    there = (runs > 0).astype(np.float64)
    groups = there.sum(axis=1, keepdims=True)
    scale = groups / np.maximum(there @ weights, 1e-300)
    total = scale * (runs @ weights)
    grand = scale * ((runs * mean) @ weights) / np.maximum(total, _NOTHING)
    between = scale * ((runs * mean**2) @ weights) - total * grand**2
    with np.errstate(divide="ignore", invalid="ignore"):
        msb = np.maximum(between, 0.0) / (groups - 1)
        msw = scale * (within @ weights) / (total - groups)
        usual = (total - scale * ((runs**2) @ weights) / total) / (groups - 1)
        below = msb + (usual - 1) * msw
        is_known = (groups > 1) & (total - groups > 1e-9) & (below > _NOTHING)
        return np.where(is_known, (msb - msw) / below, np.nan)


def run_counts(scored_steps: Frame, scored_plans: Frame) -> pl.DataFrame:
    """One row per run of a scenario, with the columns of `scenario_scores` that metrics need.

    Runs are averaged as `spec` and `strict` have it, whatever the profile.
    """
    return run_counts_of(read_answers(scored_steps, scored_plans))


def run_counts_of(answers: Answers) -> pl.DataFrame:
    """The same from answers."""
    run, is_call = ["file", "run"], pl.col("actual") == "call"
    steps = (
        answers.steps.with_columns(is_call=is_call)
        .group_by(run)
        .agg(
            pl.col("is_call").any().alias("has_calls"),
            pl.col("is_call").not_().sum().cast(pl.Int64).alias("rejection_label_count"),
            pl.col(_COUNTS).sum(),
            pl.col(_CALL_SCORES).mean(),
        )
        .with_columns(pl.when("has_calls").then(pl.col(_CALL_SCORES).fill_null(0.0)))
        .drop("has_calls")
    )
    plans = answers.plans.group_by(run).agg(pl.col(n).fill_null(0.0).mean() for n in _PLAN_SCORES)
    return (
        steps.join(plans, on=run, how="full", coalesce=True)
        .with_columns(pl.col("rejection_label_count", *_COUNTS).fill_null(0))
        .sort(run)
        .join(answers.files, on="file", maintain_order="left")
        .select(pl.col(RUN).cast(pl.String), pl.exclude(*RUN, "file", "result"))
    )


def sweeps_of_runs(runs: pl.DataFrame, metrics: Sequence[str]) -> list[Sweep]:
    """As `sweeps`, with a column of the arrays for each run of a scenario."""
    cell = pl.concat_str("scenario", "run", separator=_BETWEEN)
    return sweeps(runs.with_columns(scenario=cell), metrics)


def scenario_of_cell(block: Block) -> Array:
    """Cell by scenario: 1 where the cell is a run of the scenario, of counts by run."""
    names = [cell.split(_BETWEEN)[0] for cell in block.scenarios]
    _, place = np.unique(names, return_inverse=True)
    member: Array = np.eye(place.max() + 1)[place]
    return member


def with_metrics(counts: pl.DataFrame, names: Sequence[str], *, by: Sequence[str]) -> pl.DataFrame:
    """The metrics of each group of rows, in long form: the group, `metric` and `value`."""
    summed = counts.lazy().group_by(by).agg(term.sum() for term in _terms(names)).sort(by)
    return _evaluated(summed.collect(), names)


def _terms(names: Sequence[str]) -> list[pl.Expr]:
    return [TERMS[part].cast(pl.Float64).fill_null(0).alias(part) for part in terms_of(names)]


def _evaluated(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The metrics of each row of terms, with the columns that say what it is about."""
    needed = terms_of(names)
    values = evaluate(names, {part: rows[part].to_numpy() for part in needed})
    return pl.concat(
        rows.drop(needed).with_columns(
            pl.lit(name).alias("metric"), pl.Series("value", values[name]).fill_nan(None)
        )
        for name in names
    )
