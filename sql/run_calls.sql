-- How well the calls of a run match their labels, averaged over its call-scored steps.
-- grain: profile, model, experiment, language, scenario, run
-- A mean of F1 scores is what the benchmark defines here, so averages are averaged on purpose.
with

profiles as (
    select * from main.profiles
),

scored_steps as (
    select * from main.scored_steps
    where is_scored
),

averaged as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        run,
        count(*) filter (where actual = 'call') as call_label_count,
        count(*) filter (where is_call_scored) as call_scored_count,
        exact_mean(name_f1) as name_f1,
        exact_mean(key_f1) as key_f1,
        exact_mean(value_f1) as value_f1,
        exact_mean(case when value_f1 > 0 then value_f1 end) as positive_value_f1
    from scored_steps
    group by profile, model, experiment, language, scenario, run
),

ruled as (
    select
        averaged.profile,
        averaged.model,
        averaged.experiment,
        averaged.language,
        averaged.scenario,
        averaged.run,
        averaged.call_label_count,
        averaged.call_scored_count,
        round_by_rule(coalesce(averaged.name_f1, 0), profiles.rounding) as name_f1,
        round_by_rule(coalesce(averaged.key_f1, 0), profiles.rounding) as key_f1,
        case
            when profiles.value_mean = 'positive_only' then coalesce(averaged.positive_value_f1, 0)
            else coalesce(averaged.value_f1, 0)
        end as value_f1
    from averaged
    inner join profiles using (profile)
    where profiles.run_mean = 'all_runs' or averaged.call_label_count > 0
)

select * from ruled
