OWN = {"usage_call_count": 2, "step_answer_count": 2, "least_counter_count": 3}


def attempts(*scores_and_costs: tuple[str, float | None, float | None]) -> dict:
    """A model for each score and cost; its score is that of its only plan."""
    return {
        "scenarios": [{"model": m, "total_cost": cost, **OWN} for m, _, cost in scores_and_costs],
        "scored_plans": [
            {"model": m, "plan_similarity": score} for m, score, _ in scores_and_costs if score
        ],
    }


def test_who_is_beaten_by_a_cheaper_or_equally_cheap_one_is_off_the_front(given, expect) -> None:
    given(
        **attempts(
            ("cheap", 0.5, 1.0),
            ("beaten at its price", 0.4, 1.0),
            ("no better for more", 0.5, 2.0),
            ("better for more", 0.9, 3.0),
            ("worse for more", 0.8, 4.0),
        )
    )
    expect(
        "score_costs",
        [
            {"model": "cheap", "score_per_cost": 0.5, "is_pareto_optimal": True},
            {"model": "beaten at its price", "score_per_cost": 0.4, "is_pareto_optimal": False},
            {"model": "no better for more", "score_per_cost": 0.25, "is_pareto_optimal": False},
            {"model": "better for more", "score_per_cost": 0.3, "is_pareto_optimal": True},
            {"model": "worse for more", "score_per_cost": 0.2, "is_pareto_optimal": False},
        ],
    )


def test_equals_share_the_front(given, expect) -> None:
    given(**attempts(("a", 0.5, 1.0), ("b", 0.5, 1.0)))
    expect(
        "score_costs",
        [{"model": "a", "is_pareto_optimal": True}, {"model": "b", "is_pareto_optimal": True}],
    )


def test_unknown_cost_or_score_is_neither_on_nor_off(given, expect) -> None:
    given(**attempts(("known", 0.5, 1.0), ("no cost", 0.9, None), ("no score", None, 0.1)))
    columns = ("model", "average_score", "mean_run_cost", "score_per_cost", "is_pareto_optimal")
    rows = [
        ("known", 0.5, 1.0, 0.5, True),
        ("no cost", 0.9, None, None, None),
        ("no score", None, 0.1, None, None),
    ]
    expect("score_costs", [dict(zip(columns, row, strict=True)) for row in rows])


def test_what_is_free_has_no_score_per_cost(given, expect) -> None:
    given(**attempts(("free", 0.5, 0.0)))
    expect("score_costs", [{"score_per_cost": None, "is_pareto_optimal": True}])


def test_languages_have_fronts_of_their_own_and_costs_go_by_run(given, expect) -> None:
    given(
        scenarios=[
            {"model": "a", "total_cost": 3.0, "run_count": 3, **OWN},
            {"model": "b", "total_cost": 2.0, "run_count": 1, **OWN},
            {"model": "b", "language": "KO", "total_cost": 2.0, **OWN},
        ],
        scored_plans=[
            {"model": "a", "plan_similarity": 0.5},
            {"model": "b", "plan_similarity": 0.5},
            {"model": "b", "language": "KO", "plan_similarity": 0.1},
        ],
    )
    columns = ("model", "language", "mean_file_cost", "mean_run_cost", "is_pareto_optimal")
    rows = [
        ("a", "EN", 3.0, 1.0, True),
        ("b", "EN", 2.0, 2.0, False),
        ("b", "KO", 2.0, 2.0, True),
    ]
    expect("score_costs", [dict(zip(columns, row, strict=True)) for row in rows])


def test_the_basis_of_a_cost_stands_beside_it(given, expect) -> None:
    given(
        scenarios=[
            {"model": "own", "total_cost": 3.0, **OWN},
            {"model": "counter", "total_cost": 6.0, "run_count": 2, "usage_call_count": 90},
        ],
        scored_plans=[
            {"model": "own", "plan_similarity": 0.5},
            {"model": "counter", "plan_similarity": 0.9},
        ],
    )
    columns = ("model", "usage_basis", "used_cost", "least_cost", "is_pareto_optimal")
    rows = [("own", "as_given", 3.0, None, True), ("counter", "unknown", None, 3.0, None)]
    expect("score_costs", [dict(zip(columns, row, strict=True)) for row in rows])
