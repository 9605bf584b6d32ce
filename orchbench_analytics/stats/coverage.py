"""How much of the sweep a model has answered, and what it would score had it answered all.

The sweep's scenarios are those that any model has a file of, language by language, and those that
are expected. An expected number is of all languages together; it says nothing of one among several.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.schema import polars_schema
from orchbench_analytics.stats.counts import SUMMED, Counts, LanguageCounts, per_run
from orchbench_analytics.stats.evaluate import Array, defined_mean, evaluate
from orchbench_analytics.tables import EXPECTED_SCENARIOS

NOTHING_EXPECTED = pl.DataFrame(schema=polars_schema(EXPECTED_SCENARIOS))
Flags = npt.NDArray[np.bool_]


def scored_counts(languages: Sequence[LanguageCounts]) -> npt.NDArray[np.int64]:
    """How many of the sweep's scenarios each contender has."""
    present = np.hstack([language.present for language in languages])
    count: npt.NDArray[np.int64] = present.sum(axis=1)
    return count


def sweep_size(languages: Sequence[LanguageCounts], expected: pl.DataFrame) -> int:
    """How many scenarios the sweep has: `expected` has the columns of `expected_scenarios`."""
    there = {(one.language, scenario) for one in languages for scenario in one.scenarios}
    return max(len(there.union(expected.drop_nulls().iter_rows())), expected.height)


def expected_of(counts: Counts, language: str, expected: pl.DataFrame) -> pl.DataFrame:
    """What was expected of one language; a mere number is, if it is the only language."""
    is_only = len(counts.languages) == 1 and expected["language"].null_count() == expected.height
    return expected if is_only else expected.filter(pl.col("language") == language)


def gap_reason(counts: Counts, place: int, expected: pl.DataFrame) -> str:
    """What a contender lacks, in words."""
    total = sweep_size(counts.languages, expected)
    missing = total - int(scored_counts(counts.languages)[place])
    if not missing:
        return "no score"
    there = {one.language for one in counts.languages if one.present[place].any()}
    asked = {one.language for one in counts.languages}.union(expected["language"].drop_nulls())
    gone = sorted(asked - there)
    reason = f"{missing} of {total} scenarios missing"
    return f"{reason}, all of {', '.join(gone)}" if gone else reason


def adjusted_values(counts: Counts, name: str) -> Array:
    """The mean over all languages of the metric, missing files filled in: an estimate.

    What a missing file would have added is taken from a two-way fit by least squares: an effect of
    the model, over all its files, and an effect of the scenario, over all models that have it.
    """
    present = np.hstack([language.present for language in counts.languages])
    runs = np.hstack([language.runs for language in counts.languages])
    usual_runs = np.average(runs, axis=1, weights=present)[:, None]
    alike = [per_run(language) for language in counts.languages]
    ends = np.cumsum([len(language.scenarios) for language in counts.languages])[:-1]
    sums: list[dict[str, Array]] = [{} for _ in counts.languages]
    for part in counts.languages[0].parts:
        known = np.hstack([language.parts[part] for language in counts.languages])
        if not present.all():
            fitted = two_way_fit(np.hstack([one.parts[part] for one in alike]), present)
            guess = np.maximum(fitted, 0.0) * (usual_runs if part in SUMMED else 1.0)
            known = np.where(present, known, guess)
        for block, values in zip(sums, np.split(known, ends, axis=1), strict=True):
            block[part] = values.sum(axis=1)
    return defined_mean([evaluate([name], block)[name] for block in sums])


def two_way_fit(values: Array, present: Flags) -> Array:
    """Row effect + column effect of every cell, by least squares over the cells that are there."""
    weight = present.astype(np.float64)
    in_row, in_column = weight.sum(axis=1), weight.sum(axis=0)
    row_mean = (values * weight).sum(axis=1) / np.maximum(in_row, 1)
    # The row effects are eliminated: what is left are equations for the columns alone.
    equations = np.diag(in_column) - (weight / np.maximum(in_row, 1)[:, None]).T @ weight
    column_sums = ((values - row_mean[:, None]) * weight).sum(axis=0)
    columns = np.linalg.lstsq(equations, column_sums, rcond=None)[0]
    rows = row_mean - weight @ columns / np.maximum(in_row, 1)
    fitted: Array = rows[:, None] + columns[None, :]
    return fitted
