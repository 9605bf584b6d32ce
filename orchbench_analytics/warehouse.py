"""The warehouse as people hold it in Python: one object, one method for each thing it can do.

Each method imports the room that does the work, so that a command waits only for what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.asking.differences import Contender, Differences
from orchbench_analytics.asking.given import several
from orchbench_analytics.profiles import Profile, load_profile
from orchbench_analytics.store.manifest import load_manifest
from orchbench_analytics.store.verify import names_damage

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.engines import Engine
    from orchbench_analytics.exports.export import ExportSummary
    from orchbench_analytics.exports.superset.bundle import BundleSummary
    from orchbench_analytics.ingest.update import IngestSummary, Progress
    from orchbench_analytics.pages.report import Report

__all__ = ["Contender", "Warehouse", "open_warehouse"]


def open_warehouse(
    path: str | Path, *, create: bool = False, engine: Engine | None = None
) -> Warehouse:
    """The warehouse in a directory.

    path: the directory.
    create: it need not be there yet; the first ingest makes it.
    engine: where its work runs; by default on this machine, with all its cores.

    Returns the warehouse.

    >>> warehouse = open_warehouse("orchbench-demo/warehouse")
    >>> warehouse.leaderboard("strict").select("rank_number", "model", "average_score").row(0)
    (1, 'perfect', 1.0)
    """
    if not create:
        load_manifest(Path(path))
    return Warehouse(Path(path), engine)


class Warehouse(Differences):
    """A directory of Parquet tables made from result files."""

    def __init__(self, path: Path, engine: Engine | None = None) -> None:
        # Workers elsewhere have a working directory of their own.
        self.path = path if engine is None else path.absolute()
        self.engine = engine

    def __repr__(self) -> str:
        from orchbench_analytics.outputs.portrait import as_text

        return as_text(self.path)

    def _repr_html_(self) -> str:
        from orchbench_analytics.outputs.portrait import as_html

        return as_html(self.path)

    # Changing it

    @names_damage
    def ingest(
        self,
        *paths: str | Path,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: str | Path | Sequence[str | Path] = (),
        prune: bool = False,
        verify: bool = False,
        score: bool = True,
        jobs: int | None = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Take in what is new or changed, and score it.

        paths: files, and directories that are searched to any depth.
        model: whose files they are, where the tree does not say.
        experiment: likewise.
        language: likewise.
        pattern: how the tree names things, such as `{model}/{language}/{scenario}.json`.
        agent_cards: files and directories with the tools' schemas.
        prune: let go of what was read from these paths and is no longer there.
        verify: read every byte of the warehouse; damaged parts are read again from their files.
        score: under all profiles of the warehouse; otherwise the next ingest does it.
        jobs: how many processes; by default as many as there are cores.
        wait: for another writer; otherwise that is an error.
        progress: is called with the files and bytes just read, and the bytes to read in all.

        Returns how many files were taken, unchanged, ignored and removed, and those refused.

        >>> warehouse.ingest("orchbench-demo/results", jobs=1).refused
        []
        """
        from orchbench_analytics.changes import ingest
        from orchbench_analytics.ingest.find import Placement, compile_pattern

        expression = compile_pattern(pattern) if pattern else None
        with self._running(jobs) as engine:
            return ingest(
                self.path,
                [*paths, *several(agent_cards)],
                engine,
                placement=Placement(model, experiment, language, expression),
                prune=prune,
                verify=verify,
                is_scoring=score,
                wait=wait,
                progress=progress,
            )

    def report(
        self,
        output: str | Path,
        *,
        models: Sequence[str] = (),
        profiles: Sequence[str] = (),
        answer_limit: int | None = None,
        with_rules: bool = False,
        title: str | None = None,
        jobs: int | None = None,
    ) -> Report:
        """Write a page that works offline, from the leaderboard down to the answers.

        output: the file; where the page is too large for one, a directory of that name.
        models: only these.
        profiles: only these; the first is shown first.
        answer_limit: cut answers after so many characters; 0 leaves them out.
        with_rules: say what each scoring rule does, which takes a while.
        title: of the page.
        jobs: how many processes; by default as many as there are cores.

        Returns the page to open, its size, and how many models it has.

        >>> warehouse.report("perfect.html", models=["perfect"], jobs=1).model_count
        1
        """
        from orchbench_analytics.pages.report import (
            ANSWER_LIMIT,
            TITLE,
            ReportOptions,
            make_report,
        )

        limit = ANSWER_LIMIT if answer_limit is None else answer_limit
        models, profiles = several(models), several(profiles)
        options = ReportOptions(models, profiles, limit, with_rules, title or TITLE)
        with self._running(jobs, is_local=True) as engine:
            return make_report(self.path, self.manifest(), Path(output), options, engine)

    @names_damage
    def score(self, profile: Profile | str, *, jobs: int | None = None, wait: bool = True) -> str:
        """Score everything under a profile, from Parquet alone; later ingests keep it current.

        profile: a name, a TOML file, or a profile.
        jobs: how many processes; by default as many as there are cores.
        wait: for another writer; otherwise that is an error.

        Returns the name under which its scores are found.

        >>> warehouse.score("strict", jobs=1)
        'strict'
        """
        from orchbench_analytics.changes import score

        chosen = load_profile(profile) if isinstance(profile, str) else profile
        with self._running(jobs) as engine:
            score(self.path, chosen, engine, wait=wait)
        return chosen.name

    def tag(self, path: str | Path, *, replace: bool = False) -> pl.DataFrame:
        """Take in what a file says of models.

        path: a CSV file with a column `model`, or a TOML file with a table for each model.
        replace: forget earlier tags; otherwise they stay where the file says nothing else.

        Returns what the file says: `model`, `experiment` and a column for each tag.

        >>> warehouse.tag("sizes.csv").columns
        ['model', 'experiment', 'size']
        """
        from orchbench_analytics.changes import tag

        return tag(self.path, Path(path), replace=replace)

    @names_damage
    def remove(
        self,
        *,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        profiles: Sequence[str] = (),
        tags: bool = False,
        jobs: int | None = None,
    ) -> list[str]:
        """Remove models, experiments, profiles or tags.

        models: names or patterns such as `graded-*`.
        experiments: likewise; with models, only these of theirs.
        profiles: names; their scores go with them.
        tags: all of them.
        jobs: how many processes; by default as many as there are cores.

        Returns the names of what was removed.

        >>> warehouse.remove(models=["over-*"], jobs=1)
        ['over-cautious/baseline', 'over-eager/baseline']
        """
        from orchbench_analytics.changes import Leaving, remove
        from orchbench_analytics.outputs.leaving import models_of, profiles_of

        manifest = self.manifest()
        models, experiments, profiles = map(several, (models, experiments, profiles))
        pairs = models_of(manifest, models, experiments) if models or experiments else []
        leaving = Leaving(pairs, profiles_of(manifest, profiles), tags)
        with self._running(jobs) as engine:
            remove(self.path, leaving, engine)
        return [*map("/".join, pairs), *profiles, *(["all tags"] if tags else [])]

    # Handing it on

    @names_damage
    def export(
        self,
        target: str | Path,
        *,
        relations: Sequence[str] = (),
        star: bool = False,
        profile: str | None = None,
        raw: bool = False,
        partition_by: Sequence[str] = (),
        overwrite: bool = False,
    ) -> ExportSummary:
        """Write tables and views, or a star schema, for other tools.

        target: a file or directory whose name says the format, or a Postgres address; one that
            holds an earlier export of the same options gets only what changed.
        relations: only these tables and views.
        star: facts and dimensions in place of tables and views.
        profile: only the scores under this one.
        raw: leave texts that a spreadsheet would run as formulas as they are.
        partition_by: columns that become directories.
        overwrite: replace what is there.

        Returns what was written, and where to.

        >>> len(warehouse.export("board.duckdb", relations=["leaderboard"]).relations)
        1
        """
        from orchbench_analytics.exports.contents import Selection
        from orchbench_analytics.exports.export import export

        selection = Selection(
            tables=tuple(several(relations)),
            is_star=star,
            profile=profile,
            is_raw=raw,
            partition_by=tuple(several(partition_by)),
        )
        return export(
            self.path,
            self.manifest(),
            str(target),
            selection=selection,
            may_overwrite=overwrite,
            spark=self._spark,
        )

    def superset_bundle(
        self, target: str | Path, *, uri: str, profile: str | None = None, overwrite: bool = False
    ) -> BundleSummary:
        """Write a ZIP that Superset imports: a dashboard of the star exported to an address.

        target: the file, such as `superset.zip`.
        uri: where Superset finds the star, as SQLAlchemy writes addresses.
        profile: which the dashboard shows first; by default `spec`.
        overwrite: replace a file that is not such a bundle.

        Returns the names of its datasets and charts, and whether it was there already.

        >>> warehouse.superset_bundle("superset.zip", uri="duckdb:////data/star.duckdb").charts[0]
        'Leaderboard'
        """
        from orchbench_analytics.exports.export import export_bundle

        manifest, path = self.manifest(), Path(target)
        return export_bundle(
            self.path, manifest, path, uri=uri, profile=profile, may_overwrite=overwrite
        )
