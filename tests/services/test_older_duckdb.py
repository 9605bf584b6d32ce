"""DuckDB files, opened by the oldest and the newest DuckDB 1.x that can, each in an environment."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse

COUNT = """
import duckdb, json, sys
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    names = connection.sql("select table_name from information_schema.tables").fetchall()
    counts = {n: connection.sql(f"select count(*) from {n}").fetchone()[0] for (n,) in names}
print(json.dumps([duckdb.__version__, counts]))
"""


@pytest.fixture(scope="module", params=["duckdb==1.2.*", "duckdb<2"])
def older_python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("older")
    subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
    python = directory / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", request.param]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip(f"pip cannot install {request.param} here")
    return python


@pytest.fixture(scope="module")
def demo(demo_directory: Path) -> Warehouse:
    return open_warehouse(demo_directory / "warehouse")


@pytest.mark.parametrize("options", [{}, {"star": True}, {"star": True, "keys": True}])
def test_every_table_and_view_answers(
    older_python: Path, demo: Warehouse, tmp_path: Path, options: dict[str, bool]
) -> None:
    target = tmp_path / "out.duckdb"
    summary = demo.export(target, **options)

    command = [str(older_python), "-c", COUNT, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    version, counts = json.loads(done.stdout)
    assert version.startswith("1.")
    counts.pop("export_manifest")
    assert counts == {exported.relation: exported.row_count for exported in summary.relations}
