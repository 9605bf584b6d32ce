"""Where a command's work runs: on this machine, or on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.errors import EngineError

if TYPE_CHECKING:
    from orchbench_analytics.engines import Engine
    from orchbench_analytics.engines.spark import TaskProgress


class EngineName(StrEnum):
    """The engines by name."""

    LOCAL = "local"
    SPARK = "spark"


EngineOption = Annotated[
    EngineName, typer.Option(metavar="NAME", help="Where the work runs: local or spark.")
]
MasterOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark's master; by default Spark's own setting.")
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A setting of Spark; repeatable."),
]


@contextmanager
def running_on(
    name: EngineName,
    master: str | None,
    conf: Sequence[str] | None,
    *,
    progress: TaskProgress | None = None,
) -> Iterator[Engine | None]:
    """The engine of that name while it is needed; none is this machine."""
    if name is EngineName.LOCAL:
        if master or conf:
            raise EngineError("--master and --conf are Spark's; give --engine spark with them")
        yield None
        return
    from orchbench_analytics.engines.spark import SparkEngine
    from orchbench_analytics.engines.spark_session import parse_conf, start_session

    session = start_session(master, parse_conf(conf or ()))
    try:
        yield SparkEngine(session, progress=progress)
    finally:
        session.stop()
