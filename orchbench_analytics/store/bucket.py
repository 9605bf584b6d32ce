"""Objects in a bucket, by the address that people type: `s3://`, `gs://` or `az://`.

What a bucket must do is little: put an object unless one is there, replace an object only if it is
still the one that was read, and list. An object is written and read as a whole, so no reader sees
half of one. Every cloud's own library would do; obstore has all three behind one interface.

Credentials are found as the cloud's own tools find them. Options (endpoints, mostly, but some
people put keys there) are kept in this process and handed to its children through the environment.
They are never written to a file or into a message.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from orchbench_analytics.errors import PathError, StorageError, Unreachable

if TYPE_CHECKING:
    from obstore.store import ObjectStore

OPTIONS_VARIABLE = "ORCHBENCH_STORAGE_OPTIONS"
AT_ONCE = 16  # requests: a store takes its time for each, but answers many at once
_EVERYWHERE = ""
_ADDRESS = re.compile(r"(s3|gs|az)://([^/]+)/*(.*?)/*", re.DOTALL)
# Options of the connection; every other one is of the cloud.
_OF_CONNECTION = {
    "allow_http",
    "allow_invalid_certificates",
    "connect_timeout",
    "http1_only",
    "http2_only",
    "pool_idle_timeout",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "randomize_addresses",
    "read_timeout",
    "root_certificate",
    "timeout",
    "user_agent",
}
_YES_OR_NO = {
    "allow_http",
    "allow_invalid_certificates",
    "http1_only",
    "http2_only",
    "randomize_addresses",
}
_URL = re.compile(r"https?://[^/\s]")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE")
_RETRIES = {
    "max_retries": 8,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=4),
        "base": 2,
    },
}
_ATTEMPTS = 4  # beside those of the library, which gives up when an answer breaks off
_STATUS = re.compile(r"status code: (\d{3}[ A-Za-z]*)")
_TROUBLES = ("timed out", "error sending request", "error decoding response body", "dns error")
_FEW_PREFIXES = 4
_DEEPEST_PREFIX = 4

Result = TypeVar("Result")


class Version(NamedTuple):
    """Which content of an object is meant; some clouds go by the tag, some by the version."""

    e_tag: str | None
    version: str | None = None


class Entry(NamedTuple):
    """An object as a listing shows it: its name below the prefix, its size, and when it was put."""

    name: str
    byte_count: int
    e_tag: str | None
    put_at: float


class Content(NamedTuple):
    """The bytes of an object, their version and their number; an object too large is not read."""

    data: bytes
    version: Version
    byte_count: int = 0


class Overtaken(Exception):  # noqa: N818 (not an error: the caller takes the new state)
    """A conditional put failed: the object is not the one that it was to replace."""


# Options


_options: dict[str, dict[str, str]] = {}


def use_options(options: Mapping[str, str], address: str | None = None) -> None:
    """Use options for the bucket of an address, or for all; also in processes started from here."""
    if not options:
        return
    known = _known_options()
    known.setdefault(_EVERYWHERE if address is None else address_of_bucket(address), {}).update(
        options
    )
    os.environ[OPTIONS_VARIABLE] = json.dumps(known)
    _store.cache_clear()


def options_of(address: str) -> dict[str, str]:
    """The options for the bucket of an address."""
    known = _known_options()
    return known.get(_EVERYWHERE, {}) | known.get(address_of_bucket(address), {})


def parse_options(given: Iterable[str]) -> dict[str, str]:
    """Options as they are typed, `name=value`; a message never repeats a value."""
    options = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise PathError("a storage option is written NAME=VALUE, such as endpoint=URL")
        options[name.strip().lower()] = value
    return options


def endpoint_of(address: str) -> str:
    """The endpoint that an address is meant at; empty where it is the cloud's own."""
    options = options_of(address)
    named = options.get("endpoint") or options.get("aws_endpoint") or options.get("base_url")
    if named is None and address.startswith("s3://"):
        named = next(filter(None, map(os.environ.get, _ENDPOINTS)), None)
    return named or ""


def _known_options() -> dict[str, dict[str, str]]:
    if not _options and (said := os.environ.get(OPTIONS_VARIABLE)):
        _options.update(json.loads(said))
    return _options


# Objects


