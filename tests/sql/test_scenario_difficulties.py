def sweep(**scores_of_model: list[float]) -> dict:
    """Models with a plan in each scenario, and its similarity as the scenario's score."""
    keys = [
        ({"model": model, "scenario": str(number)}, score)
        for model, scores in scores_of_model.items()
        for number, score in enumerate(scores)
    ]
    return {
        "scenarios": [key for key, _ in keys],
        "scored_plans": [{**key, "plan_similarity": score} for key, score in keys],
    }


def test_mean_and_spread_are_over_models(given, expect) -> None:
    given(**sweep(a=[1.0], b=[0.5], c=[0.0]))
    expect(
        "scenario_difficulties",
        [
            {
                "scenario": "0",
                "attempt_count": 3,
                "scenario_score_sum": 1.5,
                "mean_scenario_score": 0.5,
                "least_score": 0.0,
                "greatest_score": 1.0,
                "score_range": 1.0,
                "score_deviation": 0.5,
                "discrimination": None,
                "is_dead": False,
            }
        ],
    )


def test_a_scenario_discriminates_if_models_rank_as_in_their_others(given, expect) -> None:
    given(**sweep(a=[0.9, 0.8, 0.1], b=[0.6, 0.5, 0.2], c=[0.3, 0.2, 0.3]))
    expect(
        "scenario_difficulties",
        [
            {"scenario": "0", "discrimination": 1.0},
            {"scenario": "1", "discrimination": 1.0},
            {"scenario": "2", "discrimination": -1.0},
        ],
    )


def test_a_scenario_is_not_compared_with_itself(given, expect) -> None:
    given(**sweep(a=[0.0, 0.0], b=[0.5, 1.0], c=[1.0, 0.5]))
    expect(
        "scenario_difficulties",
        [{"scenario": "0", "discrimination": 0.5}, {"scenario": "1", "discrimination": 0.5}],
    )


def test_dead_is_the_same_score_for_everyone(given, expect) -> None:
    given(**sweep(a=[1.0, 0.5], b=[0.2, 0.5], c=[0.6, 0.5]))
    expect(
        "scenario_difficulties",
        [
            {"scenario": "0", "is_dead": False, "score_range": 0.8, "discrimination": None},
            {"scenario": "1", "is_dead": True, "score_range": 0.0, "discrimination": None},
        ],
    )


def test_one_attempt_says_nothing_of_death_or_deviation(given, expect) -> None:
    given(**sweep(a=[1.0, 0.5]))
    rows = [{"is_dead": None, "score_deviation": None, "discrimination": None}]
    expect("scenario_difficulties", rows * 2)


def test_suspicious_is_where_every_strong_model_is_below_half_its_overall(given, expect) -> None:
    given(**sweep(strong=[1.0, 0.8, 0.5, 0.1], weak=[0.2] * 4, weaker=[0.1] * 4))
    columns = ("scenario", "strong_attempt_count", "failing_strong_attempt_count", "is_suspicious")
    rows = [("0", 1, 0, False), ("1", 1, 0, False), ("2", 1, 0, False), ("3", 1, 1, True)]
    expect("scenario_difficulties", [dict(zip(columns, row, strict=True)) for row in rows])


def test_one_strong_model_that_copes_lifts_the_suspicion(given, expect) -> None:
    weak = {f"weak{n}": [0.1, 0.1] for n in range(4)}
    given(**sweep(strong=[1.0, 0.1], other=[0.9, 0.9], **weak))
    columns = ("scenario", "strong_attempt_count", "failing_strong_attempt_count", "is_suspicious")
    rows = [("0", 2, 0, False), ("1", 2, 1, False)]
    expect("scenario_difficulties", [dict(zip(columns, row, strict=True)) for row in rows])


def test_without_strong_models_nothing_is_suspicious_or_not(given, expect) -> None:
    given(
        scenarios=[
            {"model": "strong", "scenario": "0"},
            {"model": "weak", "scenario": "0"},
            {"model": "weak", "scenario": "1"},
        ],
        scored_plans=[
            {"model": "strong", "scenario": "0", "plan_similarity": 1.0},
            {"model": "weak", "scenario": "0", "plan_similarity": 0.2},
            {"model": "weak", "scenario": "1", "plan_similarity": 0.2},
        ],
    )
    expect(
        "scenario_difficulties",
        [
            {"scenario": "0", "strong_attempt_count": 1, "is_suspicious": False},
            {"scenario": "1", "strong_attempt_count": 0, "is_suspicious": None},
        ],
    )
