-- How well the calls of a scenario file match their labels, averaged over its runs.
-- grain: profile, model, experiment, language, scenario
-- A mean over runs of means over steps is what the benchmark defines here.
with

profiles as (
    select * from main.profiles
),

scenarios as (
    select * from main.scenarios
),

run_calls as (
    select * from main.run_calls
),

summed as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        count(*) as scored_run_count,
        sum(name_f1) as name_f1_sum,
        sum(key_f1) as key_f1_sum,
        sum(value_f1) as value_f1_sum
    from run_calls
    group by profile, model, experiment, language, scenario
),

ruled as (
    select
        summed.*,
        profiles.rounding,
        case
            when profiles.run_mean = 'all_runs' then scenarios.run_count
            else summed.scored_run_count
        end as call_run_count
    from summed
    inner join profiles using (profile)
    inner join scenarios using (model, experiment, language, scenario)
),

divided as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        rounding,
        call_run_count,
        name_f1_sum / call_run_count as name_f1,
        key_f1_sum / call_run_count as key_f1,
        value_f1_sum / call_run_count as value_f1
    from ruled
),

rounded as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        call_run_count,
        case
            when rounding = 'four_digits' then round_half_even(name_f1, 4) else name_f1
        end as name_f1,
        case
            when rounding = 'four_digits' then round_half_even(key_f1, 4) else key_f1
        end as key_f1,
        case
            when rounding = 'four_digits' then round_half_even(value_f1, 4) else value_f1
        end as value_f1
    from divided
)

select * from rounded
