-- How strong a model is next to the others of its language, for views that ask what strong ones do.
-- grain: profile, model, experiment, language
-- Overall is the mean of the model's scores in `scenario_means`, every scenario weighing the same.
-- It is close to the headline metric and not the same. Strong is the upper quarter of the language
-- by overall: at least one, and ties are all in.
with

scenario_means as (select * from main.scenario_means where scenario_score is not null),

summed as (
    select
        profile, model, experiment, language,
        count(*) as scenario_count,
        exact_sum(scenario_score) as scenario_score_sum
    from scenario_means
    group by profile, model, experiment, language
),

divided as (
    select
        *,
        share(scenario_score_sum, scenario_count) as overall_score
    from summed
),

ranked as (
    select
        *,
        count(*) over (partition by profile, language) as attempt_count,
        rank() over (partition by profile, language order by overall_score desc) as strength_rank
    from divided
),

described as (
    select
        *,
        strength_rank <= ceil(attempt_count / 4.0) as is_strong
    from ranked
)

select * from described
