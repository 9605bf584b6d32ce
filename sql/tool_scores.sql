-- How well a tool is chosen, and how well its arguments are given where it is rightly chosen.
-- grain: profile, model, experiment, language, tool
-- Choosing counts every scored step: a tool called where a rejection was due is a false positive,
-- one that was rejected or not answered a false negative. Arguments count only where the tool was
-- both wanted and called, so that a wrong choice is not counted twice; a step that rightly calls
-- several tools counts for each of them, since the arguments of a step are merged.
with

step_tools as (
    select * from main.step_tools
),

called_steps as (
    select * from main.scored_steps
    where is_call_scored and predicted = 'call'
),

choices as (
    select
        profile,
        model,
        experiment,
        language,
        tool,
        count(*) filter (where is_labelled) as labelled_step_count,
        count(*) filter (where is_answered) as answered_step_count,
        count(*) filter (where is_labelled and is_answered) as tool_true_positive_count,
        count(*) filter (where is_answered and not is_labelled) as tool_false_positive_count,
        count(*) filter (where is_labelled and not is_answered) as tool_false_negative_count,
        count(*) filter (
            where is_answered and not is_labelled and actual <> 'call'
        ) as overaction_count,
        count(*) filter (
            where is_labelled and not is_answered and predicted = 'call'
        ) as replaced_step_count,
        count(*) filter (
            where is_labelled and predicted not in ('call', 'failed')
        ) as rejected_step_count,
        count(*) filter (where is_labelled and predicted = 'failed') as failed_step_count
    from step_tools
    group by profile, model, experiment, language, tool
),

arguments as (
    select
        profile,
        model,
        experiment,
        language,
        step_tools.tool,
        cast(sum(called_steps.key_true_positive_count) as bigint) as key_true_positive_count,
        cast(sum(called_steps.key_false_positive_count) as bigint) as key_false_positive_count,
        cast(sum(called_steps.key_false_negative_count) as bigint) as key_false_negative_count,
        cast(sum(called_steps.value_true_positive_count) as bigint) as value_true_positive_count,
        cast(sum(called_steps.value_false_positive_count) as bigint) as value_false_positive_count,
        cast(sum(called_steps.value_false_negative_count) as bigint) as value_false_negative_count
    from step_tools
    inner join called_steps
        using (profile, model, experiment, language, scenario, run, step_id, answer_position)
    where step_tools.is_labelled and step_tools.is_answered
    group by profile, model, experiment, language, step_tools.tool
),

joined as (
    select
        choices.*,
        coalesce(arguments.key_true_positive_count, 0) as key_true_positive_count,
        coalesce(arguments.key_false_positive_count, 0) as key_false_positive_count,
        coalesce(arguments.key_false_negative_count, 0) as key_false_negative_count,
        coalesce(arguments.value_true_positive_count, 0) as value_true_positive_count,
        coalesce(arguments.value_false_positive_count, 0) as value_false_positive_count,
        coalesce(arguments.value_false_negative_count, 0) as value_false_negative_count
    from choices
    left join arguments using (profile, model, experiment, language, tool)
),

divided as (
    select
        *,
        share(tool_true_positive_count, answered_step_count) as tool_precision,
        share(tool_true_positive_count, labelled_step_count) as tool_recall,
        2 * share(tool_true_positive_count, labelled_step_count + answered_step_count) as tool_f1,
        precision_of(key_true_positive_count, key_false_positive_count) as key_precision,
        recall_of(key_true_positive_count, key_false_negative_count) as key_recall,
        f1(
            key_true_positive_count, key_false_positive_count, key_false_negative_count
        ) as key_micro_f1,
        precision_of(value_true_positive_count, value_false_positive_count) as value_precision,
        recall_of(value_true_positive_count, value_false_negative_count) as value_recall,
        f1(
            value_true_positive_count, value_false_positive_count, value_false_negative_count
        ) as value_micro_f1
    from joined
)

select * from divided
