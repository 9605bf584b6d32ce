def test_sums_are_over_the_files_that_state_the_figure(given, expect) -> None:
    given(
        scenarios=[
            {"scenario": "1", "run_count": 3, "total_token_count": 600, "total_cost": 1.5},
            {"scenario": "2", "run_count": 1, "total_token_count": 200, "total_cost": None},
            {"scenario": "3", "run_count": 3},
        ]
    )
    expect(
        "model_usage",
        [
            {
                "token_file_count": 2,
                "token_run_count": 4,
                "total_token_count": 800,
                "mean_file_tokens": 400.0,
                "mean_run_tokens": 200.0,
                "cost_file_count": 1,
                "cost_run_count": 3,
                "total_cost": 1.5,
                "mean_file_cost": 1.5,
                "mean_run_cost": 0.5,
            }
        ],
    )


def test_unstated_usage_is_unknown_and_not_free(given, expect) -> None:
    given(scenarios=[{"scenario": "1"}])
    expect(
        "model_usage",
        [
            {
                "cost_file_count": 0,
                "total_cost": None,
                "mean_run_cost": None,
                "mean_file_tokens": None,
            }
        ],
    )


def test_a_document_without_runs_has_no_cost_by_run(given, expect) -> None:
    given(scenarios=[{"scenario": "1", "run_count": 0, "total_cost": 1.0}])
    expect("model_usage", [{"mean_file_cost": 1.0, "mean_run_cost": None}])


def test_an_impossible_cost_does_not_break_the_sum(given, expect) -> None:
    given(
        scenarios=[
            {"scenario": "1", "total_cost": 0.25},
            {"scenario": "2", "total_cost": 1e300},
            {"scenario": "3", "total_cost": float("inf")},
        ]
    )
    expect("model_usage", [{"total_cost": 0.25, "cost_file_count": 3}])
