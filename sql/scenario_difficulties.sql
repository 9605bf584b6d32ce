-- How hard a scenario is, whether it tells models apart, and whether its labels are in doubt.
-- grain: profile, language, scenario
-- An attempt is a model in an experiment. Scores are those of `scenario_means`, not the headline.
-- discrimination: correlation, over attempts, of the score here with the mean score of the
-- attempt's other scenarios; null with fewer than three attempts, or where either does not vary
-- dead: at least two attempts, and all have the same score
-- suspicious: every strong attempt (see `model_strengths`) fails, that is, scores less than half of
-- its own overall score; null where there is no strong attempt
with

scenario_means as (
    select * from main.scenario_means
    where scenario_score is not null
),

model_strengths as (
    select * from main.model_strengths
),

compared as (
    select
        profile,
        language,
        scenario_means.scenario,
        scenario_means.scenario_score,
        (model_strengths.scenario_score_sum - scenario_means.scenario_score)
        / nullif(model_strengths.scenario_count - 1, 0) as other_score,
        model_strengths.is_strong,
        scenario_means.scenario_score < model_strengths.overall_score / 2 as is_failing
    from scenario_means
    inner join model_strengths using (profile, model, experiment, language)
),

summed as (
    select
        profile,
        language,
        scenario,
        count(*) as attempt_count,
        sum(scenario_score) as scenario_score_sum,
        min(scenario_score) as least_score,
        max(scenario_score) as greatest_score,
        max(scenario_score) - min(scenario_score) as score_range,
        stddev_samp(scenario_score) as score_deviation,
        count(other_score) as other_count,
        max(other_score) - min(other_score) as other_range,
        corr(scenario_score, other_score) as correlation,
        count(*) filter (where is_strong) as strong_attempt_count,
        count(*) filter (where is_strong and is_failing) as failing_strong_attempt_count
    from compared
    group by profile, language, scenario
),

described as (
    select
        profile,
        language,
        scenario,
        attempt_count,
        scenario_score_sum,
        scenario_score_sum / nullif(attempt_count, 0) as mean_scenario_score,
        least_score,
        greatest_score,
        score_range,
        score_deviation,
        case
            when other_count >= 3 and score_range > 1e-9 and other_range > 1e-9 then correlation
        end as discrimination,
        case when attempt_count >= 2 then score_range <= 1e-9 end as is_dead,
        strong_attempt_count,
        failing_strong_attempt_count,
        case
            when strong_attempt_count > 0
                then failing_strong_attempt_count = strong_attempt_count
        end as is_suspicious
    from summed
)

select * from described
