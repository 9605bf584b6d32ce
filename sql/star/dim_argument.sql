-- The arguments that were scored or that agent cards list.
-- grain: argument_sk
with

scored_arguments as (select * from main.scored_arguments),
tool_parameters as (select * from main.tool_parameters),

known as (
    select argument_key from scored_arguments
    union
    select argument_key from tool_parameters
),

keyed as (
    select
        surrogate_key([argument_key]) as argument_sk,
        argument_key
    from known
)

select * from keyed
