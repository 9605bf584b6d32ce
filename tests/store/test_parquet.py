"""Rows to Arrow: the same values, types and nulls, whatever they are."""

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchbench_analytics.schema import Column, Table, arrow_schema, polars_schema, text
from orchbench_analytics.store.parquet import Frame, named_to_arrow, to_arrow, write_table

EVERY_KIND = Table(
    "every_kind",
    "one row per example",
    (
        Column("text", "text", "any text", nullable=True),
        Column("number", "int", "any integer", nullable=True),
        Column("share", "float", "any number", nullable=True),
        Column("is_so", "bool", "any flag", nullable=True),
        Column("name", "text", "a text that is there"),
    ),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ROWS = st.lists(
    st.tuples(
        st.none() | TEXTS,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(allow_nan=False),
        st.none() | st.booleans(),
        TEXTS,
    )
)


@given(ROWS)
def test_rows_come_back_as_they_were(rows: list[tuple[Any, ...]]) -> None:
    data = to_arrow(EVERY_KIND, rows)

    data.validate(full=True)
    read = list(zip(*(column.to_pylist() for column in data.columns), strict=True))
    assert repr(read) == repr(rows)  # as texts, so that -0.0 is not 0.0


def test_a_null_where_none_may_be_is_an_error() -> None:
    with pytest.raises(AssertionError, match=r"every_kind\.name has nulls"):
        to_arrow(EVERY_KIND, [("a", 1, 1.0, True, None)])


def test_a_frame_is_written_as_its_table_has_it(tmp_path: Path) -> None:
    rows = [("a", 1, 0.5, None, "b"), (None, None, None, True, "c")]
    frame = pl.DataFrame(rows, schema=polars_schema(EVERY_KIND), orient="row")

    assert write_table(Frame(frame, EVERY_KIND), tmp_path / "x.parquet") == 2

    read = pq.read_table(tmp_path / "x.parquet")
    assert read.equals(to_arrow(EVERY_KIND, rows))
    assert read.schema.equals(to_arrow(EVERY_KIND, rows).schema, check_metadata=True)


def test_a_frame_with_a_null_where_none_may_be_is_not_written(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        [("a", 1, 1.0, True, None)], schema=polars_schema(EVERY_KIND), orient="row"
    )

    with pytest.raises(AssertionError, match=r"every_kind\.name has nulls"):
        write_table(Frame(frame, EVERY_KIND), tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_integers_keep_all_their_digits() -> None:
    rows = [("a", 2**63 - 1, 0.1, True, "a"), ("a", None, 0.1, True, "a")]

    assert to_arrow(EVERY_KIND, rows)["number"].to_pylist() == [2**63 - 1, None]
    assert to_arrow(EVERY_KIND, rows).schema.field("number").type == pa.int64()


def test_a_table_without_rows_has_its_columns() -> None:
    assert to_arrow(EVERY_KIND, []).schema.equals(arrow_schema(EVERY_KIND), check_metadata=True)


def test_texts_that_repeat_are_stored_once(tmp_path: Path) -> None:
    names = Table("names", "name", (Column("name", "text", "Its name."),))
    labels = [(f"{'long label ' * 300} {number % 7}",) for number in range(10_000)]

    write_table(to_arrow(names, labels), tmp_path / "names.parquet")

    assert (tmp_path / "names.parquet").stat().st_size < 50_000


@pytest.mark.parametrize("odd", [{}, {"name": "a", "colour": "blue"}])
def test_rows_by_name_have_the_columns_of_their_table_and_no_others(odd: dict[str, str]) -> None:
    names = Table("names", "name", (text("name", "A name."),))

    assert named_to_arrow(names, [{"name": "a"}]).equals(to_arrow(names, [("a",)]))
    with pytest.raises(AssertionError, match="differ"):
        named_to_arrow(names, [odd])
