"""Tags come from CSV or TOML, and can be grouped by."""

import shutil
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.ingest.by_hand import read_tags
from tests import documents


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_tags_have_the_types_of_their_values(tmp_path: Path) -> None:
    tags = read_tags(write(tmp_path / "t.csv", "model,size,family\na,7,x\nb,0.5,\n"))
    assert tags.rows() == [("a", None, 7.0, "x"), ("b", None, 0.5, None)]


def test_toml_tags_in_both_forms(tmp_path: Path) -> None:
    tables = read_tags(write(tmp_path / "t.toml", '["org/a"]\nsize = 7\n["b"]\nsize = 8\n'))
    listed = read_tags(
        write(tmp_path / "l.toml", '[[model]]\nmodel = "a"\nexperiment = "e"\nsize = 7\n')
    )
    assert tables.rows() == [("org/a", None, 7), ("b", None, 8)]
    assert listed.rows() == [("a", "e", 7)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "name,size\na,7\n", "expected a column `model`"),
        ("t.csv", "model,size\na,7\na,8\n", "more than once"),
        ("t.csv", "model,the size\na,7\n", "cannot be a column's name"),
        ("t.csv", "model,size\n,7\n", "no model"),
        ("t.toml", "size = 7\n", "expected a table for each model"),
        ("t.toml", "size = \n", "cannot be read"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(PathError, match=message):
        read_tags(write(tmp_path / name, text))


def test_tags_join_by_model_and_by_experiment(demo: Path, tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    shutil.copytree(demo / "warehouse", root)
    warehouse = open_warehouse(root)
    warehouse.tag(
        write(
            tmp_path / "t.csv",
            "model,experiment,family,layers\n"
            "graded-2,,plain,7\ngraded-2,worked-examples,taught,\nsilent,,plain,8\n",
        )
    )

    tagged = {
        (model, experiment): family
        for model, experiment, family, _ in warehouse.sql("from main.model_tags").rows()
    }
    assert tagged["graded-2", "baseline"] == "plain"
    assert tagged["graded-2", "worked-examples"] == "taught"
    assert tagged["perfect", "baseline"] is None

    board = {row["family"]: row for row in warehouse.leaderboard(by="family").to_dicts()}
    assert board["plain"]["model_count"] == 2
    assert board["taught"]["model_count"] == 1
    # A tag of the model stays where the experiment has none of its own.
    sizes = warehouse.leaderboard(by="layers").sort("layers")
    assert sizes.select("layers", "model_count").rows()[1:] == [(7, 2), (8, 1)]
    with pytest.raises(SelectionError, match="no tag 'size'"):
        warehouse.leaderboard(by="size")


def test_tags_survive_the_next_ingest(make_once, tmp_path: Path) -> None:
    tree = tmp_path / "results"
    documents.write(tree / "a" / "EN" / "1_out.json", documents.runs_document())
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tree)
    warehouse.tag(write(tmp_path / "t.csv", "model,size\na,7\n"))
    for scenario in range(2, 5):
        documents.write(tree / "a" / "EN" / f"{scenario}_out.json", documents.runs_document())
        warehouse.ingest(tree)
    assert warehouse.sql("select size from main.model_tags").rows() == [(7,)]


@pytest.mark.parametrize("names", ["model,Model", "model,EXPERIMENT", "model,size,Size"])
def test_names_that_sql_does_not_tell_apart_are_refused(tmp_path: Path, names: str) -> None:
    (tmp_path / "tags.csv").write_text(f"{names}\nm{',1' * names.count(',')}\n", encoding="utf-8")

    with pytest.raises(PathError, match="the same name in SQL"):
        read_tags(tmp_path / "tags.csv")
