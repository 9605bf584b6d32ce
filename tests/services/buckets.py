"""An S3 on loopback: moto's server in a process of its own, with a bucket for each test."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import boto3

KEY, SECRET = "AKIAEXAMPLEKEY", "top-secret-of-the-tests"
_numbers = itertools.count()


class Server(NamedTuple):
    """Where the server listens."""

    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self):  # type: ignore[no-untyped-def] # boto3 ships no types
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
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise AssertionError("moto's server did not start")
        yield Server(port)
    finally:
        process.kill()
        process.wait()


def environment(server: Server) -> dict[str, str]:
    """What the cloud's own tools read from the environment."""
    return {
        "AWS_ENDPOINT_URL": server.endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
    }
