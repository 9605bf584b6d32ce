import pytest


def test_the_gap_is_korean_minus_english(given, expect, tables) -> None:
    given(
        scenarios=[{"language": "EN"}, {"language": "KO"}, {"language": "KO", "scenario": "2"}],
        scored_plans=[
            {"language": "EN", "plan_similarity": 0.8, "structure_similarity": 1.0},
            {"language": "KO", "plan_similarity": 0.4, "structure_similarity": 1.0},
            {"language": "KO", "plan_similarity": 0.6, "structure_similarity": 0.5}
            | {"scenario": "2"},
        ],
    )
    columns = "score_en, score_ko, language_gap, en_file_count, ko_file_count"
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
    assert len(found) == 11


def test_one_language_has_no_gap(given, tables) -> None:
    given(scenarios=[{"language": "EN"}], scored_plans=[{"language": "EN", "plan_similarity": 0.8}])
    gap = "select score_en, score_ko, language_gap, ko_file_count from main.language_gaps"
    found = tables.execute(f"{gap} where metric = 'workflow_similarity'").fetchall()
    assert found == [(0.8, None, None, 0)]


def test_other_languages_are_no_side_of_it(given, expect) -> None:
    given(scenarios=[{"language": "unknown"}])
    expect("language_gaps", [])
