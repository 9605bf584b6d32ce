-- How well a tool is chosen, and how well its arguments are given where it is rightly chosen.
-- grain: profile, model, experiment, language, tool
-- Choosing counts every scored step: a tool called where a rejection was wanted is a false
-- positive, one that was rejected or not answered a false negative. Arguments count only where the
-- tool was both wanted and called, so that a wrong choice is not counted twice; a step that rightly
-- calls several tools counts for each of them, since the arguments of a step are merged.
with

list_items as (select * from main.list_items),
scored_steps as (select * from main.scored_steps where is_scored),

-- Steps that want and call the same tools are summed up before their lists are taken apart.
alike as (
    select
        profile, model, experiment, language, actual, predicted, label_tools,
        case when predicted = 'call' then answer_tools end as answer_tools,
        count(*) as step_count,
        total_where(key_true_positive_count, is_call_scored and predicted = 'call')
            as key_true_positive_count,
        total_where(key_false_positive_count, is_call_scored and predicted = 'call')
            as key_false_positive_count,
        total_where(key_false_negative_count, is_call_scored and predicted = 'call')
            as key_false_negative_count,
        total_where(value_true_positive_count, is_call_scored and predicted = 'call')
            as value_true_positive_count,
        total_where(value_false_positive_count, is_call_scored and predicted = 'call')
            as value_false_positive_count,
        total_where(value_false_negative_count, is_call_scored and predicted = 'call')
            as value_false_negative_count
    from scored_steps
    group by
        profile, model, experiment, language, actual, predicted, label_tools,
        case when predicted = 'call' then answer_tools end
),

-- Which tools are in the lists of a step depends on the lists alone.
lists as (
    select distinct label_tools, answer_tools
    from alike
),

sides as (
    select
        *,
        label_tools as list_text,
        1 as label_count,
        0 as answer_count
    from lists
    union all
    select
        *,
        answer_tools as list_text,
        0 as label_count,
        1 as answer_count
    from lists
),

tools as (
    select
        sides.label_tools, sides.answer_tools,
        list_items.item as tool,
        max(sides.label_count) > 0 as is_labelled,
        max(sides.answer_count) > 0 as is_answered
    from sides
    inner join list_items using (list_text)
    group by sides.label_tools, sides.answer_tools, list_items.item
),

merged as (
    select
        alike.*,
        tools.tool, tools.is_labelled, tools.is_answered
    from alike
    inner join tools
        on alike.label_tools is not distinct from tools.label_tools
        and alike.answer_tools is not distinct from tools.answer_tools
),

joined as (
    select
        profile, model, experiment, language, tool,
        total_where(step_count, is_labelled) as labelled_step_count,
        total_where(step_count, is_answered) as answered_step_count,
        total_where(step_count, is_labelled and is_answered) as tool_true_positive_count,
        total_where(step_count, is_answered and not is_labelled) as tool_false_positive_count,
        total_where(step_count, is_labelled and not is_answered) as tool_false_negative_count,
        total_where(step_count, is_answered and not is_labelled and actual <> 'call')
            as overaction_count,
        total_where(step_count, is_labelled and not is_answered and predicted = 'call')
            as replaced_step_count,
        total_where(step_count, is_labelled and predicted not in ('call', 'failed'))
            as rejected_step_count,
        total_where(step_count, is_labelled and predicted = 'failed') as failed_step_count,
        total_where(key_true_positive_count, is_labelled and is_answered)
            as key_true_positive_count,
        total_where(key_false_positive_count, is_labelled and is_answered)
            as key_false_positive_count,
        total_where(key_false_negative_count, is_labelled and is_answered)
            as key_false_negative_count,
        total_where(value_true_positive_count, is_labelled and is_answered)
            as value_true_positive_count,
        total_where(value_false_positive_count, is_labelled and is_answered)
            as value_false_positive_count,
        total_where(value_false_negative_count, is_labelled and is_answered)
            as value_false_negative_count
    from merged
    group by profile, model, experiment, language, tool
),

divided as (
    select
        *,
        share(tool_true_positive_count, answered_step_count) as tool_precision,
        share(tool_true_positive_count, labelled_step_count) as tool_recall,
        2 * share(tool_true_positive_count, labelled_step_count + answered_step_count) as tool_f1,
        precision_of(key_true_positive_count, key_false_positive_count) as key_precision,
        recall_of(key_true_positive_count, key_false_negative_count) as key_recall,
        f1(key_true_positive_count, key_false_positive_count, key_false_negative_count)
            as key_micro_f1,
        precision_of(value_true_positive_count, value_false_positive_count) as value_precision,
        recall_of(value_true_positive_count, value_false_negative_count) as value_recall,
        f1(value_true_positive_count, value_false_positive_count, value_false_negative_count)
            as value_micro_f1
    from joined
)

select * from divided
