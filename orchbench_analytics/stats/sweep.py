"""A sweep as arrays: the additive terms of contender by scenario, one block for each language.

A scenario and its translations form a cluster: what is hard in one language is hard in the other.
So clusters, and not scenarios, are what statistics treat as independent of each other.

Coverage is how much of the sweep a model has answered. The sweep's scenarios are those that any
model has a file of, language by language, and those that are expected. An expected number is of all
languages together; it does not say how many each has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.metrics import SOURCE_COLUMNS, TERMS, terms_of
from orchbench_analytics.paths import read_csv
from orchbench_analytics.profiles import SPEC, Profile
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.selection import Asked, find_contender
from orchbench_analytics.tables import EXPECTED_SCENARIOS

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Frame = pl.DataFrame | pl.LazyFrame
Contender = tuple[str, str]  # model, experiment
Indices = npt.NDArray[np.int64]
_KEY = ("profile", "model", "experiment", "language", "scenario")
# Rules of a profile about figures that are formed from terms; `ruled` puts them beside the rows.
_RULES = ("rounding", "undefined")
# Terms that grow with the number of runs; the others are means over a file's runs.
SUMMED = frozenset(name for name in SOURCE_COLUMNS if name.endswith("_count"))
# No scenario has a partner: the columns of the view `scenario_clusters`, without rows.
ALONE = pl.DataFrame(schema=dict.fromkeys(("language", "scenario", "cluster"), pl.String))
NOTHING_EXPECTED = pl.DataFrame(schema=polars_schema(EXPECTED_SCENARIOS))


@dataclass(frozen=True, slots=True)
class Block:
    """One language: for each term an array of contender by scenario, 0 where a file is missing.

    `cluster_of` is the cluster of each scenario, of the `cluster_count` that the sweep has. `runs`
    is how many runs a file has, 1 where it is missing or not known. `rounding` and `undefined` are
    what the profile chooses.
    """

    language: str
    scenarios: tuple[str, ...]
    cluster_of: Indices
    cluster_count: int
    present: Flags
    runs: Array
    terms: dict[str, Array]
    rounding: str = SPEC.rounding
    undefined: str = SPEC.undefined

    def only(self, places: Indices | slice, columns: Flags) -> Block:
        """Some contenders, over some scenarios."""
        return replace(
            self,
            scenarios=tuple(np.array(self.scenarios, dtype=object)[columns].tolist()),
            cluster_of=self.cluster_of[columns],
            present=self.present[places][:, columns],
            runs=self.runs[places][:, columns],
            terms={term: values[places][:, columns] for term, values in self.terms.items()},
        )


@dataclass(frozen=True, slots=True)
class Sweep:
    """The contenders of one profile, their scenarios by language, and the names of clusters."""

    profile: str
    contenders: tuple[Contender, ...]
    clusters: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def keys(self) -> dict[str, list[str]]:
        """The columns that name the contenders, in their order."""
        return {
            "profile": [self.profile] * len(self.contenders),
            "model": [model for model, _ in self.contenders],
            "experiment": [experiment for _, experiment in self.contenders],
        }

    def in_common(self, places: Indices) -> Sweep:
        """Some contenders, over the scenarios that all of them have."""
        everyone = np.arange(len(self.contenders))
        if np.array_equal(places, everyone) and all(block.present.all() for block in self.blocks):
            return self
        shared = (_in_common(block, places) for block in self.blocks if len(places))
        return Sweep(
            self.profile,
            tuple(self.contenders[place] for place in places),
            self.clusters,
            tuple(block for block in shared if block.scenarios),
        )

    def find(self, name: str | Contender) -> int:
        """The place of a contender given as (model, experiment), `model` or `model/experiment`."""
        return [*self.contenders].index(find_contender(name, self.contenders))


def sweeps(
    scenario_scores: pl.DataFrame, metrics: Iterable[str], clusters: pl.DataFrame = ALONE
) -> list[Sweep]:
    """The terms that the metrics need, by profile; independent of the order of rows.

    `clusters` has the columns of `scenario_clusters`; a scenario that it does not name is alone.
    """
    needed = terms_of(metrics)
    there = (*scenario_scores.columns, "run_count")
    missing = [column for column in sweep_columns(metrics) if column not in there]
    if missing:
        raise SelectionError(
            f"no column {', '.join(missing)}: these are not the rows of the table scenario_scores"
        )
    profiles = scenario_scores["profile"].unique().sort()
    if len(profiles) == 1:  # no copy of a large sweep
        return [_sweep(profiles[0], scenario_scores, needed, clusters)]
    return [
        _sweep(profile, scenario_scores.filter(profile=profile), needed, clusters)
        for profile in profiles
    ]


def sweep_columns(metrics: Iterable[str]) -> list[str]:
    """The columns of `scenario_scores` that a sweep is made from, for these metrics."""
    sources = {name for term in terms_of(metrics) for name in TERMS[term].meta.root_names()}
    return [*_KEY, "run_count", *(name for name in SOURCE_COLUMNS if name in sources)]


def read_terms(asked: Asked, metrics: Iterable[str]) -> pl.DataFrame:
    """The rows of `scenario_scores` that a question is about, with the rules that they follow.

    They have the columns that the metrics need.
    """
    columns = sweep_columns(metrics)
    rows = asked.rows("scenario_scores").select(columns).collect()
    asked.require_scores(rows)
    return ruled(rows, [asked.profile])


def ruled(rows: pl.DataFrame, profiles: Iterable[Profile]) -> pl.DataFrame:
    """Rows of `scenario_scores`, with the rules that figures formed from them follow."""
    known = [*profiles]
    chosen = {rule: {p.name: getattr(p, rule) for p in known} for rule in _RULES}
    return rows.with_columns(
        pl.col("profile")
        .replace_strict(of, return_dtype=pl.Enum(sorted({*of.values()})))
        .alias(rule)
        for rule, of in chosen.items()
    )


def read_clusters(path: Path) -> pl.DataFrame:
    """The clusters that a CSV file names, with the columns language, scenario and cluster."""
    rows = read_csv(path, tuple(ALONE.columns), expected="language, scenario and cluster")
    named = rows.drop_nulls().unique()
    if named.select("language", "scenario").is_duplicated().any():
        raise PathError(f"{path} puts some scenario into two clusters; expected one row for each")
    return named


def join_clusters(found: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """Clusters that were found, in those that were given: translations stay together."""
    key = ["language", "scenario"]
    both = found.join(given.rename({"cluster": "given"}), on=key, how="left")
    wider = both.group_by("cluster").agg(pl.col("given").min())
    joined = found.join(wider, on="cluster").with_columns(cluster=pl.coalesce("given", "cluster"))
    others = given.join(found, on=key, how="anti")
    return pl.concat([joined.select(found.columns), others.select(found.columns)])


def _sweep(
    profile: str, rows: pl.DataFrame, needed: tuple[str, ...], clusters: pl.DataFrame
) -> Sweep:
    contenders = rows.select("model", "experiment").unique().sort("model", "experiment")
    own_name = pl.concat_str("language", "scenario", separator="/")
    scenarios = (
        rows.select("language", "scenario")
        .unique()
        .join(clusters.select(ALONE.columns), on=["language", "scenario"], how="left")
        .with_columns(pl.col("cluster").fill_null(own_name))
        .sort("language", "scenario")
    )
    names = scenarios["cluster"].unique().sort()
    cluster_of = scenarios["cluster"].rank("dense").to_numpy().astype(np.int64) - 1
    column = _place(rows, scenarios.select("language", "scenario"))
    at = _place(rows, contenders) * scenarios.height + column
    runs = pl.col("run_count").clip(1) if "run_count" in rows.columns else pl.lit(1)
    shape = (contenders.height, scenarios.height)
    whole = _spread(rows, pl.lit(1), at, np.zeros(shape))
    if np.count_nonzero(whole) < rows.height:
        raise SelectionError(f"there is more than one row for some {', '.join(_KEY)}")
    run_counts = _spread(rows, runs, at, np.ones(shape))
    terms = {term: _spread(rows, TERMS[term], at, np.zeros(shape)) for term in needed}
    rules = {rule: rows[rule][0] for rule in _RULES if rule in rows.columns}
    sizes = scenarios.group_by("language", maintain_order=True).len()
    ends = sizes["len"].cum_sum()
    blocks = (
        Block(
            language,
            tuple(scenarios["scenario"][own].to_list()),
            cluster_of[own],
            len(names),
            whole[:, own] > 0,
            run_counts[:, own],
            {term: values[:, own] for term, values in terms.items()},
            **rules,
        )
        for language, size, end in zip(sizes["language"], sizes["len"], ends, strict=True)
        for own in [slice(end - size, end)]  # scenarios are in order of their languages
    )
    return Sweep(profile, tuple(contenders.iter_rows()), tuple(names), tuple(blocks))


def _place(rows: pl.DataFrame, known: pl.DataFrame) -> Indices:
    """Where each row stands among the rows of a frame that has some of its columns."""
    numbered = known.with_row_index("_place")
    placed = rows.select(known.columns).join(
        numbered, on=known.columns, how="left", maintain_order="left"
    )
    return placed["_place"].to_numpy()


def _spread(rows: pl.DataFrame, value: pl.Expr, at: Indices, into: Array) -> Array:
    """Put the value of each row into its place of an array, counted row by row."""
    values = rows.select(value.cast(pl.Float64).alias("value"))["value"]
    into.reshape(-1)[at] = values.to_numpy() if len(values) > 1 else values.item()
    return into


def _in_common(block: Block, places: Indices) -> Block:
    return block.only(places, np.logical_and.reduce(block.present[places], axis=0))


def common_pair(sweep: Sweep, baseline: str | Contender, candidate: str | Contender) -> Sweep:
    """The two contenders alone, over the scenarios that both have."""
    places = np.array([sweep.find(name) for name in (baseline, candidate)])
    if places[0] == places[1]:
        both = "/".join(sweep.contenders[places[0]])
        raise SelectionError(f"{both} would be compared with itself; choose two")
    shared = sweep.in_common(places)
    if not shared.blocks:
        names = " and ".join("/".join(sweep.contenders[place]) for place in places)
        raise SelectionError(f"{names} have no scenario in common")
    return shared


def scored_counts(blocks: Sequence[Block]) -> npt.NDArray[np.int64]:
    """How many of the sweep's scenarios each contender has."""
    count: npt.NDArray[np.int64] = np.hstack([block.present for block in blocks]).sum(axis=1)
    return count


def sweep_size(blocks: Sequence[Block], expected: pl.DataFrame) -> int:
    """How many scenarios the sweep has: `expected` has the columns of `expected_scenarios`."""
    there = {(block.language, scenario) for block in blocks for scenario in block.scenarios}
    return max(len(there.union(expected.drop_nulls().iter_rows())), expected.height)


def expected_of(sweep: Sweep, language: str, expected: pl.DataFrame) -> pl.DataFrame:
    """What was expected of one language; a mere number is, if it is the only language."""
    is_only = len(sweep.blocks) == 1 and expected["language"].null_count() == expected.height
    return expected if is_only else expected.filter(pl.col("language") == language)


def gap_reason(sweep: Sweep, place: int, expected: pl.DataFrame) -> str:
    """What a contender lacks, in words."""
    total = sweep_size(sweep.blocks, expected)
    missing = total - int(scored_counts(sweep.blocks)[place])
    if not missing:
        return "no score"
    there = {block.language for block in sweep.blocks if block.present[place].any()}
    asked = {block.language for block in sweep.blocks}.union(expected["language"].drop_nulls())
    gone = sorted(asked - there)
    reason = f"{missing} of {total} scenarios missing"
    return f"{reason}, all of {', '.join(gone)}" if gone else reason
