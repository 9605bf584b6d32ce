-- The tools that labels want, answers call or agent cards list.
-- grain: tool_sk
with

known as (
    select tool from main.step_tools
    union
    select tool from main.tool_parameters
)

select
    surrogate_key([tool]) as tool_sk,
    tool
from known
