def test_lost_and_empty_answers_are_told_apart(given, expect) -> None:
    given(
        scenarios=[
            {
                "scenario": "1",
                "step_count": 6,
                "plan_count": 2,
                "step_answer_count": 4,
                "plan_answer_count": 1,
                "missing_answer_count": 2,
                "missing_plan_count": 1,
                "empty_answer_count": 1,
            },
            {"scenario": "2", "step_count": 2, "step_answer_count": 2, "unreadable_run_count": 1},
        ]
    )
    expect(
        "model_problems",
        [
            {
                "is_unanswered": False,
                "label_count": 10,
                "answer_count": 7,
                "lost_answer_count": 3,
                "lost_answer_rate": 0.3,
                "empty_answer_count": 1,
                "empty_answer_rate": 1 / 7,
                "unreadable_run_count": 1,
                "unjudged_run_count": None,
                "reported_error_count": None,
            }
        ],
    )


def test_a_language_without_any_answer_is_unanswered(given, expect) -> None:
    given(
        scenarios=[
            {"language": "EN", "step_count": 3, "missing_answer_count": 3},
            {"language": "KO", "step_count": 3, "step_answer_count": 1, "missing_answer_count": 2},
            {"model": "no labels"},
        ]
    )
    columns = ("model", "language", "is_unanswered", "lost_answer_rate", "empty_answer_rate")
    rows = [
        ("m", "EN", True, 1.0, None),
        ("m", "KO", False, 2 / 3, 0.0),
        ("no labels", "EN", False, None, None),
    ]
    expect("model_problems", [dict(zip(columns, row, strict=True)) for row in rows])


def test_what_the_evaluator_says_went_wrong_is_counted(given, expect) -> None:
    trials = "detail.arguments_detail.llm_failed_trials"
    given(
        scenarios=[{"scenario": "1"}],
        reported_scenarios=[
            {"scenario": "1", "figure": trials, "value": 2.0},
            {"scenario": "2", "figure": trials, "value": 1.0},
            {"scenario": "2", "figure": "detail.arguments_detail.error", "message": "bad"},
            {"scenario": "#2", "figure": "error", "message": "Failed to load data"},
            {"scenario": "2", "figure": "arguments_key_score", "value": 0.5},
        ],
    )
    expect("model_problems", [{"unjudged_run_count": 3, "reported_error_count": 2}])


def test_failed_requests_are_known_where_the_log_is_there(given, expect) -> None:
    log = {"failed_request_count": 5, "rate_limited_request_count": 2, "first_error": "status 429"}
    given(scenarios=[{"language": "EN"}, {"language": "KO"}], run_logs=[{"language": "EN", **log}])
    expect(
        "model_problems",
        [
            {"language": "EN", **log, "logged_error_count": 0},
            {"language": "KO", **dict.fromkeys(log), "logged_error_count": None},
        ],
    )
