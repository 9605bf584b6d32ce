"""The manifest: what is in a warehouse, written last in one step.

A reader goes by the manifest, so it sees the last complete state. The manifest has the size and
hash of every file it names, and a checksum of its own. Files that a newer manifest no longer names
stay on the disk for a while, for readers that still use them: see `directories.collect_garbage`.

Whoever reads a table asks for its files here, and gets those that are what was written, or an error
that names the one which is not.
"""

from __future__ import annotations

import errno
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, lru_cache, wraps
from itertools import starmap
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypeVar

import msgspec

from orchbench_analytics.errors import OrchbenchError, StorageError, WarehouseError
from orchbench_analytics.store.bucket import Overtaken, Version
from orchbench_analytics.store.files import (
    MANIFEST,
    UNFINISHED,
    FileStamp,
    Stamps,
    columns_id,
    fault_of,
    read_stamps,
    replace_file,
    strangers,
    sync_files,
)
from orchbench_analytics.store.mirror import (
    LEFT_BEHIND_SECONDS,
    bucket_of,
    drop_damaged,
    fetch,
    find_faults,
    has_manifest,
    other_objects,
    put_again,
    put_files,
    read_manifest,
    replace_manifest,
)
from orchbench_analytics.tables import RAW_TABLES, SCORED_TABLES, TABLES

if TYPE_CHECKING:
    import polars as pl

# The layout on disk: how directories and files are named, and how the manifest describes them.
# Rows, columns and rules are not part of it: what other code made is recognised and made again.
FORMAT_VERSION = 7
_CHECKSUM = re.compile(rb'"checksum": ?"[0-9a-f]*"')
# Tables that grow with steps. Every other one is small, so it is hashed whenever it is read:
# leaderboards and comparisons are made from those alone.
_ROW_LEVEL = {
    "steps",
    "plans",
    "judgements",
    "scored_steps",
    "scored_arguments",
    "scored_plans",
    "plan_edits",
    "plan_matches",
}
_PLAIN_NAME = r"\w[\w-]*(?:\.\w+)*"
_PLAIN_PATH = re.compile(f"{_PLAIN_NAME}(?:/{_PLAIN_NAME})*", re.ASCII)
_MANY_FILES = 1_000
_FEW_DIRECTORIES = 16
_AT_ONCE = 32


