"""Handing a warehouse on: a report to share, and files and tables for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.store.verify import names_damage
from orchbench_analytics.warehouse.differences import Differences
from orchbench_analytics.warehouse.rows import several

if TYPE_CHECKING:
    from orchbench_analytics.exports.export import ExportSummary
    from orchbench_analytics.exports.superset.bundle import BundleSummary
    from orchbench_analytics.pages.report import Report


class Exports(Differences):
    """What a warehouse hands on."""

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

        output: the file; where the page is too large for one, a directory of that name. Only an
            earlier report is replaced.
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
        overwrite: replace an earlier export made with other options; nothing else is replaced.

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
        self, target: str | Path, *, uri: str, profile: str | None = None
    ) -> BundleSummary:
        """Write a ZIP that Superset imports: a dashboard of the star exported to an address.

        target: the file, such as `superset.zip`.
        uri: where Superset finds the star, as SQLAlchemy writes addresses.
        profile: which the dashboard shows first; by default `spec`.

        Returns the names of its datasets and charts, and whether it was there already.

        >>> warehouse.superset_bundle("superset.zip", uri="duckdb:////data/star.duckdb").charts[0]
        'Leaderboard'
        """
        from orchbench_analytics.exports.export import export_bundle

        manifest, path = self.manifest(), Path(target)
        return export_bundle(self.path, manifest, path, uri=uri, profile=profile)
