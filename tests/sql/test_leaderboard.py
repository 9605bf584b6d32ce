def files(*scores: tuple[str, str, float | None]) -> dict:
    """A file for each model and language, with one plan as its only score."""
    return {
        "scenarios": [{"model": m, "language": language} for m, language, _ in scores],
        "scored_plans": [
            {"model": m, "language": language, "plan_similarity": score}
            for m, language, score in scores
            if score is not None
        ],
    }


def test_a_model_is_the_mean_of_its_languages(given, expect) -> None:
    given(**files(("a", "EN", 0.9), ("a", "KO", 0.5)))
    expect(
        "leaderboard",
        [
            {
                "model": "a",
                "average_score": 0.7,
                "workflow_similarity": 0.7,
                "function_call_f1": None,
                "language_count": 2,
                "file_count": 2,
                "rank_number": 1,
            }
        ],
    )


def test_equals_share_a_place_and_the_undefined_have_none(given, expect) -> None:
    given(**files(("a", "EN", 0.5), ("b", "EN", 0.9), ("c", "EN", 0.5), ("d", "EN", None)))
    expect(
        "leaderboard",
        [
            {"model": "b", "average_score": 0.9, "is_ranked": True, "rank_number": 1},
            {"model": "a", "average_score": 0.5, "is_ranked": True, "rank_number": 2},
            {"model": "c", "average_score": 0.5, "is_ranked": True, "rank_number": 2},
            {"model": "d", "average_score": None, "is_ranked": False, "rank_number": None},
        ],
    )


def test_a_model_that_lacks_scenarios_has_no_rank(given, expect) -> None:
    given(
        scenarios=[
            {"model": "all", "scenario": "1"},
            {"model": "all", "scenario": "2"},
            {"model": "easy", "scenario": "1"},
        ],
        scored_plans=[
            {"model": "all", "scenario": "1", "plan_similarity": 0.9},
            {"model": "all", "scenario": "2", "plan_similarity": 0.1},
            {"model": "easy", "scenario": "1", "plan_similarity": 0.9},
        ],
    )
    complete = {"scenario_count": 2, "coverage": 1.0, "is_ranked": True, "rank_number": 1}
    partial = {"scenario_count": 1, "coverage": 0.5, "is_ranked": False, "rank_number": None}
    expect(
        "leaderboard",
        [
            {"model": "all", "average_score": 0.5, "sweep_scenario_count": 2, **complete},
            {"model": "easy", "average_score": 0.9, "sweep_scenario_count": 2, **partial},
        ],
    )


def test_a_missing_language_is_missing_scenarios(given, expect) -> None:
    given(**files(("a", "EN", 0.5), ("a", "KO", 0.5), ("b", "EN", 0.9)))
    expect(
        "leaderboard",
        [
            {"model": "a", "coverage": 1.0, "language_count": 2, "rank_number": 1},
            {"model": "b", "coverage": 0.5, "language_count": 1, "rank_number": None},
        ],
    )


def test_the_sweep_is_what_all_models_have_together(given, expect) -> None:
    given(
        scenarios=[{"model": "a", "scenario": "1"}, {"model": "b", "scenario": "2"}],
        scored_plans=[
            {"model": "a", "scenario": "1", "plan_similarity": 0.5},
            {"model": "b", "scenario": "2", "plan_similarity": 0.5},
        ],
    )
    common = {"coverage": 0.5, "sweep_scenario_count": 2, "sweep_language_count": 1}
    expect(
        "leaderboard",
        [
            {"model": "a", **common, "rank_number": None},
            {"model": "b", **common, "rank_number": None},
        ],
    )


def test_the_sweep_is_as_large_as_expected(given, expect) -> None:
    nameless = {"language": None, "scenario": None}
    given(**files(("a", "EN", 0.5)), expected_scenarios=[nameless] * 4)
    expect(
        "leaderboard",
        [
            {
                "model": "a",
                "coverage": 0.25,
                "scenario_count": 1,
                "sweep_scenario_count": 4,
                "sweep_language_count": 1,
                "rank_number": None,
            }
        ],
    )


def test_scenarios_that_are_expected_by_name_are_of_the_sweep(given, expect) -> None:
    expected = [{"language": "EN", "scenario": "1"}, {"language": "KO", "scenario": "1"}]
    given(**files(("a", "EN", 0.5)), expected_scenarios=expected)
    expect(
        "leaderboard",
        [
            {
                "coverage": 0.5,
                "sweep_scenario_count": 2,
                "sweep_language_count": 2,
                "rank_number": None,
            }
        ],
    )


def test_a_refused_file_stands_beside_the_rank(given, expect) -> None:
    refused = {"kind": "runs", "status": "refused", "reason": "truncated", "scenario": "2"}
    given(**files(("m", "EN", 0.5)), sources=[{**refused, "model": "m", "language": "EN"}])
    expect(
        "leaderboard",
        [{"file_count": 2, "scenario_count": 1, "refused_file_count": 1, "rank_number": 1}],
    )


def test_experiments_are_ranked_as_models_of_their_own(given, expect) -> None:
    given(
        scenarios=[{"experiment": "x"}, {"experiment": "y"}],
        scored_plans=[
            {"experiment": "x", "plan_similarity": 0.1},
            {"experiment": "y", "plan_similarity": 0.2},
        ],
    )
    expect(
        "leaderboard",
        [{"experiment": "x", "rank_number": 2}, {"experiment": "y", "rank_number": 1}],
    )


def test_an_empty_warehouse_has_an_empty_board(given, expect) -> None:
    given()
    expect("leaderboard", [])


def test_a_dead_endpoint_is_not_ranked_as_zero(given, expect) -> None:
    answered = {"plan_count": 1, "plan_answer_count": 1}
    given(
        scenarios=[
            {"model": "alive", **answered},
            {"model": "alive", "language": "KO", **answered},
            {"model": "dead in EN", "plan_count": 1, "missing_plan_count": 1},
            {"model": "dead in EN", "language": "KO", **answered},
            {"model": "wrong", **answered},
            {"model": "wrong", "language": "KO", **answered},
        ],
        scored_plans=[
            {"model": model, "language": language, "plan_similarity": score}
            for model, language, score in (
                ("alive", "EN", 0.5),
                ("alive", "KO", 0.5),
                ("dead in EN", "EN", 0.0),
                ("dead in EN", "KO", 1.0),
                ("wrong", "EN", 0.0),
                ("wrong", "KO", 0.0),
            )
        ],
    )
    columns = ("model", "rank_number", "is_ranked", "rank_status", "unanswered_language_count")
    rows = [
        ("alive", 1, True, "ranked", 0),
        ("wrong", 2, True, "ranked", 0),
        ("dead in EN", None, False, "no_answers", 1),
    ]
    expect("leaderboard", [dict(zip(columns, row, strict=True)) for row in rows])
