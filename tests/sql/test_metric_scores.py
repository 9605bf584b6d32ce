from orchbench_analytics.metrics import METRICS


def test_every_metric_has_its_row(given, tables) -> None:
    given(
        scenarios=[{}],
        scored_plans=[{"plan_similarity": 0.5}],
        scored_steps=[{"true_positive_call_count": 1, "false_negative_call_count": 1}],
    )
    found = dict(tables.execute("select metric, score from main.metric_scores").fetchall())
    assert found.keys() == METRICS.keys()
    assert found["workflow_similarity"] == 0.5
    assert found["call_recall"] == 0.5
    assert found["reject_f1"] is None
