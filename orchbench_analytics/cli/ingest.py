"""The command `ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from orchbench_analytics.cli.app import (
    FOUND_WRONG,
    HOW_TO_SET_IT,
    EngineOptions,
    JobsOption,
    QuietOption,
    call_of,
    command,
    default_warehouse,
    is_warehouse,
    say,
    typed_input,
    typed_root,
)
from orchbench_analytics.cli.progress import progress_bar, say_summary, say_unchecked, task_bar
from orchbench_analytics.engines.local import share_machine
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.paths import is_address
from orchbench_analytics.store.manifest import Finding, Manifest, remedy_for, row_count


def seconds(given: str | float) -> float:
    """Seconds as they are typed: `5`, `0.5` or `5s`."""
    try:
        value = float(str(given).removesuffix("s"))
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 86_400:
        raise PathError(f"--every {given}: expected seconds such as 5s, from 0.1 to a day")
    return value


@command(example="orchbench ingest orchbench-demo/results --into my-warehouse")
def ingest(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", parser=typed_input, help="Result files, or directories of them."
        ),
    ],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=typed_root, help="The warehouse; made if it does not exist."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model of all files given.")
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Experiment of all files given.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="NAME", help="Language of all files given.")
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN", help="Paths with named parts: {model}/{language}/{scenario}.json"
        ),
    ] = None,
    agent_cards: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            parser=typed_input,
            help="Agent cards with tool schemas: files, or a directory of them.",
        ),
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(
            metavar="SWEEP",
            help="What the whole sweep has, such as 441: a number of scenarios over all languages, "
            "a file that lists them, or the benchmark's data directory.",
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Forget files that no longer exist.")
    ] = False,
    score: Annotated[bool, typer.Option(help="Score what is new under every profile.")] = True,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify every byte, and repair what is damaged.")
    ] = False,
    fail_on_refused: Annotated[
        bool, typer.Option("--fail-on-refused", help="End with exit code 1 if a file is refused.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Take in files as they appear, until Ctrl-C.")
    ] = False,
    every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", parser=seconds, help="With --watch, look at least this often."
        ),
    ] = 5.0,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    *,
    engine: EngineOptions,
) -> None:
    """Bring a warehouse up to date with result files.

    Files that did not change are not read again. A file that cannot be read is listed by
    orchbench sources, with its reason.
    """
    placed = {"--model": model, "--experiment": experiment, "--language": language}
    for option, name in placed.items():
        if name == "":  # as of a variable of the shell that is not set
            raise SelectionError(f"{option} is empty; give it a name, or leave it out")
    warehouse = into or default_warehouse()
    if warehouse is None:
        *others, last = paths
        guess = call_of("ingest", *(others or (Path("PATH"),)), "--into", last)
        hint = f"; did you mean: {guess}?" if others or is_warehouse(last) else ""
        raise PathError(f"no warehouse is given: give --into DIR, or {HOW_TO_SET_IT}{hint}")
    for path in (path for path in paths if not is_address(path)):
        if any(mark in str(path) for mark in "*?[") and not path.exists():
            raise PathError(
                f"no file is named {path}; without quotes the shell expands such a pattern"
            )
        if is_warehouse(path):
            raise PathError(f"{path} is a warehouse; name the result files that go into it")
    what: dict[str, Any] = {
        "model": model,
        "experiment": experiment,
        "language": language,
        "pattern": pattern,
        "agent_cards": agent_cards or (),
        "expect": expect,
        "prune": prune,
        "jobs": jobs,
    }
    if engine.is_local:
        share_machine()  # before anything imports polars
    if watch:
        if verify or not score or fail_on_refused:
            raise PathError("--watch does not go with --verify, --no-score or --fail-on-refused")
        from orchbench_analytics.cli.watch import show_looks

        with engine.opened(warehouse, create=True) as opened:
            show_looks(opened, opened.watch(*paths, every=every, **what), quiet=quiet)
        return
    with (
        progress_bar(quiet=quiet or not engine.is_local) as progress,
        task_bar(quiet=quiet or engine.is_local) as task_progress,
        engine.opened(warehouse, create=True, progress=task_progress) as opened,
    ):
        summary = opened.ingest(*paths, score=score, verify=verify, progress=progress, **what)
    if not quiet:
        say_summary(summary, warehouse)
        if summary.found:
            _say_what_scores_lack(opened.manifest(), warehouse)
    if verify and _say_what_is_damaged(opened.verify(), warehouse):
        raise typer.Exit(FOUND_WRONG)
    if not summary.found or summary.is_unusable or (fail_on_refused and summary.refused):
        raise typer.Exit(FOUND_WRONG)


def _say_what_is_damaged(findings: list[Finding], warehouse: Path) -> bool:
    """Say which files are still damaged, and what to do about it; true if there are any."""
    prune = call_of("ingest", "PATH", "--into", warehouse, "--verify", "--prune")
    for name, fault in findings:
        remedy = remedy_for(warehouse, name)
        if name.startswith("parts/"):
            remedy = f"bring its input files back, or forget those that are gone with: {prune}"
        say(f"{warehouse / name} {fault}; {remedy}")
    return bool(findings)


def _say_what_scores_lack(manifest: Manifest, warehouse: Path) -> None:
    has_runs = any(part.row_counts.get("scenarios") for part in manifest.parts)
    if has_runs and not row_count(manifest, "tool_parameters"):
        say(
            "  no agent cards: under upstream, values may score lower than the evaluator's; "
            "give --agent-cards"
        )
    say_unchecked(manifest, warehouse)
