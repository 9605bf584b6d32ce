def test_edits_are_counted_by_graph_and_kind_and_related_to_plans(given, expect) -> None:
    structure = {"graph": "structure", "kind": "missing_workflow", "cost": 1.0}
    given(
        scored_plans=[{"step_id": "3"}, {"step_id": "9"}],
        plan_edits=[
            {"step_id": "3", "edit_number": 0, **structure},
            {"step_id": "3", "edit_number": 1, **structure},
            {"step_id": "3", "edit_number": 2, **structure, "kind": "extra_dependency"},
            {"step_id": "9", "graph": "component", "kind": "wrong_agent", "cost": 0.8},
        ],
    )
    columns = ("graph", "kind", "edit_count", "edit_cost", "edited_plan_count", "read_plan_count")
    columns += ("graph_edit_cost", "edited_plan_rate", "mean_edit_count", "mean_edit_cost")
    columns += ("edit_cost_share",)
    rows = [
        ("structure", "missing_workflow", 2, 2.0, 1, 2, 3.0, 0.5, 1.0, 1.0, 2 / 3),
        ("structure", "extra_dependency", 1, 1.0, 1, 2, 3.0, 0.5, 0.5, 0.5, 1 / 3),
        ("component", "wrong_agent", 1, 0.8, 1, 2, 0.8, 0.5, 0.5, 0.4, 1.0),
    ]
    expect("plan_error_kinds", [dict(zip(columns, row, strict=True)) for row in rows])


def test_failed_plans_are_no_plans_to_edit(given, expect) -> None:
    given(
        scored_plans=[{"step_id": "3"}, {"step_id": "9", "is_failed": True}],
        plan_edits=[{"step_id": "3", "graph": "structure", "kind": "extra_workflow", "cost": 1.0}],
    )
    expect("plan_error_kinds", [{"read_plan_count": 1, "mean_edit_count": 1.0}])


def test_free_edits_have_no_share_of_nothing(given, expect) -> None:
    free = {"step_id": "3", "graph": "component", "kind": "wrong_status", "cost": 0.0}
    given(scored_plans=[{"step_id": "3"}], plan_edits=[free])
    expect("plan_error_kinds", [{"edit_count": 1, "edit_cost": 0.0, "edit_cost_share": None}])


def test_right_plans_have_no_rows(given, expect) -> None:
    given(scored_plans=[{"step_id": "3"}])
    expect("plan_error_kinds", [])
