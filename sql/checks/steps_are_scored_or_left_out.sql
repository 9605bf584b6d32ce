-- Every step has one row of scores under each profile, scored or left out with a reason.
with

expected as (
    select
        profiles.profile, steps.model, steps.experiment, steps.language, steps.scenario,
        count(*) as row_count
    from main.steps as steps
    cross join main.profiles as profiles
    where profiles.scored_from = 'answers'
    group by profiles.profile, steps.model, steps.experiment, steps.language, steps.scenario
),

found as (
    select
        profile, model, experiment, language, scenario,
        count(*) filter (where is_scored = (left_out_reason is null)) as row_count
    from main.scored_steps
    group by profile, model, experiment, language, scenario
)

select
    profile, model, experiment, language, scenario,
    'rows of scored_steps' as figure,
    coalesce(expected.row_count, 0) as expected,
    coalesce(found.row_count, 0) as found
from expected
full join found using (profile, model, experiment, language, scenario)
where coalesce(expected.row_count, 0) <> coalesce(found.row_count, 0)
