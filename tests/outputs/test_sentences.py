"""What a table shows, in one sentence."""

import polars as pl

from orchbench_analytics.outputs.sentences import power_advice


def test_advice_is_for_rows_without_a_verdict() -> None:
    row = {
        "metric": "average_score",
        "verdict": "no difference shown",
        "detectable_difference": 0.05,
        "scenario_count": 24,
    }
    advice = power_advice(pl.DataFrame([row])) or ""
    assert advice.startswith("Average: on 24 scenarios")
    assert "about 600 scenarios" in advice
    assert power_advice(pl.DataFrame([{**row, "verdict": "better"}])) is None
