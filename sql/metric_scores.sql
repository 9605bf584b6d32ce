-- The metrics of a model in a language, one row for each: `model_scores` in long form.
-- grain: profile, model, experiment, language, metric
with

model_scores as (
    select * from main.model_scores
),

metrics as (
    select metric
    from (
        values
        ('average_score'),
        ('call_rejection_f1'),
        ('function_call_f1'),
        ('workflow_similarity'),
        ('reject_f1'),
        ('reject_precision'),
        ('reject_recall'),
        ('call_f1'),
        ('call_precision'),
        ('call_recall'),
        ('name_f1'),
        ('key_f1'),
        ('value_f1'),
        ('structure_similarity'),
        ('component_similarity')
    ) as metrics (metric)
),

unpivoted as (
    select
        model_scores.profile,
        model_scores.model,
        model_scores.experiment,
        model_scores.language,
        metrics.metric,
        case metrics.metric
            when 'average_score' then model_scores.average_score
            when 'call_rejection_f1' then model_scores.call_rejection_f1
            when 'function_call_f1' then model_scores.function_call_f1
            when 'workflow_similarity' then model_scores.workflow_similarity
            when 'reject_f1' then model_scores.reject_f1
            when 'reject_precision' then model_scores.reject_precision
            when 'reject_recall' then model_scores.reject_recall
            when 'call_f1' then model_scores.call_f1
            when 'call_precision' then model_scores.call_precision
            when 'call_recall' then model_scores.call_recall
            when 'name_f1' then model_scores.name_f1
            when 'key_f1' then model_scores.key_f1
            when 'value_f1' then model_scores.value_f1
            when 'structure_similarity' then model_scores.structure_similarity
            when 'component_similarity' then model_scores.component_similarity
        end as score,
        model_scores.scored_file_count
    from model_scores
    cross join metrics
)

select * from unpivoted