def parquet_name(table: str) -> str:
    """The file of a table in its directory."""
    return f"{table}.parquet"


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A directory with a Parquet file for each table it has rows of.

    `columns_id` names the columns that its tables had when they were written. Its stamps are filled
    in when the manifest is saved.
    """

    directory: str
    row_counts: dict[str, int]
    columns_id: str = ""
    stamps: Stamps = {}

    def file_of(self, table: str) -> str:
        """The file of a table, by its path below the warehouse."""
        return f"{self.directory}/{parquet_name(table)}"


class Part(Holder, frozen=True, kw_only=True):
    """Rows of some files of one model, experiment and language, written once.

    `made_by` names the code that read the files.
    """

    part_id: str
    made_by: str = ""
    model: str
    experiment: str
    language: str


class ScoreGroup(Holder, frozen=True, kw_only=True):
    """Scores of some parts under one profile, written once.

    `unchecked_pattern_count` is of argument keys whose schema's pattern took too long to try.
    """

    group_id: str
    profile: str
    part_ids: list[str]
    unchecked_pattern_count: int = 0


class Gathered(Holder, frozen=True, kw_only=True):
    """The rows of small tables of many directories once more in one file each, for quick reading.

    They are those of parts, or of the scores under one profile. `covers` names the directories.
    """

    profile: str | None = None
    covers: list[str]


AnyHolder = TypeVar("AnyHolder", bound=Holder)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Manifest(msgspec.Struct, frozen=True):
    """Everything a reader needs to know: which files make up which table.

    `tables` are those of one directory each, by name: `sources`, `tool_parameters`,
    `expected_scenarios` and `model_tags`; `unreferenced` are paths that earlier manifests named,
    and since when (Unix time) none does; `made_by` names the code that placed the input files and
    read the agent cards. What was removed is kept by name, so that removing it again is not an
    error.
    """

    format_version: int = FORMAT_VERSION
    checksum: str = ""
    generation: int = 0
    made_by: str = ""
    tables: dict[str, Holder] = {}
    parts: list[Part] = []
    gathered: list[Gathered] = []
    profiles: dict[str, dict[str, str | float]] = {}
    scores: list[ScoreGroup] = []
    unreferenced: dict[str, int] = {}
    removed_models: list[tuple[str, str]] = []
    removed_profiles: list[str] = []


def unchecked_pattern_count(manifest: Manifest) -> int:
    """How many argument keys went without the check of their pattern, under the worst profile."""
    counts: Counter[str] = Counter()
    for group in manifest.scores:
        counts[group.profile] += group.unchecked_pattern_count
    return max(counts.values(), default=0)


class _Release(msgspec.Struct):
    """What a manifest of any release says of itself; the manifest of an export has neither."""

    format_version: int | None = None
    checksum: str | None = None


def load_manifest(root: Path) -> Manifest:
    """The manifest of an existing warehouse; what it says is decoded once."""
    try:
        content = read_manifest(root)
        manifest = _decoded(root, content.data)
    except FileNotFoundError as error:
        raise WarehouseError(_not_a_warehouse(root)) from error
    except NotADirectoryError as error:
        raise WarehouseError(f"{root} is a file; a warehouse is a directory") from error
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise WarehouseError(f"{root / MANIFEST} cannot be read: {error}") from error
    _versions[manifest.checksum] = content.version
    return manifest


@lru_cache(maxsize=2)
def _decoded(root: Path, data: bytes) -> Manifest:
    _require_our_format(root, msgspec.json.decode(data, type=_Release).format_version)
    manifest = msgspec.json.decode(data, type=Manifest)
    if manifest.checksum != checksum_of(data):
        raise WarehouseError(
            f"{root / MANIFEST} is damaged: its checksum is wrong; "
            "ingest again into another directory"
        )
    for name in (*named_files(manifest), *manifest.unreferenced):
        _require_inside(name)
    return manifest


def _require_inside(name: str) -> None:
    """Refuse a name that could lead out of the warehouse on any system.

    Each step of a path must be a plain name, which leaves no room for `..`, a drive or a root.
    """
    if _PLAIN_PATH.fullmatch(name) is None:
        raise WarehouseError(
            f"the manifest names {name!r}, which is not a path inside the warehouse; "
            "the manifest was changed by something else: ingest again into another directory"
        )


def _not_a_warehouse(root: Path) -> str:
    """What is there instead of a warehouse, and what may be meant."""
    given, is_local = quote(f"{root}"), bucket_of(root) is None
    said = f"{root} is not a warehouse (it has no manifest.json)"
    if (inner := _warehouse_below(root)) is not None:
        return f"{said}; did you mean {inner}?"
    if is_local and (root / UNFINISHED).is_file():
        said = f"{root} cannot be read yet, because its first ingest has not finished"
        return f"{said}; continue it with: orchbench ingest PATH --into {given}"
    if is_local and root.is_dir():
        return f"{said}; if it holds result files: orchbench ingest {given} --into DIR"
    if is_local and (close := _warehouse_of_like_name(root)) is not None:
        return f"{root} is not there; did you mean {close}?"
    return f"{root} is not there; make a warehouse with: orchbench ingest PATH --into {given}"


def _warehouse_of_like_name(root: Path) -> Path | None:
    """A warehouse beside a directory that is not there, if it may be meant."""
    beside = {path.parent.name: path.parent for path in root.parent.glob(f"*/{MANIFEST}")}
    return next((beside[name] for name in get_close_matches(root.name, beside, n=1)), None)


def _warehouse_below(root: Path) -> str | None:
    """A warehouse right below a place; in a bucket only the first directories are looked into."""
    bucket = bucket_of(root)
    if bucket is None:
        return next((f"{path.parent}" for path in root.glob(f"*/{MANIFEST}")), None)
    names, _ = bucket.list_directory("")
    found = (name for name in names[:_FEW_DIRECTORIES] if bucket.look(f"{name}/{MANIFEST}"))
    return next(map(bucket.address_of, found), None)


# In a bucket, which version of the object each manifest is that this process has read.
_versions: dict[str, Version] = {}


def _require_our_format(root: Path, version: int | None) -> None:
    if version is None:
        raise WarehouseError(
            f"{root / MANIFEST} cannot be read as that of a warehouse: it belongs to an export or "
            "to something else"
        )
    said = f"{root} has format {version}, this release reads format {FORMAT_VERSION}"
    if version < FORMAT_VERSION:
        raise WarehouseError(
            f"{said}: it was made by an older release; ingest again into another directory"
        )
    if version > FORMAT_VERSION:
        raise WarehouseError(
            f"{said}: it was made by a newer release; "
            "update with: pip install --upgrade orchbench-analytics"
        )


def save_manifest(root: Path, manifest: Manifest) -> Manifest:
    """Replace the manifest in one step; from here on readers see the new state.

    Every file it names is stamped and on the disk before it. Returns the manifest as saved.
    """
    new = [name for name, stamp in named_files(manifest).items() if stamp is None]
    sync_files([root / name for name in new], root=root)
    stamped = _stamped(root, manifest)
    if bucket_of(root) is not None:
        return _save_in_bucket(root, stamped, new)
    before = load_manifest(root) if has_manifest(root) else Manifest()
    forgotten = _forgotten(before, stamped)
    still_there = {n: since for n, since in forgotten.items() if (root / n).exists()}
    saved = msgspec.structs.replace(stamped, unreferenced=still_there)
    content = encode_manifest(saved)
    replace_file(root / MANIFEST, content)
    return msgspec.structs.replace(saved, checksum=checksum_of(content))


def _save_in_bucket(root: Path, manifest: Manifest, new: Collection[str]) -> Manifest:
    """Put the files that are not in the bucket yet, then the manifest.

    Raises Overtaken if another writer has replaced the manifest that this one was made from.
    """
    before = load_manifest(root) if has_manifest(root) else Manifest()
    if before.checksum != manifest.checksum:
        raise Overtaken(MANIFEST)
    known, stamps = named_files(before), named_files(manifest)
    lacking = {
        name: stamp
        for name, stamp in stamps.items()
        if stamp is not None and (name in new or name not in known)
    }
    put = put_files(root, lacking, before=known, forgotten=before.unreferenced)
    saved = _with_stamps(manifest, put)
    young = time.time() - LEFT_BEHIND_SECONDS
    forgotten = {n: since for n, since in _forgotten(before, saved).items() if since > young}
    content = encode_manifest(msgspec.structs.replace(saved, unreferenced=forgotten))
    base = _versions[before.checksum] if before.checksum else None
    checksum = checksum_of(content)
    _versions[checksum] = replace_manifest(root, content, base=base)
    put_again(root, (name for name in put if name.rpartition("/")[0] in before.unreferenced))
    return msgspec.structs.replace(saved, unreferenced=forgotten, checksum=checksum)


def _stamped(root: Path, manifest: Manifest) -> Manifest:
    """The manifest with the stamps that its new files had when they were written."""

    def stamped(holder: AnyHolder) -> AnyHolder:
        if holder.stamps or not holder.row_counts:  # no bucket has a directory without files
            return holder
        written = read_stamps(root / holder.directory)
        stamps = {table: written[parquet_name(table)] for table in holder.row_counts}
        return msgspec.structs.replace(holder, stamps=stamps)

    return _with_holders(manifest, stamped)


def _with_stamps(manifest: Manifest, stamps: Mapping[str, FileStamp]) -> Manifest:
    """The manifest with these stamps of some of its files."""

    def stamped(holder: AnyHolder) -> AnyHolder:
        own = {
            table: stamps.get(holder.file_of(table), stamp)
            for table, stamp in holder.stamps.items()
        }
        return msgspec.structs.replace(holder, stamps=own)

    return _with_holders(manifest, stamped)


class _Change(Protocol):
    def __call__(self, holder: AnyHolder) -> AnyHolder: ...


def _with_holders(manifest: Manifest, change: _Change) -> Manifest:
    """The manifest with every directory changed."""
    return msgspec.structs.replace(
        manifest,
        tables={name: change(table) for name, table in manifest.tables.items()},
        parts=[change(part) for part in manifest.parts],
        scores=[change(group) for group in manifest.scores],
        gathered=[change(gathered) for gathered in manifest.gathered],
    )


def _forgotten(before: Manifest, manifest: Manifest) -> dict[str, int]:
    """What earlier manifests named and this one does not, and since when."""
    since = dict.fromkeys(live_paths(before), int(time.time())) | before.unreferenced
    live = live_paths(manifest)
    return {name: when for name, when in sorted(since.items()) if name not in live}


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as it is stored, with its checksum in it."""
    bare = msgspec.structs.replace(manifest, checksum="")
    content = msgspec.json.format(msgspec.json.encode(bare), indent=1)
    return content.replace(b'"checksum": ""', f'"checksum": "{checksum_of(content)}"'.encode(), 1)


