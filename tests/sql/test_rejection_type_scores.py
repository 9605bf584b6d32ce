ASK = "AWAITING_USER_INPUT"
REFUSE = "TOOL_CONSTRAINT_VIOLATION"


def test_recall_is_over_labels_and_precision_over_answers(given, expect) -> None:
    given(
        scored_steps=[
            {"actual": ASK, "predicted": ASK},
            {"actual": ASK, "predicted": REFUSE, "is_type_mismatch": True},
            {"actual": ASK, "predicted": "call"},
            {"actual": ASK, "predicted": "failed"},
            {"actual": "call", "predicted": ASK},
        ]
    )
    columns = ("rejection_type", "labelled_step_count", "answered_step_count")
    columns += ("type_true_positive_count", "type_false_positive_count")
    columns += ("type_false_negative_count", "type_mismatch_count", "called_step_count")
    columns += ("failed_step_count", "type_precision", "type_recall", "type_f1")
    rows = [
        (ASK, 4, 2, 1, 1, 3, 1, 1, 1, 0.5, 0.25, 1 / 3),
        (REFUSE, 0, 1, 0, 1, 0, 0, 0, 0, 0.0, None, 0.0),
    ]
    expect("rejection_type_scores", [dict(zip(columns, row, strict=True)) for row in rows])


def test_any_rejection_serves_an_untyped_label_and_tells_nothing_of_its_type(given, expect) -> None:
    given(
        scored_steps=[
            {"actual": "rejection", "predicted": REFUSE},
            {"actual": "rejection", "predicted": "call"},
        ]
    )
    expect(
        "rejection_type_scores",
        [
            {
                "rejection_type": "rejection",
                "type_true_positive_count": 1,
                "answered_step_count": 0,
                "type_precision": None,
                "type_recall": 0.5,
                "type_f1": None,
            }
        ],
    )


def test_a_mismatch_of_an_untyped_label_is_none_of_its_hits(given, expect) -> None:
    mismatch = {"actual": "rejection", "predicted": REFUSE, "is_type_mismatch": True}
    given(scored_steps=[mismatch])
    expect("rejection_type_scores", [{"type_true_positive_count": 0, "type_mismatch_count": 1}])


def test_calls_alone_have_no_types(given, expect) -> None:
    given(scored_steps=[{"actual": "call", "predicted": "failed"}])
    expect("rejection_type_scores", [])
