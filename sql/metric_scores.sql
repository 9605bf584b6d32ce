-- The metrics of a model in a language, one row for each: `model_scores` in long form.
-- grain: profile, model, experiment, language, metric
with

model_scores as (select * from main.model_scores),

unpivoted as (
    select profile, model, experiment, language, metric, score, scored_file_count
    from model_scores
    unpivot include nulls (
        score for metric in (
            average_score, call_rejection_f1, function_call_f1, workflow_similarity,
            reject_f1, reject_precision, reject_recall, call_f1, call_precision, call_recall,
            name_f1, key_f1, value_f1, structure_similarity, component_similarity
        )
    )
)

select * from unpivoted
