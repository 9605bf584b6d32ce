ASK = "AWAITING_USER_INPUT"
REFUSE = "TOOL_CONSTRAINT_VIOLATION"
COLUMNS = ("error_pattern", "occurrence_count", "opportunity_count", "wrong_step_count")
COLUMNS += ("occurrence_rate", "error_share")


def test_each_pattern_is_a_rate_of_its_opportunities_and_a_share_of_errors(given, expect) -> None:
    given(
        scored_steps=[
            {"actual": "call", "predicted": "call"},
            {"actual": "call", "predicted": ASK},
            {"actual": "call", "predicted": "failed"},
            {"actual": "call", "predicted": "failed"},
            {"actual": ASK, "predicted": "call"},
            {"actual": ASK, "predicted": REFUSE, "is_type_mismatch": True},
            {"actual": ASK, "predicted": ASK},
            {"actual": ASK, "predicted": "failed"},
        ]
    )
    rows = [
        ("overaction", 1, 4, 6, 0.25, 1 / 6),
        ("underaction", 1, 4, 6, 0.25, 1 / 6),
        ("type_mismatch", 1, 2, 6, 0.5, 1 / 6),
        ("failed_call", 2, 4, 6, 0.5, 2 / 6),
        ("failed_rejection", 1, 4, 6, 0.25, 1 / 6),
    ]
    expect("error_patterns", [dict(zip(COLUMNS, row, strict=True)) for row in rows])


def test_no_opportunity_and_no_error_are_undefined(given, expect) -> None:
    given(scored_steps=[{"actual": "call", "predicted": "call"}])
    rows = [
        ("overaction", 0, 0, 0, None, None),
        ("underaction", 0, 1, 0, 0.0, None),
        ("type_mismatch", 0, 0, 0, None, None),
        ("failed_call", 0, 1, 0, 0.0, None),
        ("failed_rejection", 0, 0, 0, None, None),
    ]
    expect("error_patterns", [dict(zip(COLUMNS, row, strict=True)) for row in rows])
