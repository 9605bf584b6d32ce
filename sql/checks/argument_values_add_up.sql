-- The value counts of a scenario's steps are the sums over their arguments.
with

arguments as (
    select
        profile, model, experiment, language, scenario,
        sum(true_positive_count + false_positive_count + false_negative_count) as value_count
    from main.scored_arguments
    group by profile, model, experiment, language, scenario
),

steps as (
    select
        profile, model, experiment, language, scenario,
        sum(
            value_true_positive_count + value_false_positive_count + value_false_negative_count
        ) as value_count
    from main.scored_steps
    group by profile, model, experiment, language, scenario
)

select
    profile, model, experiment, language, scenario,
    'compared argument values' as figure,
    coalesce(arguments.value_count, 0) as expected,
    coalesce(steps.value_count, 0) as found
from arguments
full join steps using (profile, model, experiment, language, scenario)
where coalesce(arguments.value_count, 0) <> coalesce(steps.value_count, 0)
