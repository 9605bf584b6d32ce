-- How hard one labelled step is, and whether its label is in doubt: plans and sub-agent steps.
-- grain: profile, language, scenario, unit, step_id
-- An attempt is a model in an experiment; its score of a step is the mean over its runs. A plan's
-- score is its similarity; a wanted call's is the mean of name, key and value F1, or 0 where none
-- was made; a wanted rejection's is 1 if rejected with the right type, else 0.
-- suspicious: every strong attempt (see `model_strengths`) fails, that is, scores less than half of
-- its own overall score; null where there is no strong attempt
with

model_strengths as (select * from main.model_strengths),
scored_steps as (select * from main.scored_steps where is_scored),
scored_plans as (select * from main.scored_plans where is_scored),

units as (
    select
        profile, model, experiment, language, scenario,
        'step' as unit,
        step_id,
        case
            when actual = 'call' and predicted = 'call' then (name_f1 + key_f1 + value_f1) / 3
            when actual = 'call' or predicted in ('call', 'failed') or is_type_mismatch then 0
            else 1
        end as unit_score
    from scored_steps
    union all
    select
        profile, model, experiment, language, scenario,
        'plan' as unit,
        step_id,
        plan_similarity as unit_score
    from scored_plans
),

attempts as (
    select
        profile, model, experiment, language, scenario, unit, step_id,
        exact_mean(unit_score) as attempt_score
    from units
    group by profile, model, experiment, language, scenario, unit, step_id
),

compared as (
    select
        profile, language, attempts.scenario, attempts.unit, attempts.step_id,
        attempts.attempt_score, model_strengths.is_strong,
        attempts.attempt_score < model_strengths.overall_score / 2 as is_failing
    from attempts
    inner join model_strengths using (profile, model, experiment, language)
),

summed as (
    select
        profile, language, scenario, unit, step_id,
        count(*) as attempt_count,
        exact_sum(attempt_score) as attempt_score_sum,
        min(attempt_score) as least_score,
        max(attempt_score) as greatest_score,
        max(attempt_score) - min(attempt_score) as score_range,
        count(*) filter (where is_strong) as strong_attempt_count,
        count(*) filter (where is_strong and is_failing) as failing_strong_attempt_count
    from compared
    group by profile, language, scenario, unit, step_id
),

described as (
    select
        profile, language, scenario, unit, step_id, attempt_count, attempt_score_sum,
        share(attempt_score_sum, attempt_count) as mean_attempt_score,
        least_score, greatest_score, score_range,
        case when attempt_count >= 2 then score_range <= 1e-9 end as is_dead,
        strong_attempt_count, failing_strong_attempt_count,
        case
            when strong_attempt_count > 0
                then failing_strong_attempt_count = strong_attempt_count
        end as is_suspicious
    from summed
)

select * from described
