-- What each verdict of the judge did to the counts of its argument and the value F1 of its step.
-- grain: profile, model, experiment, language, scenario, run, step_id, answer_position, argument_key
-- Without its verdict a key counts as compared, under the profile's rules (`upstream` then drops
-- the matches it had); the other keys of the step keep the verdicts they have.
with

profiles as (select * from main.profiles),
list_items as (select * from main.list_items),
scored_steps as (select * from main.scored_steps where is_call_scored and judge_index is not null),
judged_arguments as (select * from main.scored_arguments where decided_by = 'judge'),

pairs as (
    select distinct answer_values, label_values
    from judged_arguments
),

list_sizes as (
    select
        list_text,
        count(*) as item_count
    from list_items
    group by list_text
),

pair_matches as (
    select
        pairs.answer_values, pairs.label_values,
        count(*) as match_count
    from pairs
    inner join list_items as answer_items on pairs.answer_values = answer_items.list_text
    inner join list_items as label_items
        on pairs.label_values = label_items.list_text and answer_items.item = label_items.item
    group by pairs.answer_values, pairs.label_values
),

pair_counts as (
    select
        pairs.answer_values, pairs.label_values,
        coalesce(pair_matches.match_count, 0) as match_count,
        answer_sizes.item_count - coalesce(pair_matches.match_count, 0) as unmatched_answer_count,
        label_sizes.item_count - coalesce(pair_matches.match_count, 0) as unmatched_label_count
    from pairs
    inner join list_sizes as answer_sizes on pairs.answer_values = answer_sizes.list_text
    inner join list_sizes as label_sizes on pairs.label_values = label_sizes.list_text
    left join pair_matches using (answer_values, label_values)
),

compared as (
    select
        profile, judged_arguments.model, judged_arguments.experiment, judged_arguments.language,
        judged_arguments.scenario, judged_arguments.run, judged_arguments.step_id,
        judged_arguments.answer_position, judged_arguments.argument_key, step_key,
        judged_arguments.answer_values, judged_arguments.label_values,
        judged_arguments.true_positive_count, judged_arguments.false_positive_count,
        judged_arguments.false_negative_count,
        case
            when profiles.verdict = 'replaces_all' then 0 else pair_counts.match_count
        end as compared_true_positive_count,
        pair_counts.unmatched_answer_count as compared_false_positive_count,
        pair_counts.unmatched_label_count as compared_false_negative_count,
        scored_steps.value_true_positive_count, scored_steps.value_false_positive_count,
        scored_steps.value_false_negative_count, scored_steps.value_f1
    from judged_arguments
    inner join scored_steps using (profile, step_key)
    inner join profiles using (profile)
    inner join pair_counts using (answer_values, label_values)
),

replaced as (
    select
        *,
        value_true_positive_count
        - true_positive_count
        + compared_true_positive_count as compared_value_true_positive_count,
        value_false_positive_count
        - false_positive_count
        + compared_false_positive_count as compared_value_false_positive_count,
        value_false_negative_count
        - false_negative_count
        + compared_false_negative_count as compared_value_false_negative_count
    from compared
),

divided as (
    select
        *,
        f1(
            compared_value_true_positive_count, compared_value_false_positive_count,
            compared_value_false_negative_count
        ) as compared_value_f1
    from replaced
),

described as (
    select
        *,
        true_positive_count <> compared_true_positive_count
        or false_positive_count <> compared_false_positive_count
        or false_negative_count <> compared_false_negative_count as is_changed,
        value_f1 - compared_value_f1 as value_f1_change
    from divided
)

select * from described
