-- Every scored step is exactly one of the four outcomes of deciding to call.
select
    profile, model, experiment, language, scenario,
    'outcomes of scored steps' as figure,
    count(*) filter (where is_scored) as expected,
    sum(
        true_positive_call_count
        + true_negative_call_count
        + false_positive_call_count
        + false_negative_call_count
    ) as found
from main.scored_steps
group by profile, model, experiment, language, scenario
having
    count(*) filter (where is_scored) <> sum(
        true_positive_call_count
        + true_negative_call_count
        + false_positive_call_count
        + false_negative_call_count
    )
