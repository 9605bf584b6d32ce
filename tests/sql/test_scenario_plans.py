READ = {"plan_similarity": 0.8, "structure_similarity": 1.0, "component_similarity": 0.6}
FAILED = {
    "is_failed": True,
    "failed_generation_count": 1,
    "plan_similarity": 0.0,
    "structure_similarity": 0.0,
    "component_similarity": 0.0,
}


def test_failed_plans_are_zero_and_read_ones_have_a_mean_of_their_own(given, expect) -> None:
    given(scored_plans=[READ, FAILED, {**READ, "is_ged_exact": False}, {"is_scored": False}])
    expect(
        "scenario_plans",
        [
            {
                "plan_count": 3,
                "failed_plan_count": 1,
                "failed_plan_generation_count": 1,
                "plan_similarity_sum": 1.6,
                "plan_with_failure_count": 3,
                "plan_similarity": 1.6 / 3,
                "plan_without_failure_count": 2,
                "read_plan_similarity": 0.8,
                "structure_similarity": 2 / 3,
                "component_similarity": 0.4,
                "inexact_plan_count": 1,
                "left_out_plan_count": 1,
            }
        ],
    )


def test_where_all_failed_the_mean_without_failure_is_undefined(given, expect) -> None:
    given(scored_plans=[FAILED])
    expect("scenario_plans", [{"plan_similarity": 0.0, "read_plan_similarity": None}])


def test_where_nothing_is_scored_every_mean_is_undefined(given, expect) -> None:
    given(scored_plans=[{"is_scored": False}])
    expect(
        "scenario_plans",
        [{"plan_count": 0, "plan_similarity": None, "structure_similarity": None}],
    )


def test_failed_plan_per_entry_counts_failures_again_below(given, expect) -> None:
    twice = {**FAILED, "failed_generation_count": 2}
    given(rules={"failed_plan": "per_entry"}, scored_plans=[READ, twice])
    expect("scenario_plans", [{"plan_with_failure_count": 4, "plan_similarity": 0.2}])


def test_without_failure_includes_failed_divides_by_all_plans(given, expect) -> None:
    given(rules={"without_failure": "includes_failed"}, scored_plans=[READ, FAILED])
    expect(
        "scenario_plans",
        [{"plan_without_failure_count": 2, "read_plan_similarity": 0.4}],
    )
