-- The arguments that were scored or that agent cards list.
-- grain: argument_sk
with

known as (
    select argument_key from main.scored_arguments
    union
    select argument_key from main.tool_parameters
)

select
    surrogate_key([argument_key]) as argument_sk,
    argument_key
from known
