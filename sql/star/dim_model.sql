-- The models, one for each experiment, with their tags.
-- grain: model_sk
with

model_tags as (select * from main.model_tags),

keyed as (
    select
        model_key(model, experiment) as model_sk,
        model, experiment,
        model || ' / ' || experiment as model_label,
        * exclude (model, experiment)
    from model_tags
)

select * from keyed
