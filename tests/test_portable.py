"""What other systems do differently: separators, drives, names, line ends, starting processes."""

import os
from pathlib import Path
from typing import ClassVar

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines.local import _Context
from orchbench_analytics.exports.documents import directory_names
from orchbench_analytics.ingest import layouts, sources
from orchbench_analytics.ingest.sources import InputFile, Placement
from orchbench_analytics.ingest.trees import slashed
from orchbench_analytics.store.files import replace_file
from tests.documents import write_sweep


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (
            "C:/bench/gpt/seed1/step_wise_evaluation_EN/gpt/12_out.json",
            ("gpt", "seed1", "EN", "12"),
        ),
        ("D:/gpt/KO/12_out.json", ("gpt", "default", "KO", "12")),
        ("C:/KO/12_out.json", (None, None, "KO", "12")),
    ],
)
def test_a_path_with_a_drive_says_what_it_says_elsewhere(
    path: str, key: tuple[str | None, ...]
) -> None:
    placed = sources.place(
        InputFile(path, given=path[:3]), Placement(), lambda _: layouts._NOTHING_AROUND
    )

    assert placed.kind == "runs"
    assert (placed.model, placed.experiment, placed.language, placed.scenario) == key


def test_backslashes_are_separators_only_where_the_system_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert slashed(r"a\b/c") == r"a\b/c"
    monkeypatch.setattr(os, "sep", "\\")
    assert slashed(r"C:\results\gpt") == "C:/results/gpt"


def test_names_of_directories_are_safe_and_distinct_on_every_system() -> None:
    names = ["gpt", "GPT", "org/model", "a:7b", "a?7b", "con", "LPT1.x", "dot.", "한국", "a\\b"]

    found = directory_names(names)

    assert found["gpt"] != found["GPT"]
    assert found["org/model"] == "org__model"
    assert found["한국"] == "한국"
    assert len({name.lower() for name in found.values()}) == len(names)
    for name in found.values():
        assert not set(name) & set('<>:"/\\|?*')
        assert name.rstrip(". ") == name
        assert name.split(".")[0].lower() not in {"con", "lpt1"}


def test_models_that_differ_in_capitals_have_documents_of_their_own(tmp_path: Path) -> None:
    for name in ("gpt", "GPT", "a:7b"):
        write_sweep(tmp_path / "results" / name)
        for model in (tmp_path / "results" / name).iterdir():
            model.rename(tmp_path / "results" / name / f"{name}-{model.name}")
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)
    count = warehouse.models().select("model", "experiment").n_unique()

    warehouse.export(f"lm-eval:{tmp_path / 'out'}")

    paths = [str(p.relative_to(tmp_path)).lower() for p in (tmp_path / "out").rglob("*.json")]
    assert len(set(paths)) == count


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    write_sweep(tmp_path / "results")
    for path in (tmp_path / "results").rglob("*.json"):
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    assert not warehouse.ingest(tmp_path / "results", jobs=1).refused
    model = warehouse.models()["model"][0]
    (tmp_path / "tags.csv").write_bytes(f"model,size\r\n{model},7\r\n".encode())
    (tmp_path / "expected.txt").write_bytes(b"EN/12\r\nEN/13\r\n")
    (tmp_path / "query.sql").write_bytes(b"select 1 as one,\r\n2 as two\r\n")

    warehouse.tag(tmp_path / "tags.csv")
    warehouse.ingest(tmp_path / "results", expect=tmp_path / "expected.txt", jobs=1)

    assert set(warehouse.table("model_tags").collect()["size"]) >= {7}
    assert set(warehouse.table("expected_scenarios").collect()["scenario"]) == {"12", "13"}
    assert warehouse.sql((tmp_path / "query.sql").read_text(encoding="utf-8")).row(0) == (1, 2)


def test_workers_are_started_and_not_forked() -> None:
    assert _Context().get_start_method() == "spawn"


class _ReadByOthers(type(Path())):  # type: ignore[misc]  # the class of this system's paths
    """A path that Windows lets nobody replace at first, since a reader has the file open."""

    refusals: ClassVar[list[int]] = []

    def replace(self, target: str | os.PathLike[str]) -> Path:
        if self.refusals:
            error = PermissionError("the file is in use")
            error.winerror = self.refusals.pop()
            raise error
        return Path(super().replace(target))


def test_a_file_that_is_being_read_is_replaced_once_its_reader_is_done(tmp_path: Path) -> None:
    path = _ReadByOthers(tmp_path / "manifest.json")
    path.write_bytes(b"old")
    path.refusals.extend([32, 5])

    replace_file(path, b"new")

    assert path.refusals == []
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["manifest.json"]
