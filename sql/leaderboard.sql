-- Models ranked by their average score: each language, and the mean of the languages.
-- grain: profile, model, experiment
-- The mean of a model's languages is how the public table has it.
with

model_scores as (
    select * from main.model_scores
),

pivoted as (
    select
        profile,
        model,
        experiment,
        avg(average_score) as average_score,
        avg(call_rejection_f1) as call_rejection_f1,
        avg(function_call_f1) as function_call_f1,
        avg(workflow_similarity) as workflow_similarity,
        max(average_score) filter (where language = 'EN') as average_score_en,
        max(call_rejection_f1) filter (where language = 'EN') as call_rejection_f1_en,
        max(function_call_f1) filter (where language = 'EN') as function_call_f1_en,
        max(workflow_similarity) filter (where language = 'EN') as workflow_similarity_en,
        max(average_score) filter (where language = 'KO') as average_score_ko,
        max(call_rejection_f1) filter (where language = 'KO') as call_rejection_f1_ko,
        max(function_call_f1) filter (where language = 'KO') as function_call_f1_ko,
        max(workflow_similarity) filter (where language = 'KO') as workflow_similarity_ko,
        count(*) as language_count,
        cast(sum(file_count) as bigint) as file_count,
        cast(sum(refused_file_count) as bigint) as refused_file_count
    from model_scores
    group by profile, model, experiment
),

ranked as (
    select
        *,
        rank() over (partition by profile order by average_score desc nulls last) as rank_number
    from pivoted
)

select * from ranked
