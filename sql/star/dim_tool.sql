-- The tools that labels want, answers call or agent cards list.
-- grain: tool_sk
with

step_tools as (select * from main.step_tools),
tool_parameters as (select * from main.tool_parameters),

known as (
    select tool from step_tools
    union
    select tool from tool_parameters
),

keyed as (
    select
        surrogate_key([tool]) as tool_sk,
        tool
    from known
)

select * from keyed
