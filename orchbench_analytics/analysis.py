"""What can be asked of a warehouse beyond its rows: ranks, intervals, comparisons, checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.profiles import BUILT_IN, Profile, profile_of
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.verify import Finding, names_damage, verify
from orchbench_analytics.tables import TABLES

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from orchbench_analytics.outputs.check import CheckReport

Contender = str | tuple[str, str]


class Analysis:
    """The questions a warehouse answers; each returns polars frames or plain values."""

    path: Path

    def manifest(self) -> Manifest:
        """What is in the warehouse now."""
        return store.load_manifest(self.path)

    def table(self, name: str) -> pl.LazyFrame:
        """A table as a polars LazyFrame."""
        from orchbench_analytics.store.parquet import scan_files

        if name not in TABLES:
            raise SelectionError(f"no table named {name!r}; there are {', '.join(TABLES)}")
        files = store.table_files(self.path, self.manifest(), name)
        return scan_files(files, polars_schema(TABLES[name]))

    @names_damage
    def connect(self, *, view: str | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with every table and view, or just with what one view needs."""
        from orchbench_analytics.views.catalog import connect

        return connect(self.path, self.manifest(), view=view)

    def leaderboard(self, profile: str = "spec", *, by: str | None = None) -> pl.DataFrame:
        """Models by rank under a profile; or groups of models, by a column of `model_tags`."""
        import polars as pl

        from orchbench_analytics.metrics import HEADLINE
        from orchbench_analytics.outputs.leaderboard import in_order

        board = in_order(self._rows("leaderboard", profile))
        if by is None:
            return board
        from orchbench_analytics.views.catalog import frame_of

        with self.connect() as connection:
            tags = frame_of(connection.sql("select * from main.model_tags"))
        if by not in tags.columns:
            known = ", ".join(tags.columns)
            raise SelectionError(f"models have no tag {by!r}, only {known}; see: orchbench tag")
        scores, coverage = pl.col(*HEADLINE), pl.col("coverage").min()
        return (
            board.join(tags.select({"model", "experiment", by}), on=["model", "experiment"])
            .group_by(by)
            .agg(scores.mean(), coverage, pl.len().alias("model_count"))
            .sort(HEADLINE[0], descending=True, nulls_last=True)
        )

    def rank_intervals(self, profile: str = "spec", *, seed: int = 0) -> pl.DataFrame:
        """Models by rank, with 95 % intervals of score and rank, and the chance of being best."""
        from orchbench_analytics.stats import rank_intervals

        ranked = rank_intervals(self._rows("scenario_scores", profile), seed=seed)
        return ranked.sort("rank_number", "model", "experiment")

    def intervals(
        self, profile: str = "spec", *, metrics: Sequence[str] | None = None, seed: int = 0
    ) -> pl.DataFrame:
        """Every metric of every model with its 95 % interval."""
        from orchbench_analytics.stats import METRICS, intervals

        scores = self._rows("scenario_scores", profile)
        return intervals(scores, metrics=metrics or tuple(METRICS), seed=seed)

    def compare(
        self,
        baseline: Contender,
        candidate: Contender,
        *,
        profile: str = "spec",
        metrics: Sequence[str] | None = None,
        seed: int = 0,
    ) -> pl.DataFrame:
        """Two models over their common scenarios: is the candidate better, and how sure is that."""
        from orchbench_analytics.stats import HEADLINE, compare

        scores = self._rows("scenario_scores", profile)
        return compare(scores, baseline, candidate, metrics=metrics or HEADLINE, seed=seed)

    def compare_all(
        self, *, profile: str = "spec", metric: str = "average_score", seed: int = 0
    ) -> pl.DataFrame:
        """All pairs of models in one metric, corrected for how many there are."""
        from orchbench_analytics.stats import compare_all

        return compare_all(self._rows("scenario_scores", profile), metric=metric, seed=seed)

    @names_damage
    def drivers(
        self,
        baseline: Contender,
        candidate: Contender,
        *,
        profile: str = "spec",
    ) -> dict[str, pl.DataFrame]:
        """What carries the difference: scenarios of the average, agents and tools of the calls."""
        import polars as pl

        from orchbench_analytics.stats import drivers, step_drivers

        scores = self._rows("scenario_scores", profile)
        steps = self.table("scored_steps").filter(pl.col("profile") == self.profile(profile).name)
        return {
            "scenarios": drivers(scores, baseline, candidate),
            "agents": step_drivers(steps, baseline, candidate, by="agent"),
            "tools": step_drivers(steps, baseline, candidate, by="tool", metric="FC"),
        }

    @names_damage
    def consistency(self, profile: str = "spec") -> dict[str, pl.DataFrame]:
        """How steady models are from run to run: `flips`, `pass_rates`, `run_noise`, `spread`."""
        import polars as pl

        from orchbench_analytics.stats import flips, model_spread, pass_rates, run_noise

        is_wanted = pl.col("profile") == self.profile(profile).name
        steps = self.table("scored_steps").filter(is_wanted)
        noise = run_noise(steps, self.table("scored_plans").filter(is_wanted))
        return {
            "flips": flips(steps),
            "pass_rates": pass_rates(steps),
            "run_noise": noise,
            "spread": model_spread(noise),
        }

    @names_damage
    def _rows(self, view: str, profile: str) -> pl.DataFrame:
        """The rows of a view under a profile."""
        from orchbench_analytics.views.catalog import frame_of

        with self.connect(view=view) as connection:
            rows = connection.sql(
                f"select * from main.{view} where profile = $profile",
                params={"profile": self.profile(profile).name},
            )
            return frame_of(rows)

    @names_damage
    def results(
        self,
        model: str,
        *,
        experiment: str | None = None,
        language: str | None = None,
        profile: str = "spec",
    ) -> dict[str, Any]:
        """A model's results in the format of the benchmark's own evaluator."""
        from orchbench_analytics.outputs.results import result_document

        scored = self.profile(profile)
        known = {(p.model, p.experiment, p.language) for p in self.manifest().parts}
        chosen = sorted(
            key
            for key in known
            if key[0] == model
            and experiment in (None, key[1])
            and (language is None or language.upper() == key[2].upper())
        )
        if len(chosen) != 1:
            raise SelectionError(_which(model, chosen, known))
        with self.connect() as connection:
            return result_document(
                connection,
                scored,
                model=model,
                experiment=chosen[0][1],
                language=chosen[0][2],
            )

    def verify(self) -> list[Finding]:
        """The files whose bytes are not what was written, and what is wrong with each."""
        return verify(self.path, self.manifest())

    @names_damage
    def check(self) -> CheckReport:
        """Whether all counts add up, and an evaluator's reported figures agree with ours."""
        from orchbench_analytics.outputs.check import check

        with self.connect() as connection:
            return check(connection)

    @names_damage
    def audit(self, *, jobs: int | None = None) -> pl.DataFrame:
        """What each rule in which `upstream` and `spec` differ does to every model's metrics."""
        from orchbench_analytics.outputs.audit import audit

        return audit(self.path, self.manifest(), jobs=jobs)

    def profile(self, name: str) -> Profile:
        """A profile that the warehouse was scored under."""
        profiles = self.manifest().profiles
        if name not in profiles:
            found = f", only under {', '.join(profiles)}" if profiles else ""
            wanted = name if name in BUILT_IN else "FILE.toml"
            raise SelectionError(
                f"{self.path} is not scored under {name!r}{found}; "
                f"score it with: orchbench score {self.path} --profile {wanted}"
            )
        return profile_of(profiles[name])


def _which(model: str, chosen: list[tuple[str, str, str]], known: set[tuple[str, str, str]]) -> str:
    """Why a choice of model, experiment and language is none, and what there is."""
    from difflib import get_close_matches

    if chosen:
        there = "; ".join(f"--experiment {e} --language {lang}" for _, e, lang in chosen)
        return f"there are several of {model}, choose one: {there}"
    models = sorted({key[0] for key in known})
    likely = get_close_matches(model, models, n=3) or models[:5]
    return f"no such results of {model!r}; there are, for example: {', '.join(likely)}"
