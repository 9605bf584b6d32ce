"""Processes that are forked from one which has imported everything, and may die at any moment."""

import traceback
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

_PRELOADED = [
    *("tests.torture.kills", "tests.torture.mutations", "tests.torture.flips"),
    *(
        "orchbench_analytics.changes",
        "orchbench_analytics.score.group",
        "pyarrow.parquet",
    ),
    *("orchbench_analytics.exports.parquet", "orchbench_analytics.exports.sqlite"),
]


class Running(NamedTuple):
    """A process under way, and where it says how it ended."""

    process: BaseProcess
    said: Connection

    def result(self, timeout: float | None = None) -> Any:
        """What the function returned; an error of its own, its death or its delay is raised."""
        self.process.join(timeout)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
            raise AssertionError(f"took longer than {timeout} seconds")
        if not self.said.poll():
            raise AssertionError(f"died with exit code {self.process.exitcode}")
        error, value = self.said.recv()
        if error is not None:
            raise AssertionError(error)
        return value


def start(function: Callable[..., Any], *arguments: Any) -> Running:
    """Run a function in a process of its own."""
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    said, say = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, arguments, say), daemon=True)
    process.start()
    say.close()
    return Running(process, said)


def _run(function: Callable[..., Any], arguments: tuple[Any, ...], say: Connection) -> None:
    try:
        say.send((None, function(*arguments)))
    except BaseException:  # noqa: BLE001 (whatever it is, the campaign wants to know)
        say.send((traceback.format_exc(), None))
