"""Where a command's work runs: on this machine, or on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchbench_analytics.errors import EngineError

if TYPE_CHECKING:
    from orchbench_analytics.engines import Engine
    from orchbench_analytics.engines.spark import TaskProgress
    from orchbench_analytics.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The options that say where the work runs."""

    engine: Annotated[
        Literal["local", "spark"],
        typer.Option(metavar="NAME", help="Where the work runs: local or spark."),
    ] = "local"
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Spark's master; by default Spark's own setting."),
    ] = None
    conf: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A setting of Spark; repeatable."),
    ] = None

    @property
    def is_local(self) -> bool:
        """Whether the work runs on this machine."""
        return self.engine == "local"

    @contextmanager
    def opened(
        self, warehouse: Path, *, create: bool = False, progress: TaskProgress | None = None
    ) -> Iterator[Warehouse]:
        """The warehouse, with its work done by the chosen engine."""
        from orchbench_analytics.warehouse import open_warehouse

        with self._running(progress) as engine:
            yield open_warehouse(warehouse, create=create, engine=engine)

    @contextmanager
    def _running(self, progress: TaskProgress | None) -> Iterator[Engine | None]:
        """The engine while it is needed; None is this machine."""
        if self.is_local:
            if self.master or self.conf:
                raise EngineError("--master and --conf are Spark's; give --engine spark with them")
            yield None
            return
        from orchbench_analytics.engines.spark import SparkEngine
        from orchbench_analytics.engines.spark_session import parse_conf, start_session

        session = start_session(self.master, parse_conf(self.conf or ()))
        try:
            yield SparkEngine(session, progress=progress)
        finally:
            session.stop()
