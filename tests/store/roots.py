"""Places where a warehouse may lie, and how to meddle with what lies there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from orchbench_analytics import open_warehouse
from orchbench_analytics.store.files import MANIFEST
from orchbench_analytics.store.manifest import Manifest, encode_manifest, named_files
from orchbench_analytics.store.mirror import root_of
from orchbench_analytics.warehouse import Warehouse
from tests.services.buckets import Server, objects


class Root(ABC):
    """A place by its address, which is what messages say of it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def open(self) -> Warehouse:
        """The warehouse here, as the last one who opened it would open it again."""
        return open_warehouse(self.address, create=True)

    @abstractmethod
    def fresh(self) -> Warehouse:
        """The warehouse here, as another machine would open it."""

    @property
    def path(self) -> Path:
        return root_of(self.address)

    @abstractmethod
    def write(self, name: str, content: bytes) -> None: ...

    @abstractmethod
    def delete(self, name: str) -> None: ...

    @abstractmethod
    def contents(self) -> dict[str, bytes]: ...

    def read(self, name: str) -> bytes:
        return self.contents()[name]

    def change(self, **changes: object) -> Manifest:
        """Change what the manifest says, as somebody would who knows how it is encoded."""
        manifest = msgspec.structs.replace(self.fresh().manifest(), **changes)
        self.write(MANIFEST, encode_manifest(manifest))
        return manifest

    def damage(self, pattern: str, change: Callable[[bytes], bytes | None]) -> str:
        """Damage the first file that fits, or delete it; returns its name.

        Of scores it is one under `spec`, which most commands read.
        """
        manifest = self.fresh().manifest()
        others = {group.directory for group in manifest.scores if group.profile != "spec"}
        files = (name for name in named_files(manifest) if fnmatch(name, pattern))
        name = min(name for name in files if name.rpartition("/")[0] not in others)
        damaged = change(self.read(name))
        if damaged is None:
            self.delete(name)
        else:
            self.write(name, damaged)
        return name


class Disk(Root):
    """A directory."""

    def fresh(self) -> Warehouse:
        return open_warehouse(self.address)

    def write(self, name: str, content: bytes) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def delete(self, name: str) -> None:
        (self.path / name).unlink()

    def contents(self) -> dict[str, bytes]:
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in files}

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()


class Bucket(Root):
    """An address in a bucket; whoever opens it anew has an empty cache."""

    def __init__(self, address: str, server: Server, forget_cache: Callable[[], None]) -> None:
        super().__init__(address)
        self._server, self._forget_cache = server, forget_cache
        self._client = server.client()
        self._bucket, _, self._prefix = address.removeprefix("s3://").partition("/")

    def fresh(self) -> Warehouse:
        self._forget_cache()
        return open_warehouse(self.address)

    def write(self, name: str, content: bytes) -> None:
        self._client.put_object(Bucket=self._bucket, Key=f"{self._prefix}/{name}", Body=content)

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket=self._bucket, Key=f"{self._prefix}/{name}")

    def contents(self) -> dict[str, bytes]:
        return objects(self._server, self.address)

    def read(self, name: str) -> bytes:
        found = self._client.get_object(Bucket=self._bucket, Key=f"{self._prefix}/{name}")
        content: bytes = found["Body"].read()
        return content
