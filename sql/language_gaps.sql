-- How much better or worse a model is in Korean than in English, by metric.
-- grain: profile, model, experiment, metric
-- Scenario numbers do not correspond between the languages, so the gap is a difference of two
-- independent scores, never of pairs.
with

model_scores as (
    select * from main.model_scores
    where language in ('EN', 'KO')
),

metrics as (
    select metric
    from (
        values
        ('average_score'),
        ('call_rejection_f1'),
        ('reject_f1'),
        ('call_f1'),
        ('function_call_f1'),
        ('name_f1'),
        ('key_f1'),
        ('value_f1'),
        ('workflow_similarity'),
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
        model_scores.file_count,
        metrics.metric,
        case metrics.metric
            when 'average_score' then model_scores.average_score
            when 'call_rejection_f1' then model_scores.call_rejection_f1
            when 'reject_f1' then model_scores.reject_f1
            when 'call_f1' then model_scores.call_f1
            when 'function_call_f1' then model_scores.function_call_f1
            when 'name_f1' then model_scores.name_f1
            when 'key_f1' then model_scores.key_f1
            when 'value_f1' then model_scores.value_f1
            when 'workflow_similarity' then model_scores.workflow_similarity
            when 'structure_similarity' then model_scores.structure_similarity
            when 'component_similarity' then model_scores.component_similarity
        end as score
    from model_scores
    cross join metrics
),

pivoted as (
    select
        profile,
        model,
        experiment,
        metric,
        max(score) filter (where language = 'EN') as score_en,
        max(score) filter (where language = 'KO') as score_ko,
        coalesce(max(file_count) filter (where language = 'EN'), 0) as en_file_count,
        coalesce(max(file_count) filter (where language = 'KO'), 0) as ko_file_count
    from unpivoted
    group by profile, model, experiment, metric
),

compared as (
    select
        *,
        score_ko - score_en as language_gap
    from pivoted
)

select * from compared
