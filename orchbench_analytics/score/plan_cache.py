"""The warehouse's memory of compared plans, so that each distinct pair is compared once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path

import polars as pl

from orchbench_analytics.engines.local import begin
from orchbench_analytics.score.plans.pairs import (
    Compared,
    Pair,
    PairTask,
    PlanRules,
    compare_pairs,
)
from orchbench_analytics.score.plans.totals import PAIR_SCHEMA
from orchbench_analytics.store.parquet import Frame, scan_files, write_table

_PAIRS_OF_A_TASK = 500


class PlanCache:
    """Compared pairs by rules, on disk below the warehouse."""

    def __init__(self, root: Path, version: int) -> None:
        self._directory = root / "plan_cache" / str(version)

    def start(
        self,
        ids: pl.Series,
        all_rules: Sequence[PlanRules],
        load_pairs: Callable[[], Iterable[Pair]],
        pool: Executor | None,
    ) -> list[Future[Compared]]:
        """Begin to compare the pairs that are not known yet; without a pool, do it at once.

        `load_pairs` gives the texts of all the pairs named; it is called if one is not known.
        """
        known = {
            rules: set(self._known(rules, ids).select("pair_id").collect()["pair_id"])
            for rules in all_rules
        }
        missing: dict[tuple[PlanRules, ...], list[Pair]] = {}
        for pair in load_pairs() if any(len(k) < len(ids) for k in known.values()) else ():
            unknown = tuple(rules for rules in all_rules if pair[0] not in known[rules])
            if unknown:
                missing.setdefault(unknown, []).append(pair)
        tasks = (task for rules in missing for task in _tasks(rules, missing[rules]))
        return [begin(pool, compare_pairs, task) for task in tasks]

    def finish(
        self, started: list[Future[Compared]], ids: pl.Series, rules: PlanRules
    ) -> pl.DataFrame:
        """The pairs named, compared under the rules, once what was begun is done and remembered."""
        compared = (future.result() for future in started)
        fresh = [pl.DataFrame(c[rules], schema=PAIR_SCHEMA) for c in compared if rules in c]
        known = self._known(rules, ids).collect()
        new = pl.concat([pl.DataFrame(schema=PAIR_SCHEMA), *fresh])
        new = new.join(known, on="pair_id", how="anti")
        if len(new):
            self._write(rules, new)
        return pl.concat([known, new])

    def _files(self, rules: PlanRules) -> list[Path]:
        return sorted((self._directory / rules.rules_id).glob("*.parquet"))

    def _known(self, rules: PlanRules, ids: pl.Series) -> pl.LazyFrame:
        return (
            scan_files(self._files(rules), PAIR_SCHEMA)
            .join(pl.LazyFrame({"pair_id": ids}), on="pair_id", how="semi")
            .unique("pair_id")
        )

    def _write(self, rules: PlanRules, fresh: pl.DataFrame) -> None:
        directory = self._directory / rules.rules_id
        directory.mkdir(parents=True, exist_ok=True)
        name = os.urandom(16).hex()
        write_table(Frame(fresh), directory / f"{name}.new")
        (directory / f"{name}.new").rename(directory / f"{name}.parquet")


def _tasks(rules: tuple[PlanRules, ...], pairs: list[Pair]) -> Iterator[PairTask]:
    """Tasks of a bounded size; equal labels stay together, so that they are read once."""
    ordered = sorted(pairs, key=lambda pair: pair[1] or "")
    for start in range(0, len(ordered), _PAIRS_OF_A_TASK):
        yield PairTask(rules, ordered[start : start + _PAIRS_OF_A_TASK])
