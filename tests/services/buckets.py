"""An S3 on loopback: moto's server in a process of its own, with a bucket for each test."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orchbench_analytics.store import bucket

KEY, SECRET = "AKIAEXAMPLEKEY", "top-secret-of-the-tests"
_numbers = itertools.count()


class Server(NamedTuple):
    """Where the server listens."""

    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> Any:
        import boto3  # most tests need no bucket

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )

    def new_bucket(self) -> str:
        """The name of a bucket that is empty."""
        name = f"bucket-{next(_numbers)}"
        self.client().create_bucket(Bucket=name)
        return name


@contextmanager
def running_server() -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _answers(port):
            assert process.poll() is None, "moto's server did not start"
            time.sleep(0.1)
        yield Server(port)
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def environment(server: Server) -> dict[str, str]:
    """What the cloud's own tools read from the environment."""
    return {
        "AWS_ENDPOINT_URL": server.endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
    }


def forget_stores() -> None:
    """Let the next request read the environment again."""
    bucket._store.cache_clear()


def upload(server: Server, directory: Path, address: str) -> None:
    """Put all files of a directory below an address."""
    name, _, prefix = address.removeprefix("s3://").partition("/")
    client = server.client()
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            key = f"{prefix}/{path.relative_to(directory).as_posix()}"
            client.put_object(Bucket=name, Key=key, Body=path.read_bytes())


def objects(server: Server, address: str) -> dict[str, bytes]:
    """All objects below an address, by their names."""
    name, _, prefix = address.removeprefix("s3://").partition("/")
    client, found = server.client(), {}
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=name, Prefix=f"{prefix}/"):
        for entry in page.get("Contents", ()):
            content = client.get_object(Bucket=name, Key=entry["Key"])["Body"].read()
            found[entry["Key"].removeprefix(f"{prefix}/")] = content
    return found