def checksum_of(content: bytes) -> str:
    """The hash of a stored manifest, byte by byte, but for the checksum itself.

    It does not depend on what this release knows: a manifest may have fields of other releases.
    """
    return hashlib.sha256(_CHECKSUM.sub(b'"checksum": ""', content, count=1)).hexdigest()


def load_or_start(root: Path) -> Manifest:
    """The manifest of a warehouse, or an empty one where there is none yet."""
    if has_manifest(root):
        return load_manifest(root)
    if root.exists() and not root.is_dir():
        raise WarehouseError(f"{root} is a file; a warehouse is a directory")
    if bucket_of(root) is not None:
        others = other_objects(root)
    else:
        others = strangers(root) if root.exists() else []
    if others:
        raise WarehouseError(
            f"{root} holds other things ({', '.join(others[:3])}) and has no manifest of a "
            "warehouse; name a new or empty directory"
        )
    return Manifest()


def is_warehouse(directory: Path) -> bool:
    """Whether a directory has the manifest of a warehouse, of this release or another."""
    try:
        said = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=_Release)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return said.format_version is not None and said.checksum is not None


def warehouse_around(path: Path) -> Path | None:
    """The warehouse that a path lies in or is, links followed; null if it is in none."""
    real = path.resolve()
    return next(filter(is_warehouse, (real, *real.parents)), None)


