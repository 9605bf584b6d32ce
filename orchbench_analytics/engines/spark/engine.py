"""Spark as an engine: every task is a task of a Spark job.

Tasks are pickled with their function's name, so executors need this package, its dependencies, and
a file system that they share with the driver. Spark may run a task twice, also at the same time:
what a task writes is named by its content, and only the driver writes the manifest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from orchbench_analytics.engines.local import Result, Task
from orchbench_analytics.errors import EngineError, OrchbenchError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Called with the number of finished tasks and of all tasks in the current step.
TaskProgress = Callable[[int, int], None]

_POLL_SECONDS = 0.5
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_LAST_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w+(?:Error|Exception): .*$", re.MULTILINE)
HOW_TO_SHIP = (
    "install orchbench-analytics on every node, or ship this environment with it: "
    "pip install venv-pack && venv-pack -o env.tar.gz, then "
    "--conf spark.archives=env.tar.gz#env --conf spark.pyspark.python=env/bin/python"
)


class SparkEngine:
    """An engine over a Spark session, which the caller owns and stops."""

    def __init__(self, session: SparkSession, *, progress: TaskProgress | None = None) -> None:
        self.session = session
        self.progress = progress

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The results of all tasks, after the last one; small ones run on executors too."""
        listed = list(tasks)
        if not listed:
            return
        work = self.context.parallelize(listed, len(listed)).map(partial(_outcome, function))
        outcomes: list[_Outcome] = self._run_job(work.collect)
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
            yield outcome.result

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

    def _run_job(self, work: Callable[[], Result]) -> Result:
        """Run a Spark job in a thread while this thread reports progress."""
        context = self.context
        job_group = f"orchbench-{uuid4().hex}"

        def in_group() -> Result:
            context.setJobGroup(job_group, "orchbench", interruptOnCancel=True)
            return work()

        with ThreadPoolExecutor(1) as thread:
            job = thread.submit(in_group)
            try:
                while not wait([job], timeout=_POLL_SECONDS).done:
                    self._report(job_group)
                self._report(job_group)
                return job.result()
            except BaseException as error:
                context.cancelJobGroup(job_group)
                if _is_of_spark(error):
                    raise engine_error(error) from error
                raise

    def _report(self, job_group: str) -> None:
        """Report how many of the tasks that Spark knows so far are done."""
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
    """The result of a task, or the error of a wrong call, which a retry would only repeat."""

    result: Any
    error: OrchbenchError | None = None


def _outcome(function: Callable[[Any], Any], task: Any) -> _Outcome:
    try:
        return _Outcome(function(task))
    except OrchbenchError as error:
        return _Outcome(None, error)


def _is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.split(".")[0] in ("py4j", "pyspark")


def engine_error(error: BaseException) -> EngineError:
    """An error of Spark as ours, with the last message of a Python worker."""
    text = str(error)
    missing = _MISSING_MODULE.search(text)
    if missing:
        return EngineError(f"Spark's executors lack the module {missing[1]}; {HOW_TO_SHIP}")
    if "PYTHON_VERSION_MISMATCH" in text:
        return EngineError(f"Spark's executors run another version of Python; {HOW_TO_SHIP}")
    said = _LAST_PYTHON_ERROR.findall(text) or text.strip().splitlines() or ["it gave no reason"]
    return EngineError(f"the Spark job failed: {said[0]}")
