"""Spark as the place where work runs: every task is a task of a Spark job.

Tasks are pickled with their function's name, so executors need this package and its dependencies,
and a file system they share with the driver. A task may run twice, at once or one after the other:
what it writes is named by its content, and the driver alone writes the manifest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from uuid import uuid4

from orchbench_analytics.errors import EngineError, OrchbenchError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

Task = TypeVar("Task")
Result = TypeVar("Result")
# Tasks done and tasks in all, of the step that is under way.
TaskProgress = Callable[[int, int], None]

_POLL_SECONDS = 0.5
_PROBES_OF_A_CORE = 4
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_LAST_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w+(?:Error|Exception): .*$", re.MULTILINE)
HOW_TO_SHIP = (
    "install orchbench-analytics on every node, or ship this environment with it: "
    "pip install venv-pack && venv-pack -o env.tar.gz, then "
    "--conf spark.archives=env.tar.gz#env --conf spark.pyspark.python=env/bin/python"
)


class SparkEngine:
    """An engine over a Spark session that the caller has and keeps."""

    def __init__(self, session: SparkSession, *, progress: TaskProgress | None = None) -> None:
        self.session = session
        self.progress = progress

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The results of all tasks, when the last is done; however small, they run on executors."""
        listed = list(tasks)
        if not listed:
            return
        work = self.context.parallelize(listed, len(listed)).map(partial(_outcome, function))
        outcomes: list[_Outcome] = self._watched(work.collect)
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
            yield outcome.result

    def require_reach(self, root: Path, paths: Iterable[Path]) -> None:
        """Raise an error unless every executor asked sees the paths, and the warehouse's files."""
        staging = root / "staging"
        staging.mkdir(parents=True, exist_ok=True)
        probe = staging / f"probe-{uuid4().hex}"
        probe.touch()
        wanted = [str(probe), *(str(path.absolute()) for path in paths)]
        try:
            count = _PROBES_OF_A_CORE * self.context.defaultParallelism
            unseen = {path for paths in self.run(_unseen, [wanted] * count) for path in paths}
        finally:
            probe.unlink(missing_ok=True)
        for path in wanted:
            if path in unseen:
                shown = root if path == str(probe) else path
                raise EngineError(
                    f"Spark's executors cannot see {shown}; "
                    "use a directory on a file system that all nodes share, under the same path"
                )

    @property
    def context(self) -> SparkContext:
        """The session's context; a Spark Connect session has none."""
        try:
            return self.session.sparkContext
        except AttributeError as error:
            raise EngineError(
                "tasks need a classic Spark session; a Spark Connect session has no context "
                "to run them in: use SparkSession.builder.master(...)"
            ) from error

    def _watched(self, work: Callable[[], Result]) -> Result:
        """The result of a Spark job; a thread waits for it while this one reports progress."""
        context = self.context
        job_group = f"orchbench-{uuid4().hex}"

        def in_group() -> Result:
            context.setJobGroup(job_group, "orchbench", interruptOnCancel=True)
            return work()

        with ThreadPoolExecutor(1) as thread:
            job = thread.submit(in_group)
            try:
                while not wait([job], timeout=_POLL_SECONDS).done:
                    self._tell(job_group)
                self._tell(job_group)
                return job.result()
            except BaseException as error:
                context.cancelJobGroup(job_group)
                if _is_of_spark(error):
                    raise engine_error(error) from error
                raise

    def _tell(self, job_group: str) -> None:
        """Report how many tasks of a job are done, of those that Spark knows by now."""
        if self.progress is None:
            return
        tracker = self.context.statusTracker()
        jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(job_group))
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        known = [stage for stage in stages if stage]
        done, total = (
            sum(int(getattr(stage, name)) for stage in known)
            for name in ("numCompletedTasks", "numTasks")
        )
        self.progress(done, total)


class _Outcome(NamedTuple):
    """What came of a task: its result, or the error of a wrong call, which no retry would mend."""

    result: Any
    error: OrchbenchError | None = None


def _outcome(function: Callable[[Any], Any], task: Any) -> _Outcome:
    try:
        return _Outcome(function(task))
    except OrchbenchError as error:
        return _Outcome(None, error)


def _unseen(paths: list[str]) -> list[str]:
    return [path for path in paths if not os.path.exists(path)]  # noqa: PTH110 (as given)


def _is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.split(".")[0] in ("py4j", "pyspark")


def engine_error(error: BaseException) -> EngineError:
    """An error of Spark in our words, with the last thing a Python worker said."""
    text = str(error)
    missing = _MISSING_MODULE.search(text)
    if missing:
        return EngineError(f"Spark's executors lack the module {missing[1]}; {HOW_TO_SHIP}")
    if "PYTHON_VERSION_MISMATCH" in text:
        return EngineError(f"Spark's executors run another version of Python; {HOW_TO_SHIP}")
    said = _LAST_PYTHON_ERROR.findall(text) or text.strip().splitlines() or ["it gave no reason"]
    return EngineError(f"the Spark job failed: {said[0]}")