def holders(manifest: Manifest) -> list[Holder]:
    """Every directory that a manifest names."""
    return [*row_holders(manifest), *manifest.gathered]


def row_holders(manifest: Manifest) -> list[Holder]:
    """The directories that together have each row of the warehouse once."""
    return [*manifest.tables.values(), *manifest.parts, *manifest.scores]


def live_paths(manifest: Manifest) -> set[str]:
    """The directories that a manifest names, by their paths below the warehouse."""
    return {holder.directory for holder in holders(manifest)}


def named_files(manifest: Manifest) -> dict[str, FileStamp | None]:
    """Every file that a manifest names, with its stamp; new ones have none before it is saved."""
    return {
        holder.file_of(table): holder.stamps.get(table)
        for holder in holders(manifest)
        for table in holder.row_counts
    }


def table_files(root: Path, manifest: Manifest, table: str) -> list[Path]:
    """The Parquet files that make up a table, if they are as they were written.

    Tables of steps are known by their bytes and rows alone; of all others every byte is read.
    Raises an error in plain words if another release wrote them with other columns.
    """
    there = {holder.directory: holder for holder in row_holders(manifest)}
    for gathered in manifest.gathered:
        covered = set(gathered.covers)
        if table in gathered.row_counts and there.keys() >= covered:
            there = {name: holder for name, holder in there.items() if name not in covered}
            there[gathered.directory] = gathered
    return files_of(root, list(there.values()), table)


def scan_table(root: Path, manifest: Manifest, table: str) -> pl.LazyFrame:
    """The rows of a table; only those that are asked for are read."""
    from orchbench_analytics.store.parquet import scan_files  # polars: not every command needs it

    return scan_files(table_files(root, manifest, table), TABLES[table])


def files_of(root: Path, holders: Sequence[Holder], table: str) -> list[Path]:
    """The files of a table in some directories, if they are as they were written."""
    stamps = {
        holder.file_of(table): holder.stamps.get(table)
        for holder in holders
        if holder.row_counts.get(table)
    }
    rows = sum(holder.row_counts.get(table, 0) for holder in holders)
    if table in _ROW_LEVEL:
        _require_sizes(root, stamps, rows=rows)
    else:
        require_whole(root, stamps, read=True)
    others = [h for h in holders if h.row_counts.get(table) and h.columns_id != columns_now(h)]
    if others:
        _require_columns(root, table, [root / holder.file_of(table) for holder in others])
    return [Path(root) / name for name in stamps]  # of a mirror too, the files that lie here


