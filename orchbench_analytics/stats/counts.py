"""The additive parts of a sweep as arrays: contender by scenario, one block for each language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics import selection
from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import SOURCE_COLUMNS, TERMS, terms_of
from orchbench_analytics.stats.evaluate import Array

Contender = tuple[str, str]  # model, experiment
_KEY = ("profile", "model", "experiment", "language", "scenario")
# Parts that grow with the number of runs; the others are means over a file's runs.
SUMMED = frozenset(name for name in SOURCE_COLUMNS if name.endswith("_count"))


@dataclass(frozen=True, slots=True)
class LanguageCounts:
    """One language: for each part an array of contender by scenario, 0 where a file is missing.

    `runs` is how many runs a file has, 1 where it is missing or not known.
    """

    language: str
    scenarios: tuple[str, ...]
    present: npt.NDArray[np.bool_]
    runs: Array
    parts: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Counts:
    """One profile's sweep; scenarios of different languages have nothing to do with each other."""

    profile: str
    contenders: tuple[Contender, ...]
    languages: tuple[LanguageCounts, ...]

    @property
    def keys(self) -> dict[str, list[str]]:
        """The columns that name the contenders, in their order."""
        return {
            "profile": [self.profile] * len(self.contenders),
            "model": [model for model, _ in self.contenders],
            "experiment": [experiment for _, experiment in self.contenders],
        }


def count_by_scenario(scenario_scores: pl.DataFrame, metrics: Iterable[str]) -> list[Counts]:
    """The parts that the metrics need, by profile; independent of the order of rows."""
    missing = [c for c in (*_KEY, *SOURCE_COLUMNS) if c not in scenario_scores.columns]
    if missing:
        raise SelectionError(
            f"no column {', '.join(missing)}: these are not the rows of the view scenario_scores"
        )
    needed = terms_of(metrics)
    has_runs = "run_count" in scenario_scores.columns
    rows = scenario_scores.select(
        *_KEY,
        (pl.col("run_count").clip(1) if has_runs else pl.lit(1)).alias("_runs"),
        *(TERMS[p].cast(pl.Float64).alias(p) for p in needed),
    )
    if rows.select(_KEY).is_duplicated().any():
        raise SelectionError(f"there is more than one row for some {', '.join(_KEY)}")
    return [
        _count_profile(str(profile), part, needed)
        for (profile,), part in sorted(rows.partition_by("profile", as_dict=True).items())
    ]


def _count_profile(profile: str, rows: pl.DataFrame, needed: tuple[str, ...]) -> Counts:
    contenders = rows.select("model", "experiment").unique().sort("model", "experiment")
    numbered = rows.join(contenders.with_row_index("_row"), on=["model", "experiment"])
    blocks = sorted(numbered.partition_by("language", as_dict=True).items())
    return Counts(
        profile,
        tuple((model, experiment) for model, experiment in contenders.iter_rows()),
        tuple(
            _count_language(str(language), block, contenders.height, needed)
            for (language,), block in blocks
        ),
    )


def _count_language(
    language: str, rows: pl.DataFrame, height: int, needed: tuple[str, ...]
) -> LanguageCounts:
    scenarios = rows.select("scenario").unique().sort("scenario")
    placed = rows.join(scenarios.with_row_index("_column"), on="scenario")
    place = (placed["_row"].to_numpy(), placed["_column"].to_numpy())
    shape = (height, scenarios.height)
    present = np.zeros(shape, dtype=np.bool_)
    present[place] = True
    runs = np.ones(shape)
    runs[place] = placed["_runs"].to_numpy()
    parts = {}
    for part in needed:
        values = np.zeros(shape)
        values[place] = placed[part].to_numpy()
        parts[part] = values
    return LanguageCounts(language, tuple(scenarios["scenario"]), present, runs, parts)


def per_run(language: LanguageCounts) -> LanguageCounts:
    """Counts as of one run, so that files with more runs weigh as much as others."""
    parts = {p: v / language.runs if p in SUMMED else v for p, v in language.parts.items()}
    return replace(language, runs=np.ones_like(language.runs), parts=parts)


def in_common(language: LanguageCounts, rows: npt.NDArray[np.int64]) -> LanguageCounts:
    """Some contenders, over the scenarios that all of them have."""
    columns = np.logical_and.reduce(language.present[rows], axis=0)
    return LanguageCounts(
        language.language,
        tuple(np.array(language.scenarios)[columns].tolist()),
        language.present[rows][:, columns],
        language.runs[rows][:, columns],
        {part: values[rows][:, columns] for part, values in language.parts.items()},
    )


def find_contender(contenders: Sequence[Contender], name: str | Contender) -> int:
    """The place of a contender given as (model, experiment), `model` or `model/experiment`."""
    return [*contenders].index(selection.find_contender(name, contenders))
