SCORED = {"is_call_scored": True}


def test_a_file_is_the_mean_of_its_runs(given, expect) -> None:
    given(
        scenarios=[{"run_count": 3}],
        scored_steps=[
            {**SCORED, "run": "run #1", "name_f1": 1.0, "key_f1": 1.0, "value_f1": 1.0},
            {**SCORED, "run": "run #1", "name_f1": 0.0, "key_f1": 0.0, "value_f1": 0.0},
            {**SCORED, "run": "run #2", "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0},
            {"run": "run #3", "actual": "rejection"},
        ],
    )
    expect(
        "scenario_calls",
        [{"call_run_count": 2, "name_f1": 0.75, "key_f1": 0.5, "value_f1": 0.25}],
    )


def test_run_mean_all_runs_divides_by_every_run_of_the_document(given, expect) -> None:
    given(
        rules={"run_mean": "all_runs"},
        scenarios=[{"run_count": 4}],
        scored_steps=[{**SCORED, "name_f1": 1.0, "key_f1": 1.0, "value_f1": 0.5}],
    )
    expect("scenario_calls", [{"call_run_count": 4, "name_f1": 0.25, "value_f1": 0.125}])


def test_rounding_four_digits_rounds_runs_and_then_the_file(given, tables) -> None:
    thirds = [
        {**SCORED, "run": f"run #{n}", "name_f1": n / 3, "key_f1": 0.0, "value_f1": n / 3}
        for n in (1, 2)
    ]
    given(rules={"rounding": "four_digits"}, scenarios=[{"run_count": 2}], scored_steps=thirds)
    found = tables.execute("select name_f1, value_f1 from main.scenario_calls").fetchall()
    assert found == [(0.5, 0.5)]


def test_ties_of_rounding_go_to_the_even_digit(given, tables) -> None:
    halves = [{**SCORED, "run": f"run #{n}", "value_f1": f1} for n, f1 in enumerate((0.0, 0.03125))]
    given(rules={"rounding": "four_digits"}, scenarios=[{"run_count": 2}], scored_steps=halves)
    assert tables.execute("select value_f1 from main.scenario_calls").fetchall() == [(0.0156,)]


def test_a_file_without_call_labels_has_no_row(given, expect) -> None:
    given(scenarios=[{}], scored_steps=[{"actual": "rejection"}])
    expect("scenario_calls", [])
