-- The agents of steps, and `(none)` for steps without one.
-- grain: agent_sk
with

known as (
    select '(none)' as agent
    union
    select coalesce(agent_id, '(none)') as agent from main.scored_steps
    union
    select agent_id as agent from main.tool_parameters
)

select
    surrogate_key([agent]) as agent_sk,
    agent
from known