class Bucket:
    """The objects below an address."""

    def __init__(self, address: str) -> None:
        scheme, bucket, prefix = _split(address)
        self.address = f"{scheme}://{bucket}/{prefix}".rstrip("/")
        self._prefix = f"{prefix}/" if prefix else ""

    def address_of(self, name: str) -> str:
        """The address of an object."""
        return f"{self.address}/{name}" if name else self.address

    def read(
        self, name: str, *, unless: Version | None = None, most_bytes: int | None = None
    ) -> Content | None:
        """An object; none if it is still the version that the caller has.

        Raises FileNotFoundError if there is no such object.
        """
        errors = _library(self.address).exceptions
        options: Any = {"if_none_match": unless.e_tag} if unless and unless.e_tag else None

        def get() -> Content | None:
            try:
                found = self._objects().get(self._prefix + name, options=options)
                version = Version(found.meta["e_tag"], found.meta["version"])
                byte_count = found.meta["size"]
                is_read = most_bytes is None or byte_count <= most_bytes
                return Content(bytes(found.bytes()) if is_read else b"", version, byte_count)
            except errors.NotModifiedError:
                return None

        return self._tried(name, get)

    def look(self, name: str) -> Entry | None:
        """An object as a listing would show it; none if there is no such object."""
        try:
            meta = self._tried(name, lambda: self._objects().head(self._prefix + name))
        except FileNotFoundError:
            return None
        return Entry(name, meta["size"], meta["e_tag"], meta["last_modified"].timestamp())

    def put(
        self,
        name: str,
        content: bytes | Path,
        *,
        replacing: Version | Literal["nothing", "anything"],
    ) -> Version:
        """Put an object in place of nothing, of one version, or of whatever is there.

        Raises Overtaken if something else is there. After any other error the object may be there
        or not: an answer can be lost after the store has done its work.
        """
        errors = _library(self.address).exceptions
        modes: dict[Any, Any] = {"nothing": "create", "anything": "overwrite"}
        mode = modes.get(replacing, replacing)
        if isinstance(mode, Version):
            mode = {key: value for key, value in mode._asdict().items() if value is not None}

        def put() -> Version:
            data = content if isinstance(content, bytes) else content.read_bytes()
            done = self._objects().put(self._prefix + name, data, mode=mode, use_multipart=False)
            return Version(done["e_tag"], done["version"])

        try:
            return self._tried(name, put, attempts=_ATTEMPTS if replacing == "anything" else 1)
        except (errors.AlreadyExistsError, errors.PreconditionError) as error:
            raise Overtaken(name) from error

    def list_objects(self, prefix: str = "") -> list[Entry]:
        """All objects whose names start with the prefix of a directory, in order of their names.

        A large tree is listed in several places at once.
        """
        start = f"{self._prefix}{prefix}"
        prefixes, found = self._branches(start.rstrip("/"))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for entries in threads.map(self._list_all, prefixes):
                found += entries
        return sorted(found)

    def list_directory(self, prefix: str) -> tuple[list[str], list[Entry]]:
        """The names of directories right below one, and the objects."""
        start = f"{self._prefix}{prefix}".rstrip("/")
        found = self._list_level(start)
        names = [self._relative(path) for path in found["common_prefixes"]]
        return names, [self._entry(meta) for meta in found["objects"]]

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; one that is not there is not an error."""

        def delete(name: str) -> None:
            try:
                self._tried(name, lambda: self._objects().delete(self._prefix + name))
            except FileNotFoundError:
                return

        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(delete, names))

    def _branches(self, start: str) -> tuple[list[str], list[Entry]]:
        """Prefixes that divide what lies below one, and the objects that lie beside them."""
        prefixes, found = [start], list[Entry]()
        for _ in range(_DEEPEST_PREFIX):
            if len(prefixes) >= _FEW_PREFIXES:
                break
            below: list[str] = []
            for prefix in prefixes:
                listed = self._list_level(prefix)
                below += listed["common_prefixes"]
                found += [self._entry(meta) for meta in listed["objects"]]
            prefixes = below
        return prefixes, found

    def _list_level(self, prefix: str) -> Any:
        name = self._relative(prefix)
        return self._tried(name, lambda: self._objects().list_with_delimiter(prefix or None))

    def _list_all(self, prefix: str) -> list[Entry]:
        def list_() -> list[Entry]:
            pages = self._objects().list(prefix or None, chunk_size=1000)
            return [self._entry(meta) for page in pages for meta in page]

        return self._tried(self._relative(prefix), list_)

    def _entry(self, meta: Any) -> Entry:
        name = self._relative(meta["path"])
        return Entry(name, meta["size"], meta["e_tag"], meta["last_modified"].timestamp())

    def _relative(self, key: str) -> str:
        return f"{key}/".removeprefix(self._prefix).rstrip("/")

    def _objects(self) -> ObjectStore:
        store: ObjectStore = _store(address_of_bucket(self.address))
        return store

    def _tried(self, name: str, work: Callable[[], Result], *, attempts: int = _ATTEMPTS) -> Result:
        """The result of some requests, tried again after a trouble on the way."""
        errors = _library(self.address).exceptions
        for attempt in range(attempts):
            try:
                return work()
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error):
                    bucket = address_of_bucket(self.address)
                    raise StorageError(f"there is no bucket {bucket}") from None
                raise FileNotFoundError(self.address_of(name)) from None
            except (errors.GenericError, OSError) as error:
                if attempt + 1 == attempts:
                    raise self._failure(name, error) from None
            except errors.BaseError as error:
                if type(error).__name__ in _REFUSED:
                    raise self._failure(name, error) from None
                raise
            time.sleep(random.uniform(0, 0.2 * 2**attempt))
        raise AssertionError("unreachable")

    def _failure(self, name: str, error: Exception) -> StorageError:
        """The error in our own words: that of the library has requests and answers in it."""
        text, place = str(error), self.address_of(name)
        if refused := _REFUSED.get(type(error).__name__):
            return StorageError(f"{place}: {refused}")
        if found := _STATUS.search(text):
            kind = StorageError if found[1].startswith("4") else Unreachable
            return kind(f"{place}: the store answered {found[1].strip()}")
        trouble = next(filter(text.__contains__, _TROUBLES), type(error).__name__)
        return Unreachable(f"{place}: the store cannot be reached: {trouble}")


_REFUSED = {
    "PermissionDeniedError": "these credentials do not allow that, or none were found; "
    "see docs/storage.md",
    "UnauthenticatedError": "the store does not accept these credentials; see docs/storage.md",
}


def _split(address: str) -> tuple[str, str, str]:
    match = _ADDRESS.fullmatch(address)
    if match is not None and "@" in match[2]:  # it would be shown, and written to the cache
        raise PathError("the address of a bucket has no credentials in it; see docs/storage.md")
    if match is None:
        raise PathError(f"{address} is not the address of a bucket, such as s3://bucket/directory")
    return match[1], match[2], match[3]


def address_of_bucket(address: str) -> str:
    """The address of the bucket that an address lies in."""
    scheme, bucket, _ = _split(address)
    return f"{scheme}://{bucket}"


@cache
def _store(address: str) -> Any:
    """The library's object for a bucket."""
    stores, errors = _library(address).store, _library(address).exceptions
    scheme, bucket, _ = _split(address)
    options: dict[str, Any] = options_of(address)
    endpoint = endpoint_of(address)
    if endpoint and not _URL.match(endpoint):  # the library would stop this process
        raise PathError(f"{address}: an endpoint is a URL, such as https://minio.lab.example:9000")
    if endpoint.startswith("http://"):
        options.setdefault("allow_http", "true")
    connection: Any = {name: options.pop(name) for name in _OF_CONNECTION & options.keys()}
    for name in _YES_OR_NO & connection.keys():
        connection[name] = connection[name].strip().lower() in ("1", "true", "yes")
    retries: Any = _RETRIES
    common: Any = {"config": options, "client_options": connection, "retry_config": retries}
    try:
        if scheme == "gs":
            return stores.GCSStore(bucket, **common)
        if scheme == "az":
            return stores.AzureStore(bucket, **common)
        if endpoint and "endpoint" not in options and "aws_endpoint" not in options:
            options["endpoint"] = endpoint
        return stores.S3Store(
            bucket, credential_provider=_credentials_of_profile(options), **common
        )
    except errors.BaseError as error:
        name = re.search(r"Configuration key: '(\w+)'", str(error))
        words = re.sub(r"^Generic \w+ error: ", "", str(error).splitlines()[0])
        words = re.sub(r'"[^"]*"', "the value of an option", words)
        said = f"{name[1]} is not an option of this store" if name else words
        raise StorageError(f"{address}: {said}") from None


def _library(address: str) -> Any:
    """The library, which is an extra."""
    try:
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise StorageError(
            f"{address} needs obstore; install it with: pip install 'orchbench-analytics[cloud]'"
        ) from error
    return obstore


def _credentials_of_profile(options: Mapping[str, str]) -> Any:
    """What boto3 finds (profiles, SSO), if neither options nor the environment have a key.

    Without boto3 the library asks the machine's role by itself.
    """
    is_given = any(name.removeprefix("aws_") in _GIVEN for name in options)
    if is_given or any(map(os.environ.get, _KEYS)):
        return None
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        return None
    session = boto3.Session()
    if session.get_credentials() is None:
        return None
    return Boto3CredentialProvider(session)


_GIVEN = {"access_key_id", "skip_signature", "web_identity_token_file"}
