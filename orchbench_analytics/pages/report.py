"""Making a report, top to bottom: sections, labels, core, a shard per model, the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from orchbench_analytics.engines import Engine
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.pages import write
from orchbench_analytics.pages.columns import columns_of, packed
from orchbench_analytics.pages.core import core, label_texts
from orchbench_analytics.pages.sections import SECTIONS, Source, rules
from orchbench_analytics.pages.shards import ShardTask, manifest_of, write_shard
from orchbench_analytics.pages.sweep import Sweep

LARGEST_PAGE = 30_000_000
ANSWER_LIMIT = 20_000
TITLE = "OrchestrationBench report"
_FIRST_PROFILE = "spec"
_PAGE_SUFFIXES = (".html", ".htm")


class Report(NamedTuple):
    """What was written: the page to open, the size of all files, and how many models."""

    page: Path
    byte_count: int
    model_count: int


class ReportOptions(NamedTuple):
    """What goes into a report; no models and no profiles mean all there are."""

    models: Sequence[str] = ()
    profiles: Sequence[str] = ()
    answer_limit: int = ANSWER_LIMIT
    with_rules: bool = False
    title: str = TITLE
    largest_page: int = LARGEST_PAGE


def make_report(warehouse: Sweep, output: Path, options: ReportOptions, engine: Engine) -> Report:
    """Write a report of a warehouse: a file, or a directory where it would be too large for one."""
    directory = _directory_of(output)
    for path in {output, directory}:
        if path.is_dir() and any(path.iterdir()) and not (path / "index.html").is_file():
            raise PathError(f"{path} holds something else; name a new file or an empty directory")
    output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=output.parent, prefix=".report-") as scratch:
        pieces = Path(scratch)
        models = _chosen_models(warehouse, options.models)
        _write_pieces(warehouse, pieces, models, options, engine)
        page = _write_page(pieces, output, options)
        size = sum(path.stat().st_size for path in _files(page))
    return Report(page, size, len(models))


def _chosen_models(warehouse: Sweep, wanted: Sequence[str]) -> list[tuple[str, str]]:
    there = sorted({(part.model, part.experiment) for part in warehouse.manifest().parts})
    if not there:
        raise SelectionError("the warehouse has no models to report on; see: orchbench ingest")
    unknown = [
        name for name in wanted if not any(name in (model, f"{model}/{e}") for model, e in there)
    ]
    if unknown:
        known = ", ".join(sorted({model for model, _ in there})[:10])
        raise SelectionError(f"no model named {unknown[0]!r}; there are, for example: {known}")
    return [(m, e) for m, e in there if not wanted or m in wanted or f"{m}/{e}" in wanted]


def _chosen_profiles(warehouse: Sweep, wanted: Sequence[str]) -> list[str]:
    """The profiles of the report, `spec` first: others are told by what they change."""
    names = list(wanted) or sorted(warehouse.manifest().profiles, key=lambda n: n != _FIRST_PROFILE)
    return [warehouse.profile(name).name for name in names]


def _write_pieces(
    warehouse: Sweep,
    pieces: Path,
    models: Sequence[tuple[str, str]],
    options: ReportOptions,
    engine: Engine,
) -> None:
    names = _chosen_profiles(warehouse, options.profiles)
    with warehouse.connect() as connection:
        source = Source(warehouse, connection, models, names)
        parts = {"rules": rules} if options.with_rules else {}
        for name, section in (SECTIONS | parts).items():
            tables = {key: columns_of(frame) for key, frame in section(source).items()}
            _write_piece(pieces, name, tables)
        texts = label_texts(connection)
        _write_piece(pieces, "labels", texts)
        overview = core(warehouse, connection, models, names) | {
            "title": options.title,
            "has_rules": options.with_rules,
            "answer_limit": options.answer_limit,
        }
    _write_piece(pieces, "core", overview)
    numbers = {text: number for number, text in enumerate(texts)}
    manifest = warehouse.manifest()
    profiles = {name: warehouse.profile(name) for name in names}
    tasks = (
        ShardTask(
            warehouse.path,
            manifest_of(manifest, *model),
            *model,
            profiles,
            numbers,
            options.answer_limit,
            pieces / f"model-{number}",
        )
        for number, model in enumerate(models)
    )
    for _ in engine.run(write_shard, tasks, is_small=len(models) < 4):
        pass


def _write_piece(pieces: Path, name: str, value: object) -> None:
    (pieces / name).write_text(packed(value), encoding="ascii")


def _directory_of(output: Path) -> Path:
    """Where the files of a large report lie: `report` for `report.html`."""
    return output.with_suffix("") if output.suffix in _PAGE_SUFFIXES else output


def _write_page(pieces: Path, output: Path, options: ReportOptions) -> Path:
    size = sum(path.stat().st_size for path in pieces.iterdir())
    directory = _directory_of(output)
    if size <= options.largest_page:
        staged = pieces / "page.html"
        write.write_page(staged, dict(_texts(pieces)), title=options.title)
        page = output if output.suffix in _PAGE_SUFFIXES else directory / "index.html"
        page.parent.mkdir(exist_ok=True)
        return staged.replace(page)
    (directory / "pieces").mkdir(parents=True, exist_ok=True)
    for earlier in (directory / "pieces").glob("*.js"):
        earlier.unlink()
    for name, text in _texts(pieces):
        if name == "core":
            write.write_directory(directory, text, title=options.title)
        else:
            path = directory / "pieces" / f"{name}.js"
            path.write_text(write.piece_script(name, text), encoding="ascii")
    return directory / "index.html"


def _texts(pieces: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(pieces.iterdir()):
        if path.suffix != ".html":
            yield path.name, path.read_text(encoding="ascii")


def _files(page: Path) -> list[Path]:
    return [page, *page.parent.glob("pieces/*.js")] if page.name == "index.html" else [page]
