-- Scored steps with the arguments of their calls, for questions that need both.
-- grain: profile, model, experiment, language, scenario, run, step_id, answer_position, argument_key
-- A step without arguments to compare has one row, whose argument columns are null. So the columns
-- of the step repeat: count steps with `count(distinct step_key)`.
with

scored_steps as (select * from main.scored_steps),
scored_arguments as (select * from main.scored_arguments),

joined as (
    select
        scored_steps.profile, scored_steps.model, scored_steps.experiment, scored_steps.language,
        scored_steps.scenario, scored_steps.run, scored_steps.step_id, scored_steps.answer_position,
        scored_arguments.argument_key, scored_steps.step_key, scored_steps.agent_id,
        scored_steps.is_scored, scored_steps.left_out_reason, scored_steps.actual,
        scored_steps.predicted, scored_steps.failure_reason, scored_steps.label_tools,
        scored_steps.answer_tools, scored_steps.is_call_scored, scored_steps.name_f1,
        scored_steps.key_f1, scored_steps.value_f1, scored_arguments.true_positive_count,
        scored_arguments.false_positive_count, scored_arguments.false_negative_count,
        scored_arguments.decided_by, scored_arguments.answer_values, scored_arguments.label_values
    from scored_steps
    left join scored_arguments
        on scored_steps.profile = scored_arguments.profile
            and scored_steps.step_key = scored_arguments.step_key
)

select * from joined
