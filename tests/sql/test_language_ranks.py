"""The rule of who has a rank is tried on the means, in `test_leaderboard`; here the languages."""


def rows(*scores: tuple[str, str, str, float]) -> dict:
    """A file for each model, language and scenario, with one plan as its only score."""
    keys = ("model", "language", "scenario", "plan_similarity")
    plans = [dict(zip(keys, score, strict=True)) for score in scores]
    files = [{key: plan[key] for key in keys[:3]} for plan in plans]
    answered = {"plan_count": 1, "plan_answer_count": 1}
    return {"scenarios": [file | answered for file in files], "scored_plans": plans}


def expected(columns: str, *values: tuple) -> list[dict]:
    return [dict(zip(columns.split(), row, strict=True)) for row in values]


def test_a_language_is_ranked_over_its_own_scenarios(given, expect) -> None:
    given(
        **rows(
            ("all", "EN", "1", 0.5),
            ("all", "EN", "2", 0.7),
            ("all", "KO", "1", 0.9),
            ("short in EN", "EN", "1", 1.0),
            ("short in EN", "KO", "1", 0.8),
            ("only KO", "KO", "1", 1.0),
        )
    )
    expect(
        "language_ranks",
        expected(
            "model language rank_number rank_status scenario_count sweep_scenario_count",
            ("all", "EN", 1, "ranked", 2, 2),
            ("short in EN", "EN", None, "incomplete", 1, 2),
            ("all", "KO", 2, "ranked", 1, 1),
            ("short in EN", "KO", 3, "ranked", 1, 1),
            ("only KO", "KO", 1, "ranked", 1, 1),
            ("all", "mean", 1, "ranked", 3, 3),
            ("short in EN", "mean", None, "incomplete", 2, 3),
            ("only KO", "mean", None, "incomplete", 1, 3),
        ),
    )


def test_a_dead_endpoint_costs_the_rank_of_its_language(given, expect) -> None:
    alive = rows(("m", "EN", "1", 0.5), ("m", "KO", "1", 0.5), ("dead", "KO", "1", 0.4))
    dead = {"model": "dead", "language": "EN", "plan_count": 1, "missing_plan_count": 1}
    zero = {"model": "dead", "language": "EN", "scenario": "1", "plan_similarity": 0.0}
    given(
        scenarios=[*alive["scenarios"], dead],
        scored_plans=[*alive["scored_plans"], zero],
    )
    expect(
        "language_ranks",
        expected(
            "model language rank_number rank_status unanswered_language_count language_count",
            ("m", "EN", 1, "ranked", 0, 1),
            ("dead", "EN", None, "no_answers", 1, 1),
            ("m", "KO", 1, "ranked", 0, 1),
            ("dead", "KO", 2, "ranked", 0, 1),
            ("m", "mean", 1, "ranked", 0, 2),
            ("dead", "mean", None, "no_answers", 1, 2),
        ),
    )


def test_a_number_of_expected_scenarios_is_of_no_language(given, expect) -> None:
    nameless, named = {"language": None, "scenario": None}, {"language": "KO", "scenario": "9"}
    given(
        **rows(("m", "EN", "1", 0.5), ("m", "KO", "1", 0.5)),
        expected_scenarios=[named, *[nameless] * 4],
    )
    columns = "language sweep_scenario_count rank_number"
    expect("language_ranks", expected(columns, ("EN", 1, 1), ("KO", 2, None), ("mean", 5, None)))
