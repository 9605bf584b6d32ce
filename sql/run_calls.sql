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
        coalesce(avg(name_f1), 0) as name_f1,
        coalesce(avg(key_f1), 0) as key_f1,
        coalesce(avg(value_f1), 0) as value_f1,
        coalesce(avg(value_f1) filter (where value_f1 > 0), 0) as positive_value_f1
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
        case
            when profiles.rounding = 'four_digits' then round_half_even(averaged.name_f1, 4)
            else averaged.name_f1
        end as name_f1,
        case
            when profiles.rounding = 'four_digits' then round_half_even(averaged.key_f1, 4)
            else averaged.key_f1
        end as key_f1,
        case
            when profiles.value_mean = 'positive_only' then averaged.positive_value_f1
            else averaged.value_f1
        end as value_f1
    from averaged
    inner join profiles on averaged.profile = profiles.profile
    where profiles.run_mean = 'all_runs' or averaged.call_label_count > 0
)

select * from ruled