def columns_now(holder: Holder) -> str:
    """The `columns_id` that a directory of this kind gets if this release writes it."""
    if isinstance(holder, ScoreGroup):
        return _columns_of(tuple(table.name for table in SCORED_TABLES))
    if isinstance(holder, Gathered) and holder.profile is not None:
        return _columns_of(tuple(table.name for table in SCORED_TABLES))
    if isinstance(holder, Part | Gathered):
        return _columns_of(tuple(table.name for table in RAW_TABLES))
    return _columns_of(tuple(holder.row_counts))


@cache
def _columns_of(names: tuple[str, ...]) -> str:
    """A name for declared columns; tags have those that people gave them."""
    return columns_id(TABLES[name] for name in names if name in TABLES)


def _require_columns(root: Path, table: str, files: Sequence[Path]) -> None:
    """Say in a sentence if a file has other columns than this release declares."""
    import pyarrow.parquet as pq  # not every command needs it

    for file in files:
        declared = TABLES[table].column_names
        there = pq.read_schema(file).names
        lacking = [name for name in declared if name not in there]
        surplus = [name for name in there if name not in declared]
        if lacking or surplus:
            said = f"lacks the column {', '.join(lacking)}" if lacking else ""
            said = said or f"has the column {', '.join(surplus)}, which this release does not have"
            raise WarehouseError(
                f"{root}: the table {table} was written by another release and {said}; bring it "
                f"up to date with: orchbench ingest PATH --into {quote(f'{root}')}"
            )


def _require_sizes(root: Path, stamps: Mapping[str, FileStamp | None], *, rows: int) -> None:
    """Raise an error unless the files named have the size each and the rows in all as written."""
    from orchbench_analytics.store.parquet import count_rows  # polars, as above

    require_whole(root, stamps, read=False)
    if stamps and count_rows([root / name for name in stamps]) != rows:
        require_whole(root, stamps, read=True)
        raise WarehouseError(
            f"{root}: files of one table have other rows than the {rows:,} of the manifest: "
            f"{', '.join(list(stamps)[:3])}; ingest again into another directory"
        )


def require_whole(root: Path, stamps: Mapping[str, FileStamp | None], *, read: bool) -> None:
    """Raise an error that names the first file which is not as it was written.

    Those that lie in a bucket are here afterwards.
    """
    in_bucket = bucket_of(root) is not None
    if in_bucket:
        fetch(root, stamps)
    faulty = _faults_in(root, stamps, read=read)
    if faulty and in_bucket:  # it may be the copy in the cache that is damaged
        suspect = {name: stamps[name] for name in faulty}
        fetch(root, suspect, is_suspect=True)
        still = _faults_in(root, suspect, read=read)
        faulty = find_faults(root, {name: stamps[name] for name in still})
    for name, fault in faulty.items():
        raise damage_error(root, name, fault)


def _faults_in(root: Path, stamps: Mapping[str, FileStamp | None], *, read: bool) -> dict[str, str]:
    def fault_in(name: str) -> str | None:
        stamp = stamps[name]
        return None if stamp is None else fault_of(root / name, stamp, read=read)

    if len(stamps) < _MANY_FILES:
        faults = list(map(fault_in, stamps))
    else:  # a shared file system takes its time for each answer, but gives many at once
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            faults = list(threads.map(fault_in, stamps))
    return {name: fault for name, fault in zip(stamps, faults, strict=True) if fault is not None}


def bring_tables(root: Path, holders: Iterable[Holder], tables: Collection[str]) -> None:
    """Bring tables of some directories here, for code that reads their files by name.

    Raises an error that names a file which is gone or has another size.
    """
    stamps = {
        holder.file_of(table): holder.stamps.get(table)
        for holder in holders
        for table in holder.row_counts
        if table in tables
    }
    require_whole(root, stamps, read=False)


def damage_error(root: Path, name: str, fault: str) -> WarehouseError:
    """What is wrong with a file of a warehouse, and what to do about it."""
    return WarehouseError(f"{root / name} {fault}; {remedy_for(root, name)}")


def remedy_for(root: Path, name: str) -> str:
    """What to do about a damaged file: most are made again, but not what only people know."""
    warehouse = quote(f"{root}")
    if name.startswith("sources/"):
        return "ingest again into another directory"
    if name.startswith("expected_scenarios/"):
        return f"say again what to expect with: orchbench ingest PATH --into {warehouse} --expect …"
    if name.startswith("model_tags/"):
        return f"give all tags again with: orchbench tag {warehouse} FILE --replace"
    return f"build it again with: orchbench ingest PATH --into {warehouse} --verify"


