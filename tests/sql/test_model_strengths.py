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


def test_the_upper_quarter_is_strong(given, expect) -> None:
    given(**sweep(a=[1.0, 0.8], b=[0.8], c=[0.7], d=[0.6], e=[0.5]))
    columns = ("model", "scenario_count", "scenario_score_sum", "overall_score")
    columns += ("attempt_count", "strength_rank", "is_strong")
    rows = [
        ("a", 2, 1.8, 0.9, 5, 1, True),
        ("b", 1, 0.8, 0.8, 5, 2, True),
        ("c", 1, 0.7, 0.7, 5, 3, False),
        ("d", 1, 0.6, 0.6, 5, 4, False),
        ("e", 1, 0.5, 0.5, 5, 5, False),
    ]
    expect("model_strengths", [dict(zip(columns, row, strict=True)) for row in rows])


def test_ties_are_all_in(given, expect) -> None:
    given(**sweep(a=[0.5], b=[0.5], c=[0.1]))
    expect(
        "model_strengths",
        [
            {"model": "a", "strength_rank": 1, "is_strong": True},
            {"model": "b", "strength_rank": 1, "is_strong": True},
            {"model": "c", "strength_rank": 3, "is_strong": False},
        ],
    )


def test_a_model_without_any_score_has_no_strength(given, expect) -> None:
    given(scenarios=[{}])
    expect("model_strengths", [])
