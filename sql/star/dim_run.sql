-- The runs, by the name that documents have for them.
-- grain: run_sk
with

known as (
    select run from main.steps
    union
    select run from main.plans
)

select
    surrogate_key([run]) as run_sk,
    run,
    try_cast(regexp_extract(run, '([0-9]+)$', 1) as bigint) as run_number
from known
