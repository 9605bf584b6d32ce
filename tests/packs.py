"""Unpacking the conformance packs."""

import tarfile
from pathlib import Path


def unpack(pack: Path, directory: Path) -> None:
    """Unpack an archive, which is ours, with the filter that newer Pythons ask for."""
    with tarfile.open(pack) as archive:
        if hasattr(tarfile, "data_filter"):  # since Python 3.11.4
            archive.extractall(directory, filter="data")
        else:
            archive.extractall(directory)
