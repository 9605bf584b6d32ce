"""A sweep as arrays: the additive terms of contender by scenario, one block for each language.

A scenario and its translations form a cluster: what is hard in one language is hard in the other.
So clusters, and not scenarios, are what statistics treat as independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics import selection
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.metrics import SOURCE_COLUMNS, TERMS, terms_of

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Frame = pl.DataFrame | pl.LazyFrame
Contender = tuple[str, str]  # model, experiment
Indices = npt.NDArray[np.int64]
_KEY = ("profile", "model", "experiment", "language", "scenario")
# Terms that grow with the number of runs; the others are means over a file's runs.
SUMMED = frozenset(name for name in SOURCE_COLUMNS if name.endswith("_count"))
# No scenario has a partner: the columns of the view `scenario_clusters`, without rows.
ALONE = pl.DataFrame(schema=dict.fromkeys(("language", "scenario", "cluster"), pl.String))


@dataclass(frozen=True, slots=True)
class Block:
    """One language: for each term an array of contender by scenario, 0 where a file is missing.

    `members` is scenario by cluster of the sweep, 1 where the scenario belongs to the cluster.
    `runs` is how many runs a file has, 1 where it is missing or not known.
    """

    language: str
    scenarios: tuple[str, ...]
    members: Array
    present: Flags
    runs: Array
    terms: dict[str, Array]


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
        shared = (_in_common(block, places) for block in self.blocks if len(places))
        return Sweep(
            self.profile,
            tuple(self.contenders[place] for place in places),
            self.clusters,
            tuple(block for block in shared if block.scenarios),
        )

    def find(self, name: str | Contender) -> int:
        """The place of a contender given as (model, experiment), `model` or `model/experiment`."""
        return [*self.contenders].index(selection.find_contender(name, self.contenders))


def sweeps(
    scenario_scores: pl.DataFrame, metrics: Iterable[str], clusters: pl.DataFrame = ALONE
) -> list[Sweep]:
    """The terms that the metrics need, by profile; independent of the order of rows.

    `clusters` has the columns of `scenario_clusters`; a scenario that it does not name is alone.
    """
    missing = [c for c in (*_KEY, *SOURCE_COLUMNS) if c not in scenario_scores.columns]
    if missing:
        raise SelectionError(
            f"no column {', '.join(missing)}: these are not the rows of the table scenario_scores"
        )
    needed = terms_of(metrics)
    has_runs = "run_count" in scenario_scores.columns
    own_name = pl.concat_str("language", "scenario", separator="/")
    rows = scenario_scores.select(
        *_KEY,
        (pl.col("run_count").clip(1) if has_runs else pl.lit(1)).alias("_runs"),
        *(TERMS[term].cast(pl.Float64).alias(term) for term in needed),
    )
    if rows.select(_KEY).is_duplicated().any():
        raise SelectionError(f"there is more than one row for some {', '.join(_KEY)}")
    named = rows.join(
        clusters.select("language", "scenario", "cluster"), on=["language", "scenario"], how="left"
    ).with_columns(pl.col("cluster").fill_null(own_name))
    return [
        _sweep(str(profile), part, needed)
        for (profile,), part in sorted(named.partition_by("profile", as_dict=True).items())
    ]


def read_clusters(path: Path) -> pl.DataFrame:
    """The clusters that a CSV file names, with the columns language, scenario and cluster."""
    try:
        rows = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise PathError(f"{path} cannot be read as CSV: {error}") from error
    missing = [name for name in ALONE.columns if name not in rows.columns]
    if missing:
        raise PathError(
            f"{path} has no column {', '.join(missing)}; expected language, scenario and cluster"
        )
    named = rows.select(ALONE.columns).drop_nulls().unique()
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


def _sweep(profile: str, rows: pl.DataFrame, needed: tuple[str, ...]) -> Sweep:
    contenders = rows.select("model", "experiment").unique().sort("model", "experiment")
    clusters = rows.select("cluster").unique().sort("cluster")
    numbered = rows.join(contenders.with_row_index("_row"), on=["model", "experiment"])
    placed = numbered.join(clusters.with_row_index("_cluster"), on="cluster")
    blocks = sorted(placed.partition_by("language", as_dict=True).items())
    return Sweep(
        profile,
        tuple((model, experiment) for model, experiment in contenders.iter_rows()),
        tuple(clusters["cluster"]),
        tuple(
            _block(str(language), part, contenders.height, clusters.height, needed)
            for (language,), part in blocks
        ),
    )


def _block(
    language: str, rows: pl.DataFrame, height: int, clusters: int, needed: tuple[str, ...]
) -> Block:
    scenarios = rows.select("scenario", "_cluster").unique("scenario").sort("scenario")
    placed = rows.join(scenarios.select("scenario").with_row_index("_column"), on="scenario")
    place = (placed["_row"].to_numpy(), placed["_column"].to_numpy())
    shape = (height, scenarios.height)
    present = np.zeros(shape, dtype=np.bool_)
    present[place] = True
    runs = np.ones(shape)
    runs[place] = placed["_runs"].to_numpy()
    terms = {}
    for term in needed:
        values = np.zeros(shape)
        values[place] = placed[term].to_numpy()
        terms[term] = values
    members = np.zeros((scenarios.height, clusters))
    members[np.arange(scenarios.height), scenarios["_cluster"].to_numpy()] = 1.0
    return Block(language, tuple(scenarios["scenario"]), members, present, runs, terms)


def _in_common(block: Block, places: Indices) -> Block:
    columns = np.logical_and.reduce(block.present[places], axis=0)
    return Block(
        block.language,
        tuple(np.array(block.scenarios, dtype=object)[columns].tolist()),
        block.members[columns],
        block.present[places][:, columns],
        block.runs[places][:, columns],
        {term: values[places][:, columns] for term, values in block.terms.items()},
    )


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


def chunks(count: int, width: int, *, elements: int = 2_000_000) -> Sequence[slice]:
    """Slices of `count` rows, each with a bounded number of elements at `width` a row."""
    step = max(1, elements // max(1, width))
    return [slice(start, start + step) for start in range(0, count, step)]
