"""A warehouse in a bucket: its mirror in the cache, from which everything reads as from any disk.

    CACHE/<name>/bucket.json     the address
    CACHE/<name>/manifest        the manifest that was read last, below a line with its version
    CACHE/<name>/incoming/…      files before they are complete
    CACHE/<name>/warehouse/…     what `files.py` says of a warehouse, as far as it was needed here

Files are immutable and named by what they were made from, so a file that is here is the one that is
there; its hash is checked when it comes. A reader asks for the manifest, which costs a few bytes if
it is the one from last time, and fetches the files it lacks.

A writer does its work in the mirror, puts the new files beside the old ones, and then replaces the
manifest, if it is still the one that was read. Otherwise it was overtaken by another writer: it
takes the new manifest and does again what is left to do. No lock is needed for that; that of the
mirror keeps the processes of one machine from doing the same work twice.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from orchbench_analytics.errors import PathError, StorageError, Unreachable, WarehouseError
from orchbench_analytics.paths import is_address, local_path
from orchbench_analytics.store.bucket import (
    AT_ONCE,
    Bucket,
    Content,
    Entry,
    Overtaken,
    Version,
    endpoint_of,
)
from orchbench_analytics.store.files import (
    KEPT,
    LOCK,
    MANIFEST,
    FileStamp,
    fault_of,
    put_in_place,
    stamp_of,
)

CACHE_VARIABLE = "ORCHBENCH_CACHE"
SIZE_VARIABLE = "ORCHBENCH_CACHE_SIZE"
LEFT_BEHIND_SECONDS = 24 * 3600  # after which what no manifest names was left by a killed writer
_MADE_BY = "orchbench-analytics"
_MARK = "bucket.json"
_LAST_MANIFEST = "manifest"
_INCOMING = "incoming"
_SWEPT = "swept"
_WAREHOUSE = "warehouse"
_DEFAULT_SIZE = "20GB"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_RECENT_SECONDS = 600  # a file used since then may still be open
_NOTED_SECONDS = 60  # how exactly it is known when a file was used last
_MUCH = 8 * 2**20  # bytes to fetch that are worth a bar
_ATTEMPTS = 6
_OUR_OBJECT = re.compile(rf"((?:{'|'.join(KEPT)})/[0-9a-f]{{20}})/[a-z_]+\.(?:parquet|json)")


class _Mark(msgspec.Struct):
    made_by: str
    address: str


_PathHere: type[Path] = type(Path())  # which class it is depends on the system


class Mirror(_PathHere):  # type: ignore[valid-type, misc]
    """A path in the cache; to people it is shown as the address that it mirrors."""

    def __format__(self, spec: str) -> str:
        text = str(self)
        for above in (self, *self.parents):
            bucket = bucket_of(above)
            if bucket is not None:
                below = text.removeprefix(str(above)).replace(os.sep, "/")
                return format(f"{bucket.address}{below}", spec)
        return format(text, spec)


def root_of(given: str | Path) -> Path:
    """The warehouse that was typed: a directory, or the mirror of a bucket."""
    if isinstance(given, Mirror):
        return given
    return _mirror_of(str(given)) if is_address(given) else local_path(given)


def bucket_of(root: Path) -> Bucket | None:
    """The bucket that a directory mirrors; none for a directory that is a warehouse itself."""
    known = _buckets.get(str(root))
    if known is None and root.name == _WAREHOUSE:
        try:
            mark = msgspec.json.decode((root.parent / _MARK).read_bytes(), type=_Mark)
        except (OSError, msgspec.DecodeError):
            return None
        if mark.made_by == _MADE_BY:
            known = _buckets.setdefault(str(root), Bucket(mark.address))
    return known


_buckets: dict[str, Bucket] = {}


def _mirror_of(address: str) -> Mirror:
    bucket = Bucket(address)
    # Two endpoints may have buckets of one name.
    digest = hashlib.sha256(f"{bucket.address}\n{endpoint_of(bucket.address)}".encode())
    place = _cache() / digest.hexdigest()[:20]
    root = Mirror(place / _WAREHOUSE)
    if bucket_of(root) is None:
        try:
            (place / _INCOMING).mkdir(parents=True, exist_ok=True)
            _replace(place / _MARK, msgspec.json.encode(_Mark(_MADE_BY, bucket.address)))
        except OSError as error:
            raise PathError(
                f"the cache {place.parent} cannot be written: {error.strerror}; "
                f"name another directory with {CACHE_VARIABLE}"
            ) from error
    return root


def _cache() -> Path:
    named = os.environ.get(CACHE_VARIABLE)
    return local_path(named or "~/.cache/orchbench").absolute()


# The manifest


def read_manifest(root: Path) -> Content:
    """The manifest of a warehouse as it is now, and its version if it lies in a bucket.

    Raises FileNotFoundError if there is none.
    """
    bucket = bucket_of(root)
    if bucket is None:
        return Content((root / MANIFEST).read_bytes(), Version(None))
    known = _last_manifest(root)
    now = bucket.read(MANIFEST, unless=known.version if known else None)
    if now is not None:
        _keep_manifest(root, now)
        return now
    assert known is not None, "only what is known can be unchanged"
    return known


def has_manifest(root: Path) -> bool:
    """Whether there is a warehouse."""
    if bucket_of(root) is None:
        return (root / MANIFEST).exists()
    try:
        read_manifest(root)
    except FileNotFoundError:
        return False
    return True


def replace_manifest(root: Path, content: bytes, *, base: Version | None) -> Version:
    """Replace the manifest in the bucket, if it is still the one of the version `base`.

    A store may do its work and its answer be lost, so after any trouble the manifest is read again:
    it is ours, or still the base, or another writer's. Raises Overtaken in the last case.
    """
    bucket = _require_bucket(root)
    trouble: Exception | None = None
    for attempt in range(_ATTEMPTS):
        try:
            version = bucket.put(MANIFEST, content, replacing=base or "nothing")
            break
        except (Overtaken, StorageError) as error:
            trouble = error
        now = _read_if_there(bucket)
        if now is not None and now.data == content:
            version = now.version
            break
        if (now.version if now is not None else None) != base:
            raise Overtaken(MANIFEST)
        time.sleep(random.uniform(0, 0.1 * 2**attempt))
    else:
        raise Unreachable(
            f"{bucket.address} could not be changed, and is as it was: {trouble}"
        ) from trouble
    _keep_manifest(root, Content(content, version))
    return version


def _read_if_there(bucket: Bucket) -> Content | None:
    try:
        return bucket.read(MANIFEST)
    except FileNotFoundError:
        return None


def _last_manifest(root: Path) -> Content | None:
    try:
        first, _, data = (root.parent / _LAST_MANIFEST).read_bytes().partition(b"\n")
        return Content(data, msgspec.json.decode(first, type=Version))
    except (OSError, msgspec.DecodeError):
        return None


def _keep_manifest(root: Path, content: Content) -> None:
    """Keep a manifest and its version in one file, so that no other process can mix them."""
    data = msgspec.json.encode(content.version) + b"\n" + content.data
    _replace(root.parent / _LAST_MANIFEST, data)


# Files


def fetch(root: Path, stamps: Mapping[str, FileStamp | None], *, is_suspect: bool = False) -> None:
    """Fetch the files of a warehouse that are not here, several at once, and check their hashes.

    A file without a stamp is one that this process is writing. `is_suspect`: fetch files again that
    are here. One that is not in the bucket, or not as it was written, the caller finds missing.
    """
    bucket = bucket_of(root)
    if bucket is None:
        return
    lacking = {
        name: stamp
        for name, stamp in stamps.items()
        if stamp is not None and (is_suspect or not _is_here(root / name, stamp))
    }
    if not lacking:
        return

    def get(name: str) -> int:
        with suppress(FileNotFoundError):
            data = _read(bucket, name)
            if stamp_of(data) == lacking[name]:
                _bring_in(root, name, data)
        return lacking[name].byte_count

    byte_count = sum(stamp.byte_count for stamp in lacking.values())
    with _bar(byte_count) as advance, ThreadPoolExecutor(AT_ONCE) as threads:
        for count in threads.map(get, lacking):
            advance(count)
    make_room(root)


def _is_here(path: Path, stamp: FileStamp) -> bool:
    try:
        status = path.stat()
        if status.st_size != stamp.byte_count:
            return False
        if time.time() - status.st_mtime > _NOTED_SECONDS:
            os.utime(path)
    except OSError:
        return False
    return True


def _read(bucket: Bucket, name: str) -> bytes:
    content = bucket.read(name)
    assert content is not None, "no version was given"
    return content.data


def _bring_in(root: Path, name: str, data: bytes) -> None:
    """Let a file appear in the mirror, complete."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = root.parent / _INCOMING / os.urandom(16).hex()
    staged.write_bytes(data)
    try:
        staged.replace(path)
    except FileNotFoundError:  # its directory was empty, and another process removed it
        path.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(path)


