import pytest


def plans(*scores: tuple[str, float]) -> dict:
    """A file with one plan for each language."""
    return {
        "scenarios": [{"language": language} for language, _ in scores],
        "scored_plans": [
            {"language": language, "plan_similarity": score} for language, score in scores
        ],
    }


def test_the_gap_is_the_later_language_minus_the_earlier(given, tables) -> None:
    given(
        scenarios=[{"language": "EN"}, {"language": "KO"}, {"language": "KO", "scenario": "2"}],
        scored_plans=[
            {"language": "EN", "plan_similarity": 0.8, "structure_similarity": 1.0},
            {"language": "KO", "plan_similarity": 0.4, "structure_similarity": 1.0},
            {"language": "KO", "plan_similarity": 0.6, "structure_similarity": 0.5}
            | {"scenario": "2"},
        ],
    )
    columns = "score, other_score, language_gap, scored_file_count, other_scored_file_count"
    found = {
        metric: row
        for metric, *row in tables.execute(
            f"select metric, {columns} from main.language_gaps"
        ).fetchall()
    }
    assert found["workflow_similarity"] == pytest.approx([0.8, 0.5, -0.3, 1, 2])
    assert found["average_score"] == pytest.approx([0.8, 0.5, -0.3, 1, 2])
    assert found["structure_similarity"] == pytest.approx([1.0, 0.75, -0.25, 1, 2])
    assert found["call_f1"] == [None, None, None, 1, 2]


def test_three_languages_make_three_pairs(given, tables) -> None:
    given(**plans(("JA", 0.5), ("KO", 0.25), ("EN", 1.0)))
    pairs = tables.execute(
        "select language, other_language, language_gap from main.language_gaps"
        " where metric = 'workflow_similarity' order by all"
    ).fetchall()
    assert pairs == [("EN", "JA", -0.5), ("EN", "KO", -0.75), ("JA", "KO", -0.25)]


def test_one_language_has_no_gap(given, expect) -> None:
    given(**plans(("EN", 0.8)))
    expect("language_gaps", [])
