"""The warehouse's memory of compared plans, so that each distinct pair is compared once."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path

import polars as pl

from orchbench_analytics.score.plan_pairs import (
    ComparedPair,
    Pair,
    PairTask,
    PlanRules,
    compare_pairs,
)
from orchbench_analytics.score.plans import PAIR_SCHEMA

_PAIRS_OF_A_TASK = 500
_Compared = list[tuple[PlanRules, ComparedPair]]


class PlanCache:
    """Compared pairs by rules, on disk below the warehouse."""

    def __init__(self, root: Path, version: int) -> None:
        self._directory = root / "plan_cache" / f"version={version}"

    def start(
        self, pairs: Sequence[Pair], all_rules: Sequence[PlanRules], pool: Executor | None
    ) -> list[Future[_Compared]]:
        """Begin to compare what is not known yet; without a pool, do it at once."""
        missing: dict[tuple[PlanRules, ...], list[Pair]] = {}
        known = {rules: set(self._known(rules, pairs)["pair_id"]) for rules in all_rules}
        for pair in pairs:
            unknown = tuple(rules for rules in all_rules if pair[0] not in known[rules])
            if unknown:
                missing.setdefault(unknown, []).append(pair)
        return [_submit(pool, task) for rules in missing for task in _tasks(rules, missing[rules])]

    def finish(
        self, started: Iterable[Future[_Compared]], pairs: Sequence[Pair], rules: PlanRules
    ) -> pl.DataFrame:
        """All pairs compared under the rules, once what was begun is done and remembered."""
        new = [pair for future in started for found, pair in future.result() if found == rules]
        known = self._known(rules, pairs)
        fresh = pl.DataFrame(new, schema=PAIR_SCHEMA, orient="row")
        fresh = fresh.join(known, on="pair_id", how="anti")
        if len(fresh):
            self._write(rules, fresh)
        return pl.concat([known, fresh])

    def _files(self, rules: PlanRules) -> list[Path]:
        return sorted((self._directory / f"rules={rules.rules_id}").glob("*.parquet"))

    def _known(self, rules: PlanRules, pairs: Sequence[Pair]) -> pl.DataFrame:
        files = self._files(rules)
        if not files:
            return pl.DataFrame(schema=PAIR_SCHEMA)
        wanted = pl.LazyFrame(
            {"pair_id": [pair[0] for pair in pairs]}, schema={"pair_id": pl.String}
        )
        return (
            pl.scan_parquet(files, schema=PAIR_SCHEMA)
            .join(wanted, on="pair_id", how="semi")
            .unique("pair_id")
            .collect()
        )

    def _write(self, rules: PlanRules, fresh: pl.DataFrame) -> None:
        directory = self._directory / f"rules={rules.rules_id}"
        directory.mkdir(parents=True, exist_ok=True)
        name = uuid.uuid4().hex
        fresh.write_parquet(directory / f"{name}.new")
        (directory / f"{name}.new").rename(directory / f"{name}.parquet")


def _tasks(rules: tuple[PlanRules, ...], pairs: list[Pair]) -> Iterator[PairTask]:
    """Tasks of a bounded size; equal labels stay together, so that they are read once."""
    ordered = sorted(pairs, key=lambda pair: (pair[1] or "", pair[2] or ""))
    for start in range(0, len(ordered), _PAIRS_OF_A_TASK):
        yield PairTask(rules, ordered[start : start + _PAIRS_OF_A_TASK])


def _submit(pool: Executor | None, task: PairTask) -> Future[_Compared]:
    if pool is not None:
        return pool.submit(compare_pairs, task)
    done: Future[_Compared] = Future()
    done.set_result(compare_pairs(task))
    return done
