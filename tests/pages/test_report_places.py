"""Where a report goes: to a page or a directory, and never over what is not a report of ours."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines import Here
from orchbench_analytics.errors import PathError
from orchbench_analytics.pages.report import ReportOptions, make_report
from orchbench_analytics.store.manifest import load_manifest
from tests.pages.quick import quick_reports
from tests.pages.test_report import pieces


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with quick_reports():
        yield


def test_a_small_report_in_a_directory_is_one_page(demo: Path, tmp_path: Path) -> None:
    made = open_warehouse(demo).report(tmp_path / "out", models=["graded-1"], jobs=1)

    assert made.page == tmp_path / "out" / "index.html"
    assert "model-0" in pieces(made.page)


def test_a_page_that_is_too_large_becomes_a_directory(demo: Path, tmp_path: Path) -> None:
    options = ReportOptions(models=["graded-1"], largest_page=10)

    made = make_report(demo, load_manifest(demo), tmp_path / "r.html", options, Here())

    assert made.page == tmp_path / "r" / "index.html"
    assert made.byte_count > 10


def test_a_page_may_stand_beside_a_directory_of_its_name(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "note.txt").write_text("mine", encoding="utf-8")

    made = open_warehouse(demo).report(tmp_path / "demo.html", models=["graded-1"], jobs=1)

    assert made.page == tmp_path / "demo.html"
    options = ReportOptions(models=["graded-1"], largest_page=10)
    with pytest.raises(PathError, match="is not a report that orchbench wrote"):
        make_report(demo, load_manifest(demo), tmp_path / "demo.html", options, Here())


def test_no_directory_is_made_above_a_report(demo: Path, tmp_path: Path) -> None:
    for output in (tmp_path / "mistyped" / "r.html", tmp_path / "mistyped" / "site"):
        with pytest.raises(PathError, match="there is no directory"):
            open_warehouse(demo).report(output, models=["graded-1"])

    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_other_things_is_left_alone(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(PathError, match="is not a report that orchbench wrote"):
        open_warehouse(demo).report(tmp_path, models=["graded-1"])


def test_only_a_report_of_ours_is_replaced(demo: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.html"
    open_warehouse(demo).report(made, models=["graded-1"], jobs=1)
    (tmp_path / "site/pieces").mkdir(parents=True)
    mine = {
        tmp_path / "notes.html": '<!doctype html>\n<html lang="en">\nmine',
        tmp_path / "site/index.html": "<h1>mine</h1>",
        tmp_path / "site/pieces/app.js": "mine()",
    }
    for path, text in mine.items():
        path.write_text(text, encoding="utf-8")
    (tmp_path / "link.html").symlink_to(tmp_path / "notes.html")

    for target in ("notes.html", "link.html", "site", "site/index.html"):
        with pytest.raises(PathError, match="is not a report that orchbench wrote"):
            open_warehouse(demo).report(tmp_path / target, models=["graded-1"], jobs=1)

    assert {path: path.read_text(encoding="utf-8") for path in mine} == mine
    open_warehouse(demo).report(made, models=["graded-1"], jobs=1)


def test_a_page_that_somebody_changed_is_kept(demo: Path, tmp_path: Path) -> None:
    page = open_warehouse(demo).report(tmp_path / "r.html", models=["graded-1"], jobs=1).page
    changed = page.read_bytes().replace(b"</body>", b"<p>my notes</p></body>")
    page.write_bytes(changed)

    with pytest.raises(PathError, match="is not a report that orchbench wrote"):
        open_warehouse(demo).report(page, models=["graded-1"], jobs=1)

    assert page.read_bytes() == changed


def test_pieces_of_others_stay(demo: Path, tmp_path: Path) -> None:
    options = ReportOptions(models=["graded-1"], largest_page=10)
    make_report(demo, load_manifest(demo), tmp_path / "site", options, Here())
    pieces = tmp_path / "site/pieces"
    (pieces / "app.js").write_text("mine()", encoding="utf-8")
    (pieces / "model-0.js").rename(pieces / "model-7.js")  # of a report of more models

    make_report(demo, load_manifest(demo), tmp_path / "site", options, Here())

    assert (pieces / "app.js").read_text(encoding="utf-8") == "mine()"
    assert not (pieces / "model-7.js").exists()
    (pieces / "model-0.js").write_text("mine()", encoding="utf-8")
    with pytest.raises(PathError, match="is not a piece of a report that orchbench wrote"):
        make_report(demo, load_manifest(demo), tmp_path / "site", options, Here())
    assert (pieces / "model-0.js").read_text(encoding="utf-8") == "mine()"
