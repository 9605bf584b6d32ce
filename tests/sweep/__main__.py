"""Write the archive that `orchbench demo` unpacks."""

import io
import lzma
import tarfile
import tempfile
from pathlib import Path

from orchbench_analytics.demo import ARCHIVE, MODEL_COUNT
from tests.sweep import demo_files


def main() -> None:
    """Generate the sweep and pack it; the same files give the same archive."""
    with tempfile.TemporaryDirectory() as scratch:
        files = demo_files(Path(scratch), models=MODEL_COUNT)
    preset = 9 | lzma.PRESET_EXTREME
    with tarfile.open(ARCHIVE, "w:xz", format=tarfile.USTAR_FORMAT, preset=preset) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    print(f"{ARCHIVE}: {len(files)} files, {ARCHIVE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
