-- How well an argument of the wanted tools is given, over all call-scored steps.
-- grain: profile, model, experiment, language, agent_id, label_tools, argument_key
-- The tools are those of the label: the arguments of a step are merged, so where a label has
-- several tools they stand together, and every argument is counted once.
with

scored_steps as (select * from main.scored_steps where is_call_scored),
scored_arguments as (select * from main.scored_arguments),

summed as (
    select
        profile, scored_arguments.model, scored_arguments.experiment, scored_arguments.language,
        agent_id, label_tools, argument_key,
        count(*) as argument_count,
        count(*) filter (where answer_values is not null and label_values is not null)
            as key_true_positive_count,
        count(*) filter (where label_values is null) as key_false_positive_count,
        count(*) filter (where answer_values is null) as key_false_negative_count,
        total(true_positive_count) as value_true_positive_count,
        total(false_positive_count) as value_false_positive_count,
        total(false_negative_count) as value_false_negative_count,
        count(*) filter (where decided_by = 'judge') as judged_argument_count,
        count(*) filter (where is_pattern_unchecked) as unchecked_argument_count
    from scored_arguments
    inner join scored_steps using (profile, step_key)
    group by
        profile, scored_arguments.model, scored_arguments.experiment, scored_arguments.language,
        agent_id, label_tools, argument_key
),

divided as (
    select
        *,
        precision_of(key_true_positive_count, key_false_positive_count) as key_precision,
        recall_of(key_true_positive_count, key_false_negative_count) as key_recall,
        f1(key_true_positive_count, key_false_positive_count, key_false_negative_count)
            as key_micro_f1,
        precision_of(value_true_positive_count, value_false_positive_count) as value_precision,
        recall_of(value_true_positive_count, value_false_negative_count) as value_recall,
        f1(value_true_positive_count, value_false_positive_count, value_false_negative_count)
            as value_micro_f1,
        share(judged_argument_count, argument_count) as judged_rate
    from summed
)

select * from divided
