OWN = {"usage_call_count": 2, "step_answer_count": 2, "least_counter_count": 3}


def test_sums_are_over_the_files_whose_figure_is_known(given, expect) -> None:
    given(
        scenarios=[
            {"scenario": "1", "run_count": 3, "total_token_count": 600, "total_cost": 1.5, **OWN},
            {"scenario": "2", "run_count": 1, "total_token_count": 200, "total_cost": None, **OWN},
            {"scenario": "3", "run_count": 3},
        ]
    )
    expect(
        "model_usage",
        [
            {
                "usage_basis": "as_given",
                "unknown_usage_file_count": 1,
                "used_call_count": 4,
                "token_file_count": 2,
                "token_run_count": 4,
                "used_token_count": 800,
                "mean_file_tokens": 400.0,
                "mean_run_tokens": 200.0,
                "cost_file_count": 1,
                "cost_run_count": 3,
                "used_cost": 1.5,
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
                "usage_basis": "unknown",
                "cost_file_count": 0,
                "used_cost": None,
                "least_cost": None,
                "mean_run_cost": None,
                "mean_file_tokens": None,
            }
        ],
    )


def test_a_document_without_runs_has_no_cost_by_run(given, expect) -> None:
    given(scenarios=[{"scenario": "1", "run_count": 0, "usage_call_count": 0, "total_cost": 1.0}])
    expect("model_usage", [{"mean_file_cost": 1.0, "mean_run_cost": None}])


def test_an_impossible_cost_does_not_break_the_sum(given, expect) -> None:
    given(
        scenarios=[
            {"scenario": "1", "total_cost": 0.25, **OWN},
            {"scenario": "2", "total_cost": 1e300, **OWN},
            {"scenario": "3", "total_cost": float("inf"), **OWN},
        ]
    )
    expect("model_usage", [{"used_cost": 0.25, "cost_file_count": 3}])
