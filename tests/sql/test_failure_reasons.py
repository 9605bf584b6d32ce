def test_steps_and_plans_fail_for_their_own_reasons(given, expect) -> None:
    given(
        scored_steps=[
            {"predicted": "failed", "failure_reason": "empty"},
            {"predicted": "failed", "failure_reason": "empty"},
            {"predicted": "failed", "failure_reason": "text"},
            {"predicted": "call"},
        ],
        scored_plans=[
            {"is_failed": True, "read_as": "no_workflow"},
            {"is_failed": False, "read_as": "yaml"},
        ],
    )
    columns = ("unit", "failure_reason", "failure_count", "scored_unit_count")
    columns += ("failed_unit_count", "failure_rate", "failure_share")
    rows = [
        ("step", "empty", 2, 4, 3, 0.5, 2 / 3),
        ("step", "text", 1, 4, 3, 0.25, 1 / 3),
        ("plan", "no_workflow", 1, 2, 1, 0.5, 1.0),
    ]
    expect("failure_reasons", [dict(zip(columns, row, strict=True)) for row in rows])


def test_what_is_not_scored_does_not_fail(given, expect) -> None:
    given(
        scored_steps=[{"is_scored": False, "predicted": "failed", "failure_reason": "missing"}],
        scored_plans=[{"is_scored": False, "is_failed": True, "read_as": "empty"}],
    )
    expect("failure_reasons", [])