def _replace(path: Path, data: bytes) -> None:
    staged = path.parent / _INCOMING / os.urandom(16).hex()
    staged.write_bytes(data)
    put_in_place(staged, path)


@contextmanager
def _bar(byte_count: int) -> Iterator[Callable[[int], object]]:
    """A bar on a terminal, if there is much to fetch."""
    if byte_count < _MUCH or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = ("fetching", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=byte_count)
        yield lambda count: bar.advance(task, count)


def put_files(
    root: Path,
    new: Mapping[str, FileStamp],
    *,
    before: Mapping[str, FileStamp | None],
    forgotten: Collection[str],
) -> dict[str, FileStamp]:
    """Put new files of the mirror into the bucket; returns the stamps of those that lie there now.

    before: the files of the manifest that is to be replaced.
    forgotten: directories that an earlier manifest named; they may be collected at any moment.
    """
    bucket = _require_bucket(root)

    def put(name: str) -> FileStamp:
        # An answer may be lost after the store has done its work, so both are looked into.
        with suppress(Overtaken, StorageError):
            bucket.put(name, root / name, replacing="nothing")
            return new[name]
        is_doomed = name.rpartition("/")[0] in forgotten
        return _settle(root, bucket, name, new[name], before.get(name), is_doomed=is_doomed)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return dict(zip(new, threads.map(put, new), strict=True))


