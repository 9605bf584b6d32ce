"""What a file used, from what it states: literal files of one model, in every way they come."""

import pytest


def file(scenario: str, at: float | None, answers: int, calls: int | None, **more) -> dict:
    """A file with one run; it states a thousand tokens and 0.01 for each call."""
    stated = {"total_token_count": 1000 * calls, "total_cost": calls / 100} if calls else {}
    return {
        "scenario": scenario,
        "generated_seconds": at,
        "step_answer_count": answers,
        "least_counter_count": answers,
        "usage_call_count": calls,
        **stated,
        **more,
    }


def used(rows: dict[str, tuple]) -> list[dict]:
    columns = ("usage_basis", "used_call_count", "used_token_count", "used_cost")
    return [
        {"scenario": name, **dict(zip(columns, row, strict=True))} for name, row in rows.items()
    ]


def test_files_of_one_run_used_the_difference_to_the_file_before(given, expect) -> None:
    given(scenarios=[file("b", 20.5, 3, 8), file("a", 10.0, 4, 5), file("c", 31.0, 2, 10)])
    expect(
        "scenario_usage",
        used(
            {
                "a": ("difference", 5, 5000, 0.05),
                "b": ("difference", 3, 3000, 0.03),
                "c": ("difference", 2, 2000, 0.02),
            }
        ),
    )


def test_a_fall_is_another_process(given, expect) -> None:
    given(scenarios=[file("a", 1.0, 4, 4), file("b", 2.0, 4, 9), file("c", 3.0, 4, 6)])
    expect(
        "scenario_usage",
        used(
            {
                "a": ("difference", 4, 4000, 0.04),
                "b": ("difference", 5, 5000, 0.05),
                "c": ("difference", 6, 6000, 0.06),
            }
        ),
    )
    expect("model_usage", [{"usage_basis": "difference", "used_call_count": 15}])


def test_scenarios_side_by_side_leave_the_total_of_their_process(given, expect) -> None:
    # The second file has three answers and just one call more than the first.
    given(scenarios=[file("a", 1.0, 2, 9), file("b", 2.0, 3, 10), file("c", 3.0, 4, 12)])
    expect("scenario_usage", used(dict.fromkeys("abc", ("process", None, None, None))))
    expect(
        "model_usage",
        [
            {
                "usage_basis": "process",
                "used_call_count": 12,
                "used_token_count": 12_000,
                "used_cost": 0.12,
                "token_file_count": 3,
                "mean_run_cost": 0.04,
                "least_cost": None,
            }
        ],
    )


def test_a_gap_before_a_file_leaves_the_total_of_its_process(given, expect) -> None:
    given(scenarios=[file("a", 1.0, 2, 2), file("c", 3.0, 2, 40)])
    expect("scenario_usage", used(dict.fromkeys("ac", ("process", None, None, None))))
    expect("model_usage", [{"used_call_count": 40, "doubtful_usage_file_count": 1}])


def test_languages_are_of_processes_of_their_own(given, expect) -> None:
    given(
        scenarios=[
            file("a", 1.0, 2, 2, language="KO"),
            file("b", 2.0, 2, 5, language="KO"),
            file("a", 3.0, 6, 6),
        ]
    )
    columns = ("language", "scenario", "used_call_count")
    rows = [("KO", "a", 2), ("KO", "b", 3), ("EN", "a", 6)]
    expect("scenario_usage", [dict(zip(columns, row, strict=True)) for row in rows])


def test_fewer_calls_than_a_counter_would_say_are_the_file_s_own(given, expect) -> None:
    # Three runs of two answers each: a counter read after each run adds up to 2 + 4 + 6.
    three = {"run_count": 3, "least_counter_count": 12}
    given(scenarios=[file("a", 0.0, 6, 6, **three), file("b", 0.0, 6, 13, **three)])
    expect(
        "scenario_usage",
        used({"a": ("as_given", 6, 6000, 0.06), "b": ("as_given", 13, 13_000, 0.13)}),
    )
    expect("model_usage", [{"usage_basis": "as_given", "used_cost": 0.19, "cost_run_count": 6}])


@pytest.mark.parametrize("seconds", [(1.0, 2.0), (None, None)])
def test_a_counter_of_a_process_is_never_below_its_answers(given, expect, seconds) -> None:
    first, second = seconds
    given(scenarios=[file("a", first, 6, 6), file("b", second, 6, 7)])
    expect(
        "scenario_usage", used({"a": ("as_given", 6, 6000, 0.06), "b": ("as_given", 7, 7000, 0.07)})
    )


def test_sums_of_readings_over_several_runs_tell_only_the_least(given, expect) -> None:
    three = {"run_count": 3, "least_counter_count": 18}
    given(scenarios=[file("a", 1.0, 9, 229, **three), file("b", 2.0, 9, 151, **three)])
    expect("scenario_usage", used(dict.fromkeys("ab", ("unknown", None, None, None))))
    expect(
        "model_usage",
        [
            {
                "usage_basis": "unknown",
                "unknown_usage_file_count": 2,
                "doubtful_usage_file_count": 2,
                "used_call_count": None,
                "used_token_count": None,
                "used_cost": None,
                "mean_run_cost": None,
                "least_token_count": 76_334,  # 229,000 / 3, rounded up
                "least_cost": 2.29 / 3,
            }
        ],
    )


def test_a_doubtful_file_among_own_figures_stays_unknown(given, expect) -> None:
    two = {"run_count": 2, "least_counter_count": 6}
    given(scenarios=[file("a", 0.0, 4, 4, **two), file("b", 0.0, 0, 20, least_counter_count=0)])
    expect(
        "scenario_usage",
        used({"a": ("as_given", 4, 4000, 0.04), "b": ("unknown", None, None, None)}),
    )
    expect(
        "model_usage",
        [{"usage_basis": "as_given", "used_cost": 0.04, "cost_file_count": 1, "least_cost": None}],
    )


def test_no_calls_stated_is_unknown(given, expect) -> None:
    given(scenarios=[file("a", 1.0, 4, None, total_token_count=500)])
    expect("scenario_usage", used({"a": ("unknown", None, None, None)}))
    expect("model_usage", [{"used_token_count": None, "least_token_count": 500}])


def test_files_without_order_cannot_be_told_apart(given, expect) -> None:
    given(scenarios=[file("a", None, 4, 5), file("b", None, 3, 9)])
    expect("scenario_usage", used(dict.fromkeys("ab", ("unknown", None, None, None))))


def test_no_answer_and_no_call_is_nothing_used(given, expect) -> None:
    free = {"total_token_count": 0, "total_cost": 0.0}
    given(scenarios=[file("a", 1.0, 0, 0, **free), file("b", 2.0, 0, 0, **free)])
    expect("scenario_usage", used(dict.fromkeys("ab", ("difference", 0, 0, 0.0))))
