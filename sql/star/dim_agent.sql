-- The agents of steps, and `(none)` for steps without one.
-- grain: agent_sk
with

scored_steps as (select * from main.scored_steps),
tool_parameters as (select * from main.tool_parameters),

known as (
    select '(none)' as agent
    union
    select coalesce(agent_id, '(none)') as agent from scored_steps
    union
    select agent_id as agent from tool_parameters
),

keyed as (
    select
        surrogate_key([agent]) as agent_sk,
        agent
    from known
)

select * from keyed