def narrow(
    manifest: Manifest,
    *,
    profile: str | None = None,
    contenders: Collection[tuple[str, str]] | None = None,
    languages: Collection[str] | None = None,
) -> Manifest:
    """The manifest with only the parts and scores that can have rows about what is asked for."""
    parts = [
        part
        for part in manifest.parts
        if (contenders is None or (part.model, part.experiment) in contenders)
        and (languages is None or part.language in languages)
    ]
    part_ids = {part.part_id for part in parts}
    scores = [
        group
        for group in manifest.scores
        if profile in (None, group.profile) and not part_ids.isdisjoint(group.part_ids)
    ]
    rules = {name: rules for name, rules in manifest.profiles.items() if profile in (None, name)}
    return msgspec.structs.replace(manifest, parts=parts, scores=scores, profiles=rules)


def row_count(manifest: Manifest, table: str) -> int:
    """How many rows a table has, by the manifest."""
    return sum(holder.row_counts.get(table, 0) for holder in row_holders(manifest))


# Damage


_READERS = ("polars", "duckdb", "_duckdb", "pyarrow", "msgspec")


class Finding(NamedTuple):
    """A file of a warehouse, by its path below it, and what is wrong with it."""

    name: str
    fault: str


def verify(root: Path, manifest: Manifest, *, read: bool = True) -> list[Finding]:
    """What is wrong with the files that a manifest names; by sizes alone if they are not read.

    In a bucket every byte is read.
    """
    if bucket_of(root) is not None:
        return list(starmap(Finding, find_faults(root, named_files(manifest)).items()))
    faults = (
        (name, "has no checksum" if stamp is None else fault_of(root / name, stamp, read=read))
        for name, stamp in named_files(manifest).items()
    )
    return [Finding(name, fault) for name, fault in faults if fault is not None]


def without_damaged_scores(root: Path, manifest: Manifest, *, verify: bool = False) -> Manifest:
    """The manifest without what can be made again from its parts; the same one if all is whole."""
    kept = msgspec.structs.replace(
        manifest,
        scores=[g for g in manifest.scores if not is_damaged(root, g, read=verify)],
        gathered=[g for g in manifest.gathered if not is_damaged(root, g, read=verify)],
    )
    return manifest if kept == manifest else kept


def is_damaged(root: Path, holder: Holder, *, read: bool) -> bool:
    """Whether a table of a directory is gone or damaged, by its size or (read) by every byte.

    Buckets do not lose objects, so what lies in one is trusted unless it is to be read; whoever
    fetches a file compares its hash.
    """
    files = {holder.file_of(table): stamp for table, stamp in holder.stamps.items()}
    if bucket_of(root) is not None:
        return read and bool(find_faults(root, files))
    return any(fault_of(root / n, stamp, read=read) is not None for n, stamp in files.items())


@contextmanager
def naming_damage(root: Path) -> Iterator[None]:
    """Turn an error of a library that reads files into ours, if a file is damaged.

    All other errors are left alone: to find damage may mean to read the whole warehouse. After an
    error of the system only the sizes of files are looked at, unless a disk could not be read: a
    full disk or a closed directory says nothing of their content.
    """
    try:
        yield
    except (OrchbenchError, BrokenPipeError):
        raise
    except Exception as error:  # each library has its own for a file it cannot read
        if isinstance(error, OSError) or type(error).__module__.startswith(_READERS):
            read = getattr(error, "errno", None) in (None, errno.EIO)
            for finding in _findings(root, read=read):
                raise damage_error(root, *finding) from error
        raise


def names_damage(method: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let a method name the damaged file it fails at, of the warehouse at its object's `path`."""

    @wraps(method)
    def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        warehouse: Any = args[0]
        with naming_damage(warehouse.path):
            return method(*args, **kwargs)

    return guarded


def _findings(root: Path, *, read: bool) -> list[Finding]:
    """What is wrong with a warehouse, sizes first; nothing where there is none."""
    try:
        manifest = load_manifest(root)
        if bucket_of(root) is not None:
            dropped = drop_damaged(root, named_files(manifest)) if read else []
            return [Finding(name, "was damaged in the cache; run this again") for name in dropped]
        by_size = verify(root, manifest, read=False)
        return by_size or (verify(root, manifest) if read else [])
    except (WarehouseError, StorageError):
        return []
