TYPED = "AWAITING_USER_INPUT"
OTHER = "TOOL_CONSTRAINT_VIOLATION"


def test_each_cell_counts_its_steps_and_its_share_of_label_and_answer(given, expect) -> None:
    given(
        scored_steps=[
            {"actual": "call", "predicted": "call"},
            {"actual": "call", "predicted": "call"},
            {"actual": "call", "predicted": TYPED},
            {"actual": TYPED, "predicted": "call"},
        ]
    )
    columns = (
        "actual",
        "predicted",
        "step_count",
        "actual_step_count",
        "predicted_step_count",
        "actual_share",
        "predicted_share",
    )
    rows = [
        ("call", "call", 2, 3, 3, 2 / 3, 2 / 3),
        ("call", TYPED, 1, 3, 1, 1 / 3, 1.0),
        (TYPED, "call", 1, 1, 3, 1.0, 1 / 3),
    ]
    expect("confusion_matrix", [dict(zip(columns, row, strict=True)) for row in rows])


def test_types_untyped_labels_and_failures_have_cells_of_their_own(given, expect) -> None:
    given(
        scored_steps=[
            {"actual": TYPED, "predicted": OTHER},
            {"actual": "rejection", "predicted": OTHER},
            {"actual": OTHER, "predicted": "failed"},
        ]
    )
    expect(
        "confusion_matrix",
        [
            {"actual": TYPED, "predicted": OTHER, "step_count": 1, "predicted_share": 0.5},
            {"actual": "rejection", "predicted": OTHER, "step_count": 1, "predicted_share": 0.5},
            {"actual": OTHER, "predicted": "failed", "step_count": 1, "predicted_share": 1.0},
        ],
    )


def test_what_is_not_scored_has_no_cell(given, expect) -> None:
    given(scored_steps=[{"is_scored": False, "left_out_reason": "unusable_label"}])
    expect("confusion_matrix", [])
