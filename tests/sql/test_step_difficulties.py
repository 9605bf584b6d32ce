ASK = "AWAITING_USER_INPUT"
REFUSE = "TOOL_CONSTRAINT_VIOLATION"
CALLED = {"step_id": "4", "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0}


def test_a_call_scores_by_its_f1_and_a_rejection_by_its_type(given, expect) -> None:
    given(
        scenarios=[{}],
        scored_steps=[
            {**CALLED, "run": "run #1"},
            {**CALLED, "run": "run #2", "predicted": ASK},
            {"step_id": "6", "actual": ASK, "predicted": ASK},
            {"step_id": "7", "actual": ASK, "predicted": REFUSE, "is_type_mismatch": True},
            {"step_id": "8", "actual": ASK, "predicted": "failed"},
            {"step_id": "9", "actual": ASK, "predicted": "call"},
        ],
        scored_plans=[{"step_id": "3", "plan_similarity": 0.7}],
    )
    columns = ("unit", "step_id", "attempt_count", "mean_attempt_score")
    rows = [
        ("plan", "3", 1, 0.7),
        ("step", "4", 1, 0.25),
        ("step", "6", 1, 1.0),
        ("step", "7", 1, 0.0),
        ("step", "8", 1, 0.0),
        ("step", "9", 1, 0.0),
    ]
    expect("step_difficulties", [dict(zip(columns, row, strict=True)) for row in rows])


def test_a_label_that_every_strong_model_misses_is_suspicious(given, expect) -> None:
    models = [{"model": m} for m in ("strong", "weak")]
    given(
        scenarios=models,
        scored_steps=[
            {**m, "step_id": s, "actual": ASK, "predicted": ASK if right else "call"}
            | {"true_positive_reject_count": int(right)}
            for m, answers in zip(models, ("yyyn", "nnny"), strict=True)
            for s, right in zip("4567", (a == "y" for a in answers), strict=True)
        ],
    )
    columns = ("step_id", "attempt_score_sum", "score_range", "is_dead")
    columns += ("strong_attempt_count", "failing_strong_attempt_count", "is_suspicious")
    rows = [
        ("4", 1.0, 1.0, False, 1, 0, False),
        ("5", 1.0, 1.0, False, 1, 0, False),
        ("6", 1.0, 1.0, False, 1, 0, False),
        ("7", 1.0, 1.0, False, 1, 1, True),
    ]
    expect("step_difficulties", [dict(zip(columns, row, strict=True)) for row in rows])


def test_one_attempt_says_nothing_of_death(given, expect) -> None:
    given(scenarios=[{}], scored_plans=[{"step_id": "3", "plan_similarity": 0.7}])
    expect("step_difficulties", [{"is_dead": None, "is_suspicious": False}])


def test_what_is_not_scored_has_no_row(given, expect) -> None:
    given(scenarios=[{}], scored_steps=[{"is_scored": False}], scored_plans=[{"is_scored": False}])
    expect("step_difficulties", [])
