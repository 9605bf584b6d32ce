"""The warehouse as people hold it in Python: one object, one method for each thing it can do.

Each method imports the room that does the work, so that a command waits only for what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.profiles import Profile, load_profile
from orchbench_analytics.store.manifest import load_manifest
from orchbench_analytics.store.verify import names_damage
from orchbench_analytics.warehouse.differences import Contender
from orchbench_analytics.warehouse.exports import Exports
from orchbench_analytics.warehouse.rows import several

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.engines import Engine
    from orchbench_analytics.ingest.update import IngestSummary, Progress

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


class Warehouse(Exports):
    """A directory of Parquet tables made from result files."""

    def __init__(self, path: Path, engine: Engine | None = None) -> None:
        # Workers elsewhere have a working directory of their own.
        self.path = path if engine is None else path.absolute()
        self.engine = engine

    def __repr__(self) -> str:
        from orchbench_analytics.outputs.overview import as_text

        return as_text(self.path)

    def _repr_html_(self) -> str:
        from orchbench_analytics.outputs.overview import as_html

        return as_html(self.path)

    @names_damage
    def ingest(
        self,
        *paths: str | Path,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: str | Path | Sequence[str | Path] = (),
        expect: int | str | Path | None = None,
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
        agent_cards: files and directories with the tools' schemas, such as the benchmark's `data`;
            nothing but cards is read there.
        expect: what the whole sweep has, for coverage: a number of scenarios over all languages, a
            file with a line such as `EN/12` for each, or the benchmark's `data`. It is kept; 0
            forgets it.
        prune: let go of what was read from these paths and is no longer there.
        verify: read every byte of the warehouse; damaged parts are read again from their files.
        score: under all profiles of the warehouse; otherwise the next ingest does it.
        jobs: how many processes; by default as many as there are cores.
        wait: for another writer; otherwise that is an error.
        progress: is called with the files and bytes just read, and the bytes to read in all.

        Returns how many files were taken, unchanged, ignored and removed, those refused, and those
        that are gone from the paths but still count.

        >>> warehouse.ingest("orchbench-demo/results", jobs=1).refused
        []
        """
        from orchbench_analytics.ingest.expect import read_expected
        from orchbench_analytics.ingest.find import Placement, compile_pattern
        from orchbench_analytics.warehouse.changes import ingest

        expression = compile_pattern(pattern) if pattern else None
        expected = None if expect is None else read_expected(expect, language=language)
        with self._running(jobs) as engine:
            return ingest(
                self.path,
                paths,
                engine,
                placement=Placement(model, experiment, language, expression),
                agent_cards=several(agent_cards),
                expected=expected,
                prune=prune,
                verify=verify,
                is_scoring=score,
                wait=wait,
                progress=progress,
            )

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
        from orchbench_analytics.warehouse.changes import score

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
        from orchbench_analytics.warehouse.changes import tag

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
        from orchbench_analytics.warehouse.changes import remove

        models, experiments, profiles = map(several, (models, experiments, profiles))
        with self._running(jobs) as engine:
            return remove(
                self.path,
                engine,
                models=models,
                experiments=experiments,
                profiles=profiles,
                tags=tags,
            )
