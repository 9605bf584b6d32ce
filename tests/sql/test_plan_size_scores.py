def plan(size: int, structure: float, component: float, *, is_failed: bool = False) -> dict:
    return {
        "label_workflow_count": size,
        "is_failed": is_failed,
        "structure_similarity": structure,
        "component_similarity": component,
        "plan_similarity": (structure + component) / 2,
    }


def test_means_are_over_plans_of_a_size(given, expect) -> None:
    given(
        scored_plans=[
            plan(1, 1.0, 1.0),
            plan(2, 1.0, 0.5),
            plan(2, 0.0, 0.0, is_failed=True),
        ]
    )
    columns = ("label_workflow_count", "plan_count", "failed_plan_count", "read_plan_count")
    columns += ("perfect_plan_count", "failed_plan_rate", "perfect_plan_rate")
    columns += ("mean_plan_similarity", "mean_read_plan_similarity")
    columns += ("mean_structure_similarity", "mean_component_similarity", "plan_similarity_sum")
    rows = [
        (1, 1, 0, 1, 1, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        (2, 2, 1, 1, 0, 0.5, 0.0, 0.375, 0.75, 0.5, 0.25, 0.75),
    ]
    expect("plan_size_scores", [dict(zip(columns, row, strict=True)) for row in rows])


def test_where_every_plan_failed_the_mean_of_read_ones_is_undefined(given, expect) -> None:
    given(scored_plans=[plan(3, 0.0, 0.0, is_failed=True)])
    expect("plan_size_scores", [{"mean_plan_similarity": 0.0, "mean_read_plan_similarity": None}])


def test_what_is_not_scored_has_no_size(given, expect) -> None:
    given(scored_plans=[{"is_scored": False, "label_workflow_count": 2}])
    expect("plan_size_scores", [])
