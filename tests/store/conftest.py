"""The two kinds of root that a warehouse may have; what is promised of one is promised of both."""

import os

import pytest

from tests.store.roots import Bucket, Disk, Root


@pytest.fixture(params=["disk", pytest.param("bucket", marks=pytest.mark.long)])
def root(request: pytest.FixtureRequest, tmp_path, monkeypatch: pytest.MonkeyPatch) -> Root:
    """A place without a warehouse: a directory, or an address in a bucket on loopback."""
    if request.param == "disk":
        return Disk(str(tmp_path / "root"))
    address = request.getfixturevalue("bucket")

    def forget_cache() -> None:
        monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / f"cache-{os.urandom(4).hex()}"))

    return Bucket(f"{address}/root", request.getfixturevalue("s3"), forget_cache)
