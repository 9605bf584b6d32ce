"""Making a report, top to bottom: sections, labels, a shard for each model, the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from orchbench_analytics.engines import Engine
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.outputs.audit import audit
from orchbench_analytics.pages.columns import packed
from orchbench_analytics.pages.page import PAGE_COMMENT, SCRIPT_COMMENT, page_text, piece_script
from orchbench_analytics.pages.sections import SECTIONS, audited, boards
from orchbench_analytics.pages.shards import shards, summaries
from orchbench_analytics.pages.source import Source
from orchbench_analytics.selection import find_contenders, profiles_with_rows, scored_profile
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.replace import (
    is_empty,
    is_sealed,
    place_for,
    refuse,
    sealed,
    staging_beside,
)

LARGEST_PAGE = 30_000_000
ANSWER_LIMIT = 20_000
MOST_STEPS = 300_000  # of a report that has every step, unless it is told to have them
TITLE = "OrchestrationBench report"
_FEW_STEPS = 20_000  # to start workers takes longer than to report on so many
_PAGE_SUFFIXES = (".html", ".htm")


class Report(NamedTuple):
    """The page to open, the size of all files, how many models, how many steps were left out."""

    page: Path
    byte_count: int
    model_count: int
    left_out_step_count: int = 0


class ReportOptions(NamedTuple):
    """What goes into a report; no models and no profiles mean all there are.

    `with_steps` says whether every step and answer goes in; None: if there are not too many.
    """

    models: Sequence[str] = ()
    profiles: Sequence[str] = ()
    answer_limit: int = ANSWER_LIMIT
    with_rules: bool = False
    title: str = TITLE
    largest_page: int = LARGEST_PAGE
    with_steps: bool | None = None


class PiecesTask(NamedTuple):
    """Pieces to make, by name, and the directory they go to."""

    make: Callable[[Source], Iterable[tuple[str, Any]]]
    source: Source
    directory: Path


def make_report(
    root: Path, manifest: Manifest, output: Path, options: ReportOptions, engine: Engine
) -> Report:
    """Write a report of a warehouse: a file, or a directory where it would be too large for one."""
    _require_page(output)
    output = place_for(output, root=root, manifest=manifest)
    _require_room(output)
    with staging_beside(output) as scratch:
        pieces = scratch / "pieces"
        pieces.mkdir()
        source = chosen_source(root, manifest, options, scratch.absolute())
        step_count = source.step_count()
        if options.with_steps is None:
            options = options._replace(with_steps=step_count <= MOST_STEPS)
        if options.with_steps:
            source.gather()
        alone = source._replace(threads=1)  # other tasks have the other cores
        tasks, is_small = _tasks(alone, pieces, options), step_count < _FEW_STEPS
        for _ in engine.run(write_pieces, tasks, is_small=is_small):
            pass
        if options.with_rules:
            _write(pieces / "rules", rules_piece(source, engine))
        page = _write_page(pieces, output, options)
        size = sum(path.stat().st_size for path in _files(page))
    left_out = 0 if options.with_steps else step_count
    return Report(page, size, len(source.models), left_out)


def chosen_source(
    root: Path, manifest: Manifest, options: ReportOptions, directory: Path
) -> Source:
    """The models and profiles of a warehouse that the options name; gathered rows go to a place."""
    models = _chosen_models(manifest, options.models)
    names = list(options.profiles) or profiles_with_rows(manifest)
    profiles = {name: scored_profile(root, manifest, name) for name in names}
    return Source(root, manifest, models, profiles, directory)


def section_names(source: Source) -> list[str]:
    """The pieces that are made from all models: a board for each profile, and the sections."""
    return [*_board_names(source), *SECTIONS]


def _board_names(source: Source) -> list[str]:
    return [f"board-{number}" for number in range(len(source.profiles))]


def section_piece(source: Source, name: str, options: ReportOptions) -> dict[str, Any]:
    """A piece of `section_names`; the core also has what the options say."""
    if name.startswith("board-"):
        profile = list(source.profiles)[int(name.removeprefix("board-"))]
        return boards(source.under(profile))[0]
    piece = SECTIONS[name](source)
    if name != "core":
        return piece
    return piece | {
        "title": options.title,
        "has_rules": options.with_rules,
        "answer_limit": options.answer_limit,
        "left_out_step_count": source.step_count() if options.with_steps is False else 0,
    }


def rules_piece(source: Source, engine: Engine) -> dict[str, Any]:
    """What each scoring rule changes."""
    return audited(audit(source.root, source.manifest, engine), source)


def _require_room(path: Path) -> None:
    """Refuse a file or a directory that is not an earlier report."""
    if is_empty(path):
        return
    page, pieces = path / "index.html", path / "pieces"
    if not is_sealed(page if path.is_dir() else path):
        raise refuse(path, "a report")
    if pieces.is_symlink() or (pieces.exists() and not pieces.is_dir()):
        raise refuse(pieces, "a directory")


def write_pieces(task: PiecesTask) -> None:
    """Make pieces and write them, packed."""
    for name, value in task.make(task.source):
        _write(task.directory / name, value)


def _chosen_models(manifest: Manifest, wanted: Sequence[str]) -> list[tuple[str, str]]:
    there = sorted({(part.model, part.experiment) for part in manifest.parts})
    if not there:
        raise SelectionError("the warehouse has no models to report on; see: orchbench ingest")
    return sorted({pair for name in wanted for pair in find_contenders(name, there)}) or there


def _tasks(source: Source, pieces: Path, options: ReportOptions) -> Iterator[PiecesTask]:
    """Every piece but the rules; those that take longest first, so that all cores end together."""
    for name in SECTIONS:
        yield PiecesTask(partial(_section, name=name, options=options), source, pieces)
    yield PiecesTask(_boards, source, pieces)
    if not options.with_steps:
        yield PiecesTask(summaries, source, pieces)
        return
    yield PiecesTask(_labels, source, pieces)
    first = 0
    for batch in source.batches():
        make = partial(shards, first=first, answer_limit=options.answer_limit)
        yield PiecesTask(make, batch, pieces)
        first += len(batch.models)


def _section(source: Source, *, name: str, options: ReportOptions) -> Iterator[tuple[str, Any]]:
    yield name, section_piece(source, name, options)


def _boards(source: Source) -> Iterator[tuple[str, Any]]:
    return zip(_board_names(source), boards(source), strict=True)


def _labels(source: Source) -> Iterator[tuple[str, Any]]:
    yield "labels", source.labels()["text"].to_list()


def _write(target: Path, value: object) -> None:
    target.write_text(packed(value), encoding="ascii")


def _require_page(output: Path) -> None:
    """Refuse an ending that stands for something else, such as `.pdf`."""
    suffix = output.suffix
    if suffix[1:].isalpha() and suffix not in _PAGE_SUFFIXES and not output.is_dir():
        raise PathError(f"{output}: a report is an .html file or a directory, not {suffix}")


def _directory_of(output: Path) -> Path:
    """Where the files of a large report lie: `report` for `report.html`."""
    return output.with_suffix("") if output.suffix in _PAGE_SUFFIXES else output


def _write_page(pieces: Path, output: Path, options: ReportOptions) -> Path:
    size = sum(path.stat().st_size for path in pieces.iterdir())
    directory = _directory_of(output)
    index = directory / "index.html"
    if size <= options.largest_page:
        staged = pieces / "page.html"
        whole = page_text(dict(_texts(pieces)), title=options.title)
        staged.write_bytes(sealed(whole, comment=PAGE_COMMENT))
        target = output if output.suffix in _PAGE_SUFFIXES and not output.is_dir() else index
        target.parent.mkdir(exist_ok=True)
        return staged.replace(target)
    _require_room(directory)
    scripts = {name: directory / "pieces" / f"{name}.js" for name, _ in _texts(pieces)}
    for path in scripts.values():
        if not is_empty(path) and not is_sealed(path):
            raise refuse(path, "a piece of a report")
    (directory / "pieces").mkdir(parents=True, exist_ok=True)
    for earlier in (directory / "pieces").glob("*.js"):
        if is_sealed(earlier):
            earlier.unlink()
    staged = pieces.with_name("script")
    for name, text in _texts(pieces):
        if name == "core":
            page = page_text({name: text}, title=options.title, may_load=True)
        else:
            staged.write_bytes(sealed(piece_script(name, text), comment=SCRIPT_COMMENT))
            staged.replace(scripts[name])
    staged.write_bytes(sealed(page, comment=PAGE_COMMENT))
    return staged.replace(index)


def _texts(pieces: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(pieces.iterdir()):
        if path.suffix != ".html":
            yield path.name, path.read_text(encoding="ascii")


def _files(page: Path) -> list[Path]:
    return [page, *page.parent.glob("pieces/*.js")] if page.name == "index.html" else [page]
