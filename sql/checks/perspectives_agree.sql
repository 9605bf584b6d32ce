-- A right call is a right non-rejection, and a needless call is a missed rejection.
select
    profile, model, experiment, language, scenario,
    'calls seen as non-rejections' as figure,
    sum(true_positive_call_count + false_positive_call_count) as expected,
    sum(true_negative_reject_count + least(false_negative_reject_count, false_positive_call_count))
        as found
from main.scored_steps
group by profile, model, experiment, language, scenario
having
    sum(true_positive_call_count + false_positive_call_count) <> sum(
        true_negative_reject_count + least(false_negative_reject_count, false_positive_call_count)
    )