def _settle(
    root: Path,
    bucket: Bucket,
    name: str,
    ours: FileStamp,
    before: FileStamp | None,
    *,
    is_doomed: bool,
) -> FileStamp:
    """Decide between our file and one of its name that is in the bucket; returns what holds.

    Names say what a file was made from, so both have the same rows. Another release of a library
    may write them in other bytes, and then the file that was there first stays, since another
    manifest may name it. One that is damaged is replaced. So is one that may be collected soon: to
    put it again makes it young.
    """
    there = bucket.look(name)
    if there is not None:
        data = _read(bucket, name)
        theirs = stamp_of(data)
        is_whole = theirs in (ours, before)
        is_whole = is_whole or (before is None and _has_same_rows(data, root / name))
        is_young = not is_doomed and time.time() - there.put_at < LEFT_BEHIND_SECONDS / 2
        if is_whole and theirs != ours:
            _bring_in(root, name, data)
        if not is_whole or not is_young:
            bucket.put(name, root / name, replacing="anything")
        return theirs if is_whole else ours
    bucket.put(name, root / name, replacing="anything")
    return ours


def put_again(root: Path, names: Iterable[str]) -> None:
    """Put files again that another writer deleted just before a new manifest names them."""
    bucket = _require_bucket(root)
    for name in names:
        if bucket.look(name) is None:
            bucket.put(name, root / name, replacing="anything")


