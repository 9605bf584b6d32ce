"""Columns: what goes into a page comes out of it as it was."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from orchbench_analytics.pages.columns import columns_of, packed
from tests.pages.unpack import frame_of_columns, unpacked

texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(texts, st.none() | st.integers(-9, 9), st.none() | st.booleans())))
def test_a_frame_survives_the_page(rows: list[tuple[str | None, int | None, bool | None]]) -> None:
    schema = {"text": pl.String, "number": pl.Int64, "flag": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")

    found = frame_of_columns(unpacked(packed(columns_of(frame))))

    assert_frame_equal(found.cast(schema), frame)


def test_figures_keep_the_digits_that_are_shown() -> None:
    frame = pl.DataFrame({"score": [0.98785, 1 / 3, None, 1.0, float("nan")]})

    found = columns_of(frame)["columns"]["score"]["values"]

    assert found == [0.98785, 0.3333333, None, 1, None]


def test_a_packed_text_is_inert_in_a_page() -> None:
    hostile = "</script><script>alert(1)</script>"

    text = packed({"text": hostile})

    assert set(text).isdisjoint("<>\"'&")
    assert unpacked(text) == {"text": hostile}


@pytest.mark.parametrize("name", ["code", "word", "count"])
def test_a_column_of_texts_may_have_any_name(name: str) -> None:
    texts = pl.DataFrame({name: ["a", None, "b", "a"]})

    assert columns_of(texts)["columns"][name] == {"words": ["a", "b"], "codes": [0, -1, 1, 0]}
