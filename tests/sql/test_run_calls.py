SCORED = {"is_call_scored": True}


def test_a_run_is_the_mean_of_its_call_scored_steps(given, expect) -> None:
    given(
        scored_steps=[
            {**SCORED, "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0},
            {**SCORED, "name_f1": 0.0, "key_f1": 0.5, "value_f1": 0.5},
            {"actual": "rejection", "predicted": "AWAITING_USER_INPUT"},
        ]
    )
    expect(
        "run_calls",
        [
            {
                "call_label_count": 2,
                "call_scored_count": 2,
                "name_f1": 0.5,
                "key_f1": 0.5,
                "value_f1": 0.25,
            }
        ],
    )


def test_calls_that_were_all_rejected_are_zero(given, expect) -> None:
    given(scored_steps=[{"actual": "call", "predicted": "AWAITING_USER_INPUT"}])
    expect("run_calls", [{"call_label_count": 1, "call_scored_count": 0, "name_f1": 0.0}])


def test_a_run_without_call_labels_has_no_score(given, expect) -> None:
    given(scored_steps=[{"actual": "rejection"}, {"is_scored": False}])
    expect("run_calls", [])


def test_run_mean_all_runs_keeps_a_run_without_call_labels(given, expect) -> None:
    given(rules={"run_mean": "all_runs"}, scored_steps=[{"actual": "rejection"}])
    expect("run_calls", [{"call_label_count": 0, "name_f1": 0.0, "value_f1": 0.0}])


def test_value_mean_positive_only_leaves_out_the_zeros(given, expect) -> None:
    given(
        rules={"value_mean": "positive_only"},
        scored_steps=[
            {**SCORED, "name_f1": 0.0, "value_f1": 0.0},
            {**SCORED, "name_f1": 1.0, "value_f1": 0.5},
        ],
    )
    expect("run_calls", [{"name_f1": 0.5, "value_f1": 0.5}])


def test_rounding_four_digits_rounds_names_and_keys_but_not_values(given, expect, tables) -> None:
    third = {"name_f1": 1 / 3, "key_f1": 2 / 3, "value_f1": 1 / 3}
    given(rules={"rounding": "four_digits"}, scored_steps=[{**SCORED, **third}])
    found = tables.execute("select name_f1, key_f1, value_f1 from main.run_calls").fetchall()
    assert found == [(0.3333, 0.6667, 1 / 3)]
