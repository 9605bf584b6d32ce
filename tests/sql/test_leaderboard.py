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
                "average_score_en": 0.9,
                "workflow_similarity_ko": 0.5,
                "function_call_f1": None,
                "language_count": 2,
                "file_count": 2,
                "rank_number": 1,
            }
        ],
    )


def test_equals_share_a_place_and_the_undefined_come_last(given, expect) -> None:
    given(**files(("a", "EN", 0.5), ("b", "EN", 0.9), ("c", "EN", 0.5), ("d", "EN", None)))
    expect(
        "leaderboard",
        [
            {"model": "b", "average_score": 0.9, "average_score_ko": None, "rank_number": 1},
            {"model": "a", "average_score": 0.5, "average_score_ko": None, "rank_number": 2},
            {"model": "c", "average_score": 0.5, "average_score_ko": None, "rank_number": 2},
            {"model": "d", "average_score": None, "average_score_ko": None, "rank_number": 4},
        ],
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
