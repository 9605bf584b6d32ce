-- Every file of runs that was taken has its row in `scenarios`, and every such row its file.
with

files as (
    select
        model, experiment, language, scenario,
        count(*) as file_count
    from main.sources
    where kind = 'runs' and status = 'taken'
    group by model, experiment, language, scenario
),

scenarios as (
    select
        model, experiment, language, scenario,
        count(*) as row_count
    from main.scenarios
    group by model, experiment, language, scenario
)

select
    cast(null as varchar) as profile,
    model, experiment, language, scenario,
    'rows of scenarios' as figure,
    coalesce(files.file_count, 0) as expected,
    coalesce(scenarios.row_count, 0) as found
from files
full join scenarios using (model, experiment, language, scenario)
where coalesce(files.file_count, 0) <> coalesce(scenarios.row_count, 0)
