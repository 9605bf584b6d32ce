from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from orchbench_analytics.errors import PathError
from orchbench_analytics.outputs import sentences
from orchbench_analytics.stats.costs import costs, read_prices

Simulate = Callable[..., pl.DataFrame]


def usage_of(rows: pl.DataFrame, cost: dict[str, float | None]) -> pl.DataFrame:
    """A thousand input and a hundred output tokens for each run, and the cost that is stated."""
    models = rows.select("model", "experiment", "language").unique()
    stated = models["model"].replace_strict(cost, return_dtype=pl.Float64)
    return models.with_columns(
        used_cost=stated * 10,
        cost_run_count=pl.when(stated.is_not_null()).then(10).otherwise(0),
        token_run_count=pl.lit(10),
        used_input_token_count=pl.lit(10_000),
        used_output_token_count=pl.lit(1_000),
    )


def sweep(simulate: Simulate, *skills: float) -> pl.DataFrame:
    return simulate(np.random.default_rng(80), sweeps=1, scenarios=60, skills=skills)


def test_a_front_says_what_is_certain(simulate: Simulate) -> None:
    """The cheapest is on it, a better one for more as well, a worse one for more is not."""
    rows = sweep(simulate, 0.0, 2.5, -1.5, 2.52)
    usage = usage_of(rows, {"m0000-0": 1.0, "m0000-1": 2.0, "m0000-2": 3.0, "m0000-3": 4.0})
    found = costs(rows, usage)
    assert found["model"].to_list() == ["m0000-0", "m0000-1", "m0000-2", "m0000-3"]
    assert found["run_cost"].to_list() == [1.0, 2.0, 3.0, 4.0]
    assert found["front"].to_list()[:3] == ["on", "on", "off"]
    assert found["front"][3].startswith("likely")
    assert found.filter(~pl.col("average_score").is_between("low", "high")).is_empty()


def test_tokens_are_priced_where_no_cost_is_stated(simulate: Simulate, tmp_path: Path) -> None:
    rows = sweep(simulate, 0.0, 1.0, 2.0)
    usage = usage_of(rows, {"m0000-0": 0.5, "m0000-1": None, "m0000-2": None})
    file = tmp_path / "prices.csv"
    file.write_text("model,input,output\nm0000-0,9,9\nm0000-1,2,10\n", encoding="utf-8")
    found = {row["model"]: row for row in costs(rows, usage, prices=read_prices(file)).to_dicts()}
    assert found["m0000-0"]["cost_basis"] == "stated"
    assert found["m0000-0"]["run_cost"] == 0.5
    assert found["m0000-1"]["cost_basis"] == "priced"
    assert found["m0000-1"]["run_cost"] == pytest.approx((1000 * 2 + 100 * 10) / 1e6)
    assert found["m0000-2"]["cost_basis"] == found["m0000-2"]["front"] == "unknown"
    assert found["m0000-2"]["run_cost"] is None


def test_prices_are_asked_for_only_where_tokens_are_known(simulate: Simulate) -> None:
    rows = sweep(simulate, 0.0, 1.0)
    usage = usage_of(rows, {"m0000-0": None, "m0000-1": None})
    assert "the cost of 2 models is not known; give --prices" in sentences.costs(costs(rows, usage))
    unmeasured = usage.with_columns(
        pl.lit(None, pl.Int64).alias("used_input_token_count"),
        pl.lit(None, pl.Int64).alias("used_output_token_count"),
        token_run_count=pl.lit(0),
    )
    said = sentences.costs(costs(rows, unmeasured))
    assert "--prices" not in said
    assert "the tokens of 2 models are not known" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("model,input\na,1\n", "no column output"),
        ("model,input,output\na,1,much\n", "prices of a are not numbers"),
        ("model,input,output\na,-1,1\n", "prices of a are not numbers"),
        ("model,input,output\na,1,1\na,2,2\n", "two rows for some model"),
    ],
)
def test_a_wrong_price_file_is_explained(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PathError, match=said):
        read_prices(file)


def test_a_file_of_prices_is_named_literally(tmp_path: Path) -> None:
    """Its name may look like a pattern, and a directory is not a file."""
    (tmp_path / "prices[1].csv").write_text("model,input,output\na,1,2\n", encoding="utf-8")
    (tmp_path / "prices1.csv").write_text("model,input,output\nb,1,2\n", encoding="utf-8")

    assert read_prices(tmp_path / "prices[1].csv")["model"].to_list() == ["a"]
    with pytest.raises(PathError, match="is a directory; expected a CSV file with model, input"):
        read_prices(tmp_path)