def _has_same_rows(data: bytes, path: Path) -> bool:
    """Whether Parquet in memory is whole and has the rows of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        theirs = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True).read()
    except (OSError, pa.ArrowException):
        return False
    ours = pq.ParquetFile(path).read()
    return bool(theirs.equals(ours))


def find_faults(root: Path, stamps: Mapping[str, FileStamp | None]) -> dict[str, str]:
    """What is wrong with files in the bucket, by every byte of them."""
    bucket = _require_bucket(root)

    def fault(name: str) -> str | None:
        stamp = stamps[name]
        if stamp is None:
            return "has no checksum"
        try:
            return stamp.damage(stamp_of(_read(bucket, name)))
        except FileNotFoundError:
            return "is gone"

    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = zip(stamps, threads.map(fault, stamps), strict=True)
        return {name: said for name, said in found if said is not None}


def drop_damaged(root: Path, stamps: Mapping[str, FileStamp | None]) -> list[str]:
    """Remove damaged copies from the mirror; returns their names."""
    dropped = []
    for name, stamp in stamps.items():
        is_here = stamp is not None and (root / name).exists()
        if is_here and stamp is not None and fault_of(root / name, stamp, read=True) is not None:
            (root / name).unlink(missing_ok=True)
            dropped.append(name)
    return dropped


def other_objects(root: Path) -> list[str]:
    """What lies at an address without a manifest and is not named as a killed ingest leaves it."""
    bucket = _require_bucket(root)
    directories, objects = bucket.list_directory("")
    names = {*directories, *(entry.name for entry in objects)} - {""}
    if others := sorted(names - {*KEPT}):
        return others
    below = bucket.list_objects() if names else []
    return [entry.name for entry in below if _OUR_OBJECT.fullmatch(entry.name) is None]


# Removing what is no longer needed


def sweep(
    root: Path,
    *,
    live: Collection[str],
    unreferenced: Mapping[str, int],
    grace_seconds: float,
    left_behind_seconds: float = LEFT_BEHIND_SECONDS,
    is_thorough: bool = False,
) -> list[str]:
    """Delete objects of directories that no manifest names; returns their names.

    What an earlier manifest named goes after the grace, for readers that still use it. What none
    ever named was left by a writer that was killed or overtaken, or belongs to one that is at work:
    it goes after a day. To find these takes a listing of all, so each cache does it once a day.
    """
    bucket = _require_bucket(root)
    now = time.time()
    over = {name for name, since in unreferenced.items() if now - since >= grace_seconds}
    if is_thorough or _is_due(root.parent / _SWEPT, now):
        entries = bucket.list_objects()
    else:
        entries = [entry for name in sorted(over) for entry in bucket.list_objects(name)]

    def is_doomed(entry: Entry) -> bool:
        match = _OUR_OBJECT.fullmatch(entry.name)
        if match is None or match[1] in live:
            return False
        age = now - entry.put_at  # a writer that names a file again puts it again
        if match[1] in unreferenced:
            return match[1] in over and age >= grace_seconds
        return age >= left_behind_seconds

    doomed = [entry.name for entry in entries if is_doomed(entry)]
    # Once more, right before: another writer may have put one again since.
    with ThreadPoolExecutor(AT_ONCE) as threads:
        looked = list(threads.map(bucket.look, doomed))
    gone = [entry.name for entry in looked if entry is not None and is_doomed(entry)]
    bucket.delete(gone)
    return gone


def _is_due(mark: Path, now: float) -> bool:
    """Whether a day has passed since the mark was made; if so, it is made again."""
    try:
        is_due = now - mark.stat().st_mtime > LEFT_BEHIND_SECONDS
    except OSError:
        is_due = True
    if is_due:
        mark.touch()
        os.utime(mark)
    return is_due


def make_room(root: Path) -> None:
    """Remove the files of all mirrors that were used longest ago, if the cache is too large.

    A mirror that is being written is left alone: it has files that are not in the bucket yet.
    """
    limit = _size_limit()
    place = root.parent.parent
    files = [path for path in place.glob(f"*/{_WAREHOUSE}/*/**/*.parquet") if path.is_file()]
    used = []
    for path in files:
        with suppress(OSError):
            status = path.stat()
            used.append((status.st_mtime, status.st_size, path))
    size = sum(byte_count for _, byte_count, _ in used)
    if size <= limit:
        return
    recently = time.time() - _RECENT_SECONDS
    by_mirror: dict[Path, bool] = {}
    for used_at, byte_count, path in sorted(used):
        if size <= limit or used_at > recently:
            return
        mirror = place / path.relative_to(place).parts[0] / _WAREHOUSE
        if mirror not in by_mirror:
            by_mirror[mirror] = _is_written(mirror)
        if not by_mirror[mirror]:
            with suppress(PermissionError):  # on Windows a file that somebody reads stays
                path.unlink(missing_ok=True)
                size -= byte_count


def _is_written(mirror: Path) -> bool:
    lock = FileLock(mirror / LOCK)
    try:
        lock.acquire(blocking=False)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def _size_limit() -> float:
    given = os.environ.get(SIZE_VARIABLE) or _DEFAULT_SIZE
    match = _SIZE.fullmatch(given.strip())
    if match is None:
        raise WarehouseError(f"{SIZE_VARIABLE} is {given!r}; write a size such as {_DEFAULT_SIZE}")
    return float(match[1]) * _UNITS[match[2].upper()]


def _require_bucket(root: Path) -> Bucket:
    bucket = bucket_of(root)
    assert bucket is not None, "the caller asks mirrors only"
    return bucket
